//! Let's Encrypt's test authority, Pebble: a real ACME server in a process of its own. It accepts every challenge without
//! asking, because how challenges are answered is tested in `e2e/domains`.

use super::ReservedPort;
use super::tls::TestCertificate;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.test/tools/bin/pebble");
/// Nothing takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Pebble {
    process: Child,
    pub(crate) directory_url: String,
    /// The certificate of the directory.
    pub(crate) ca_file: String,
    log: Receiver<String>,
    management: u16,
    client: reqwest::Client,
    _ports: [ReservedPort; 2],
    _dir: TempDir,
}

impl Pebble {
    /// With the profile `shortlived` of six days.
    pub(crate) fn start() -> Self {
        assert!(std::path::Path::new(PROGRAM).exists(), "no Pebble: run scripts/install-test-tools first");
        dropleaf::tls::install_provider();
        let dir = TempDir::new().unwrap();
        let ports = [ReservedPort::new(), ReservedPort::new()];
        let [port, management] = [&ports[0], &ports[1]].map(|port| port.number);
        let own = TestCertificate::new(&["127.0.0.1"]);
        let [certificate, key] = own.write(dir.path());
        let config = json!({"pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": certificate,
            "privateKey": key,
            "httpPort": 80,
            "tlsPort": 443,
            "keyAlgorithm": "ecdsa",
            "domainBlocklist": ["blocked.test"],
            "retryAfter": {"authz": 1, "order": 1},
            "profiles": {
                "default": {"description": "Ninety days", "validityPeriod": 90 * 86_400},
                "shortlived": {"description": "Six days", "validityPeriod": 6 * 86_400},
            },
        }});
        let path = dir.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let mut process = Command::new(PROGRAM)
            .arg("-config")
            .arg(&path)
            .env("PEBBLE_VA_ALWAYS_VALID", "1")
            .env("PEBBLE_VA_NOSLEEP", "1")
            .env("PEBBLE_WFE_NONCEREJECT", "0")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (sender, log) = channel();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        // Ends with the process.
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        let root = reqwest::Certificate::from_pem(own.chain.as_bytes()).unwrap();
        let client = reqwest::Client::builder()
            .tls_certs_only([root])
            .no_proxy()
            .user_agent("dropleaf tests")
            .build()
            .unwrap();
        let pebble = Self {
            process,
            directory_url: format!("https://127.0.0.1:{port}/dir"),
            ca_file: certificate,
            log,
            management,
            client,
            _ports: ports,
            _dir: dir,
        };
        pebble.wait_for("ACME directory available");
        pebble
    }

    fn wait_for(&self, text: &str) {
        while !self.log.recv_timeout(PATIENCE).expect("Pebble did not start").contains(text) {}
    }

    /// Lines of the log since the last call that contain this.
    pub(crate) fn count_logged(&self, text: &str) -> usize {
        self.log.try_iter().filter(|line| line.contains(text)).count()
    }

    /// Announces that a certificate should have been replaced an hour ago, as before it is revoked.
    pub(crate) async fn announce_replacement(&self, certificate_pem: &str, now: i64) {
        let at = |hours: i64| dropleaf_core::iso::format(now - hours * 3600);
        let window = json!({"suggestedWindow": {"start": at(2), "end": at(1)}}).to_string();
        let body = json!({"Certificate": certificate_pem, "ARIResponse": window}).to_string();
        let url = format!("https://127.0.0.1:{}/set-renewal-info/", self.management);
        let answer = self.client.post(url).body(body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{:?}", answer.text().await);
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

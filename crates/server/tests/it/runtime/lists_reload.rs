//! Lists and certificate files of the operator are reloaded by SIGHUP while the server runs: tests the real binary.

use crate::harness::Dropleaf;
use crate::harness::tls::{TestCertificate, connect};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};
use tempfile::TempDir;

struct Server {
    child: Child,
    base_url: String,
    log: Lines<BufReader<ChildStderr>>,
    dir: TempDir,
}

impl Server {
    fn start(hosts: &str, more: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("lists")).unwrap();
        std::fs::write(dir.path().join("lists/hosts.txt"), hosts).unwrap();
        let args = [&["serve", "--listen", "localhost:0"], more].concat();
        let mut command = Dropleaf::in_dir(dir.path()).command(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut base_url = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if let Some(url) = line.trim().strip_prefix("API and docs") {
                url.trim().trim_end_matches("/docs").clone_into(&mut base_url);
            }
            if line.contains("curl -H") {
                break;
            }
        }
        Self { child, base_url, log, dir }
    }

    fn tell(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Writes the list and signals the server; returns the log line with this text.
    fn reload(&mut self, hosts: &str, said: &str) -> Value {
        std::fs::write(self.dir.path().join("lists/hosts.txt"), hosts).unwrap();
        self.tell("-HUP");
        self.hears(said)
    }

    fn hears(&mut self, said: &str) -> Value {
        let line = self.log.by_ref().map(Result::unwrap).find(|line| line.contains(said));
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    async fn accepts(&self, host: &str) -> bool {
        let page = json!({"html": format!("<p><a href=\"https://{host}/\">There</a></p>")});
        dropleaf::tls::install_provider();
        let answer = reqwest::Client::new().post(format!("{}/check", self.base_url));
        let answer = answer.header("content-type", "application/json").body(page.to_string()).send().await;
        let answer: Value = serde_json::from_slice(&answer.unwrap().bytes().await.unwrap()).unwrap();
        answer["accepted"].as_bool().unwrap()
    }

    fn stop(mut self) -> Option<i32> {
        self.tell("-TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failed test leaves no process behind.
        let _ = self.child.kill();
    }
}

#[tokio::test]
async fn lists_are_read_anew_on_sighup_and_a_mistake_changes_nothing() {
    let lists = ["--set", "safety.lists_dir=lists"];
    let mut server = Server::start("[blocked]\na.example\n", &lists);
    assert!(!server.accepts("a.example").await && server.accepts("b.example").await);

    let said = server.reload("[blocked]\nb.example\nc.example\n", "safety list reloaded");
    assert_eq!((&said["level"], &said["list"]), (&json!("INFO"), &json!("hosts.txt")));
    assert_eq!((&said["added"], &said["removed"]), (&json!(2), &json!(1)));
    assert!(server.accepts("a.example").await && !server.accepts("b.example").await);

    let said = server.reload("[blocked]\na.example\n[bots]\n", "safety lists rejected");
    assert_eq!(said["level"], "ERROR");
    let why = said["why"].as_str().unwrap();
    assert!(why.contains("hosts.txt, line 3: there is no kind of host named `bots`"), "{why}");
    assert!(server.accepts("a.example").await && !server.accepts("b.example").await, "the old rules stay");

    server.reload("[blocked]\na.example\n", "safety list reloaded");
    assert!(!server.accepts("a.example").await && server.accepts("b.example").await);
    server.tell("-HUP");
    server.hears("no changes");
    assert_eq!(server.stop(), Some(0));
}

#[tokio::test]
async fn sighup_stops_no_server_that_has_no_lists() {
    let mut server = Server::start("", &[]);
    server.tell("-HUP");
    server.hears("`safety.lists_dir` is not set");
    assert!(server.accepts("a.example").await);
    assert_eq!(server.stop(), Some(0));
}

#[tokio::test]
async fn sighup_reloads_certificate_files_too() {
    let files = tempfile::TempDir::new().unwrap();
    let [cert, key] = TestCertificate::new(&["localhost"]).write(files.path());
    let settings = [format!("tls.cert_file={cert}"), format!("tls.key_file={key}")];
    let mut server = Server::start("", &["--set", &settings[0], "--set", &settings[1]]);
    assert!(server.base_url.starts_with("https://localhost:"));
    let port = server.base_url.rsplit_once(':').unwrap().1.parse().unwrap();
    std::fs::write(&key, "no key").unwrap();
    server.tell("-HUP");
    let line = server.hears("certificate files rejected");
    assert_eq!(line["level"], "WARN");
    assert!(line["why"].as_str().unwrap().contains(&key), "{line}");
    let next = TestCertificate::new(&["localhost"]);
    next.write(files.path());
    server.tell("-HUP");
    assert_eq!(server.hears("certificate files reloaded")["names"], "localhost");
    assert!(connect(&next.client(None), port, "localhost").await.is_ok());
    assert_eq!(server.stop(), Some(0));
}

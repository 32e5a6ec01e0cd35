//! What the tests of `dropleaf doctor` share: a server behind a proxy with DNS records of its own, and the report as JSON.

use crate::harness::{DnsServer, Dropleaf, Habit, Node, Proxy, Setup};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::process::Output;
use tempfile::TempDir;

pub(super) const HOST: &str = "drop.example";

/// What the command printed and how it ended.
#[derive(Debug)]
pub(super) struct Examined {
    pub(super) code: Option<i32>,
    pub(super) report: Value,
    pub(super) text: String,
}

impl Examined {
    pub(super) fn of(output: &Output) -> Self {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let report = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{error}"));
        Self { code: output.status.code(), report, text }
    }

    pub(super) fn check(&self, id: &str) -> &Value {
        let checks = self.report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["check"] == id).unwrap_or_else(|| panic!("no check {id}"))
    }

    #[track_caller]
    pub(super) fn is(&self, id: &str, status: &str) {
        assert_eq!(self.check(id)["status"], status, "{}", self.text);
    }

    /// A problem whose fix names this.
    #[track_caller]
    pub(super) fn finds(&self, id: &str, fix: &str) {
        self.is(id, "problem");
        assert!(self.check(id)["fix"].as_str().unwrap().contains(fix), "{:#}", self.check(id));
        assert_eq!(self.code, Some(3));
    }

    #[track_caller]
    pub(super) fn has_no_problem(&self) {
        assert_eq!((self.code, &self.report["problems"]), (Some(0), &Value::from(0)), "{}", self.text);
    }
}

/// Runs the command with these settings in a folder; the server of the test goes on answering.
pub(super) async fn examine(dropleaf: Dropleaf, settings: &[(&str, &str)]) -> Examined {
    let mut args = vec!["doctor".to_owned(), "--json".to_owned()];
    for (key, value) in settings {
        args.extend(["--set".to_owned(), format!("{key}={value}")]);
    }
    run(dropleaf, args).await
}

pub(super) async fn run(dropleaf: Dropleaf, args: Vec<String>) -> Examined {
    let work = tokio::task::spawn_blocking(move || {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        dropleaf.run(&args)
    });
    Examined::of(&work.await.unwrap())
}

/// A folder without an installation.
pub(super) fn empty() -> (TempDir, Dropleaf) {
    let dir = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    (dir, dropleaf)
}

/// The command for a running server of a test on this machine.
pub(super) async fn examine_node(node: &Node, more: &[(&str, &str)]) -> Examined {
    let (listen, data_dir) = (format!("localhost:{}", node.port), node.data_dir().display().to_string());
    let settings = [&[("listen", listen.as_str()), ("data_dir", data_dir.as_str())][..], more].concat();
    examine(Dropleaf::in_dir(node.dir.path()), &settings).await
}

/// A server at a public name, behind a proxy.
pub(super) struct World {
    pub(super) node: Node,
    pub(super) dns: DnsServer,
    _proxy: Proxy,
    settings: Vec<(String, String)>,
}

impl World {
    pub(super) async fn start(habit: Habit, more: &[(&str, &str)]) -> Self {
        let dns = DnsServer::start().await;
        dns.address_of(HOST, Ipv4Addr::LOCALHOST);
        dns.wildcard(HOST, Ipv4Addr::LOCALHOST);
        let (listener, port) = Proxy::bind().await;
        let mut settings = vec![
            ("base_url".to_owned(), format!("http://{HOST}:{port}")),
            ("dns.servers".to_owned(), dns.address()),
            ("mail.mode".to_owned(), "off".to_owned()),
        ];
        settings.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        let mut setup = Setup::new().real_time();
        for (key, value) in &settings {
            setup = setup.set(key, value.as_str());
        }
        let node = setup.start().await;
        settings.push(("listen".to_owned(), format!("localhost:{}", node.port)));
        settings.push(("data_dir".to_owned(), node.data_dir().display().to_string()));
        Self { _proxy: Proxy::start(listener, node.port, habit), node, dns, settings }
    }

    pub(super) async fn examine(&self) -> Examined {
        let settings: Vec<(&str, &str)> =
            self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        examine(Dropleaf::in_dir(self.node.dir.path()), &settings).await
    }
}

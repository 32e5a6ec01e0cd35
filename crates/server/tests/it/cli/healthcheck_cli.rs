//! `dropleaf healthcheck` against a running server, with and without TLS, and against a port where nothing listens.

use crate::harness::{Database, Dropleaf, Link, Node, PgProxy, ReservedPort, Setup, in_time};
use serde_json::{Value, json};
use std::process::Output;
use tempfile::TempDir;

const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/test-only.cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/test-only.key.pem");

/// The output of a probe with these settings. In a thread of its own, because the server runs in this process.
async fn probe(settings: &[(&str, &str)], args: &'static [&'static str]) -> Output {
    let dir = TempDir::new().unwrap();
    let dropleaf =
        settings.iter().fold(Dropleaf::in_dir(dir.path()), |it, (name, value)| it.env(name, value));
    let output = tokio::task::spawn_blocking(move || dropleaf.run(args)).await.unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "a probe writes no files");
    output
}

fn address(node: &Node) -> String {
    let base = node.base_url();
    format!("127.0.0.1:{}", base.rsplit(':').next().unwrap())
}

#[tokio::test]
async fn a_running_server_is_ready() {
    let node = Node::start().await;
    let output = probe(&[("DROPLEAF_LISTEN", &address(&node))], &["healthcheck"]).await;
    assert!(output.status.success(), "{output:?}");
    let expected = format!("ready: http://{}/readyz\n", address(&node));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    let output = probe(&[("DROPLEAF_LISTEN", &address(&node))], &["healthcheck", "--json"]).await;
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report, json!({"url": format!("http://{}/readyz", address(&node)), "ready": true}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_its_database_is_alive_and_not_ready() {
    let database = Database::postgres().await;
    let Database::Postgres(direct) = &database else { panic!("SQLite has no connections") };
    let proxy = PgProxy::start(direct).await;
    let node = Setup::new().database(Database::Postgres(proxy.url.clone())).start().await;
    proxy.set_link(Link::Cut);
    // The result of a check is kept for a second.
    let noticed = async { while node.get("/readyz").send().await.status != 503 {} };
    in_time("the outage to be noticed", noticed).await;
    let listen = address(&node);
    let settings = [("DROPLEAF_LISTEN", listen.as_str())];
    assert_eq!(probe(&settings, &["healthcheck"]).await.status.code(), Some(1));
    let output = probe(&settings, &["healthcheck", "--live"]).await;
    assert!(output.status.success(), "{output:?}");
    let url = format!("http://{listen}/healthz");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("alive: {url}\n"));
    let output = probe(&settings, &["healthcheck", "--live", "--json"]).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report, json!({"url": url, "live": true}));
    proxy.set_link(Link::Up);
    node.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn a_server_with_tls_is_ready_whatever_its_certificate_names() {
    let node = Setup::new().set("tls.cert_file", CERT).set("tls.key_file", KEY).start().await;
    let listen = address(&node);
    let settings = [
        ("DROPLEAF_LISTEN", listen.as_str()),
        ("DROPLEAF_TLS__CERT_FILE", CERT),
        ("DROPLEAF_TLS__KEY_FILE", KEY),
    ];
    let output = probe(&settings, &["healthcheck"]).await;
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn a_server_that_does_not_run_fails_the_check_with_code_1() {
    let free = ReservedPort::new();
    let listen = format!("127.0.0.1:{}", free.number);
    for args in [&["healthcheck"] as &[&str], &["healthcheck", "--wait", "1"]] {
        let output = probe(&[("DROPLEAF_LISTEN", &listen)], args).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("does not answer"));
    }
    let output = probe(&[("DROPLEAF_LISTEN", &listen)], &["healthcheck", "--json"]).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ready"], false, "{report}");
    assert!(report["error"].as_str().unwrap().contains("does not answer"), "{report}");
}

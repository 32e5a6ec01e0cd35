//! The start of one or several servers: before their database is available, and all at once on an empty one.

use crate::harness::{Background, Database, Dropleaf, Link, Node, PgProxy, ReservedPort, Setup, in_time};
use dropleaf::config::{Config, Layers, Sources};
use dropleaf::{serve, startup};
use dropleaf_core::{Clock, SystemClock};
use dropleaf_store::{Db, Stmt};
use futures_util::future::{join, join_all};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Each with three nodes. On a machine with several cores, one is enough to see the race.
const ROUNDS: usize = 5;

fn config(dir: &TempDir, listen: &str, database_url: &str, wait_seconds: &str) -> Config {
    let data_dir = dir.path().display().to_string();
    let flags = [
        ("listen", listen),
        ("data_dir", data_dir.as_str()),
        ("database_url", database_url),
        ("database.wait_seconds", wait_seconds),
    ];
    let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    Layers::load(&Sources { flags, ..Sources::default() }).unwrap().config().unwrap()
}

fn url(database: &Database) -> &str {
    match database {
        Database::Postgres(url) => url,
        Database::Sqlite => panic!("these tests are about PostgreSQL"),
    }
}

async fn get(url: &str) -> reqwest::Result<reqwest::Response> {
    reqwest::Client::builder().no_proxy().build()?.get(url).send().await
}

/// Asks until the server listens.
async fn first_answer(port: &ReservedPort, path: &str) -> reqwest::Response {
    let answered = async {
        loop {
            match get(&format!("{}{path}", port.url())).await {
                Ok(answer) => break answer,
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    in_time("an answer", answered).await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_nodes_start_at_once_on_an_empty_database_and_one_creates_the_operator() {
    for round in 0..ROUNDS {
        let database = Database::postgres().await;
        let start = || Setup::new().database(database.clone()).start();
        let nodes: Vec<Node> = in_time("three nodes", join_all(vec![start(), start(), start()])).await;
        let keys: Vec<&str> =
            nodes.iter().map(|node| node.key.as_str()).filter(|key| !key.is_empty()).collect();
        assert_eq!(keys.len(), 1, "one node shows the key, in round {round}");
        for node in &nodes {
            node.get("/readyz").send().await.expect(200);
            node.get("/me").key(keys[0]).send().await.expect(200);
        }
        assert_eq!(nodes[0].count("SELECT COUNT(*) FROM accounts").await, 1);
        assert_eq!(nodes[0].count("SELECT COUNT(*) FROM api_keys").await, 1);
        assert_eq!(nodes[0].count("SELECT COUNT(*) FROM leases WHERE name = 'first_start'").await, 0);
        join_all(nodes.into_iter().map(Node::stop)).await;
        database.remove().await;
    }
}

#[tokio::test]
async fn start_waits_for_the_database_and_is_not_ready_meanwhile() {
    dropleaf::tls::install_provider();
    let (database, dir, port) = (Database::absent(), TempDir::new().unwrap(), ReservedPort::new());
    let listen = format!("127.0.0.1:{}", port.number);
    let get = async |path: &str| get(&format!("{}{path}", port.url())).await;
    let meanwhile = async {
        let refused = first_answer(&port, "/readyz").await;
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.headers()["retry-after"], "2");
        let body: Value = serde_json::from_slice(&refused.bytes().await.unwrap()).unwrap();
        assert_eq!(body["error"], "not_ready", "{body}");
        assert_eq!(get("/healthz").await.unwrap().status(), 200, "a supervisor must not kill it");
        assert_eq!(get("/me").await.unwrap().status(), 503);
        database.create().await;
    };
    let started = Box::pin(serve::start(config(&dir, &listen, url(&database), "600")));
    let (running, ()) = in_time("the start", join(started, meanwhile)).await;
    let running = running.unwrap();
    assert!(running.first_key.is_some());
    assert_eq!(get("/readyz").await.unwrap().status(), 200);
    running.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn server_answers_during_its_first_attempt() {
    dropleaf::tls::install_provider();
    let (database, dir, port) = (Database::postgres().await, TempDir::new().unwrap(), ReservedPort::new());
    let proxy = PgProxy::start(url(&database)).await;
    proxy.set_link(Link::Silent);
    let listen = format!("127.0.0.1:{}", port.number);
    // Without waiting, there is only the first attempt.
    let started = Box::pin(serve::start(config(&dir, &listen, &proxy.url, "0")));
    let meanwhile = async {
        assert_eq!(first_answer(&port, "/healthz").await.status(), 200);
        assert_eq!(first_answer(&port, "/readyz").await.status(), 503);
        assert_eq!(first_answer(&port, "/readyz?for=views").await.status(), 503);
        proxy.set_link(Link::Cut);
    };
    let (failed, ()) = in_time("the end of the start", join(started, meanwhile)).await;
    let failed = format!("{:#}", failed.unwrap_err());
    assert!(!failed.contains("did not become available"), "{failed}");
    database.remove().await;
}

#[tokio::test]
async fn failure_that_ends_the_wait_is_not_reported_as_lateness() {
    dropleaf::tls::install_provider();
    let (database, dir, port) = (Database::postgres().await, TempDir::new().unwrap(), ReservedPort::new());
    let newer = Setup::new().database(database.clone()).start().await;
    newer.exec("INSERT INTO schema_migrations VALUES (9999, 'later', 0)", Vec::new()).await;
    newer.stop().await;
    let proxy = PgProxy::start(url(&database)).await;
    proxy.set_link(Link::Cut);
    let listen = format!("127.0.0.1:{}", port.number);
    let started = Box::pin(serve::start(config(&dir, &listen, &proxy.url, "600")));
    let meanwhile = async {
        assert_eq!(first_answer(&port, "/readyz").await.status(), 503);
        proxy.set_link(Link::Up);
    };
    let (failed, ()) = in_time("the end of the start", join(started, meanwhile)).await;
    let failed = format!("{:#}", failed.unwrap_err());
    assert!(failed.contains("schema version 9999"), "{failed}");
    assert!(!failed.contains("did not become available"), "{failed}");
    database.remove().await;
}

#[tokio::test]
async fn repeated_first_start_keeps_the_key_of_the_operator() {
    dropleaf::tls::install_provider();
    let dir = TempDir::new().unwrap();
    let resolved = config(&dir, "localhost:0", "", "0").resolve(8080).unwrap();
    let app = startup::open_app(&resolved).await.unwrap();
    let mut candidate = None;
    let address = "operator@example.org";
    assert!(app.ensure_operator(address, &mut candidate).await.unwrap());
    let secret = candidate.as_ref().unwrap().key.secret.clone();
    // As after a commit that was not answered.
    assert!(app.ensure_operator(address, &mut candidate).await.unwrap());
    assert_eq!(candidate.unwrap().key.secret, secret);
    assert!(!app.ensure_operator(address, &mut None).await.unwrap(), "another node did not create it");
    app.close().await;
}

#[tokio::test]
async fn start_gives_up_when_the_time_is_over_and_at_once_if_waiting_cannot_help() {
    let (database, dir) = (Database::absent(), TempDir::new().unwrap());
    let refused = async |url: &str, seconds: &str| {
        let started = Box::pin(serve::start(config(&dir, "localhost:0", url, seconds)));
        format!("{:#}", in_time("the end of the start", started).await.unwrap_err())
    };
    let late = refused(url(&database), "1").await;
    assert!(late.contains("did not become available") && late.contains("does not exist"), "{late}");
    let at_once = refused(url(&database), "0").await;
    assert!(at_once.starts_with("cannot open the database"), "{at_once}");

    database.create().await;
    let (scheme, rest) = url(&database).split_once("://").unwrap();
    let host = rest.split_once('@').map_or(rest, |(_, host)| host);
    let unknown = refused(&format!("{scheme}://no_such_role@{host}"), "600").await;
    assert!(unknown.contains("no_such_role"), "{unknown}");

    let newer = Setup::new().database(database.clone()).start().await;
    newer.exec("INSERT INTO schema_migrations VALUES (9999, 'later', 0)", Vec::new()).await;
    newer.stop().await;
    let older = refused(url(&database), "600").await;
    assert!(older.contains("schema version 9999"), "{older}");
    database.remove().await;
}

#[tokio::test]
async fn node_with_another_secret_key_is_refused() {
    let (database, dirs) = (Database::postgres().await, [TempDir::new().unwrap(), TempDir::new().unwrap()]);
    let start = async |dir: &TempDir| serve::start(config(dir, "localhost:0", url(&database), "0")).await;
    let first = start(&dirs[0]).await.unwrap();
    let refusal = format!("{:#}", start(&dirs[1]).await.unwrap_err());
    assert!(refusal.contains("another `secret_key`"), "{refusal}");
    std::fs::copy(dirs[0].path().join("secret.key"), dirs[1].path().join("secret.key")).unwrap();
    let second = start(&dirs[1]).await.unwrap();
    assert!(second.first_key.is_none());
    second.stop().await;
    first.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn new_secret_key_is_accepted_once_the_old_nodes_are_gone() {
    let (database, dirs) = (Database::postgres().await, [TempDir::new().unwrap(), TempDir::new().unwrap()]);
    let start = async |dir: &TempDir, seconds: &str| {
        serve::start(config(dir, "localhost:0", url(&database), seconds)).await
    };
    start(&dirs[0], "0").await.unwrap().stop().await;
    let refusal = format!("{:#}", start(&dirs[1], "0").await.unwrap_err());
    assert!(refusal.contains("another `secret_key`"), "{refusal}");
    // The lease of the old node has two seconds left instead of a minute.
    let db = Db::open(url(&database)).await.unwrap();
    let until = SystemClock::default().now() + 2;
    let shorten = Stmt::new("UPDATE leases SET until = $1 WHERE name = 'secret_key'", vec![until.into()]);
    db.exec(shorten).await.unwrap();
    db.close().await;
    let second = in_time("the end of the lease", Box::pin(start(&dirs[1], "60"))).await.unwrap();
    assert!(second.first_key.is_none());
    second.stop().await;
    database.remove().await;
}

#[tokio::test]
async fn server_that_waits_for_its_database_can_be_stopped() {
    let (database, dir) = (Database::absent(), TempDir::new().unwrap());
    let args = ["serve", "--listen", "localhost:0", "--database-url", url(&database)];
    let mut command = Dropleaf::in_dir(dir.path()).command(&args);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut server = Background(child);
    let mut log = BufReader::new(server.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(log.any(|line| line.contains("the database is not available yet")
        && line.contains("retry_in")
        && line.contains("100ms")));
    let pid = server.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(log.any(|line| line.contains("stopped while waiting for the database")));
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}

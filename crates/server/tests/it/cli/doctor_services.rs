//! `dropleaf doctor` with a real PostgreSQL that does not sync its writes, and a real S3 server.

use super::doctor_world::examine;
use crate::harness::{Database, Dropleaf, Node, PgServer, Setup, s3_url};
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_may_lose_data() {
    let database = Database::postgres().await;
    let Database::Postgres(url) = &database else { panic!("a URL") };
    let dir = TempDir::new().unwrap();
    let found = examine(Dropleaf::in_dir(dir.path()), &[("database_url", url)]).await;
    // The test server runs with both settings off.
    found.finds("database_settings", "fsync = on");
    found.finds("database_settings", "full_page_writes = on");
    found.is("database", "ok");
    found.is("clock", "ok");
    found.is("schema", "ok");
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_is_not_there() {
    let dir = TempDir::new().unwrap();
    let url = "postgres://ann:hush-hush@127.0.0.1:1/none";
    let found = examine(Dropleaf::in_dir(dir.path()), &[("database_url", url)]).await;
    found.finds("database", "database_url");
    assert!(!found.text.contains("hush-hush"), "{}", found.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_beside_the_primary_are_what_the_settings_say() {
    let primary = PgServer::start();
    let (replica, other) = (primary.start_replica(), PgServer::start());
    let dir = TempDir::new().unwrap();
    let url = primary.url();
    let check = async |replica: &str, listen: &str| {
        // No lag of a busy machine is too long.
        let settings = [
            ("database_url", url.as_str()),
            ("database.read_urls", replica),
            ("database.listen_url", listen),
            ("database.max_lag_ms", "60000"),
        ];
        examine(Dropleaf::in_dir(dir.path()), &settings).await
    };
    let id = "database_servers";
    check(&replica.url(), &url).await.is(id, "ok");
    check(&url, &url).await.is(id, "warning");
    check(&replica.url(), &replica.url()).await.finds(id, "database.listen_url");
    check(&other.url(), &url).await.finds(id, "database.read_urls");
    let found = check("postgres://ann:hush-hush@127.0.0.1:1/none", &url).await;
    found.is(id, "warning");
    assert!(!found.text.contains("hush-hush"), "{}", found.text);
}

/// The same bucket with another key.
fn with_key(url: &str, key: &str, secret: &str) -> String {
    url.replace("access_key_id=testkey", &format!("access_key_id={key}"))
        .replace("secret_access_key=testsecret", &format!("secret_access_key={secret}"))
}

/// A stopped server with a database, so that its files can be stored.
async fn stopped() -> TempDir {
    Node::start().await.stop().await
}

async fn bodies(dir: &TempDir, url: &str) -> super::doctor_world::Examined {
    let data_dir = dir.path().join("data").display().to_string();
    examine(Dropleaf::in_dir(dir.path()), &[("data_dir", &data_dir), ("blobs_url", url)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_with_its_rights_and_without() {
    let dir = stopped().await;
    let url = s3_url();
    let found = bodies(&dir, &url).await;
    found.is("bodies", "ok");
    found.is("clock", "ok");
    bodies(&dir, &with_key(&url, "readkey", "readsecret")).await.finds("bodies", "s3:PutObject");
    let found = bodies(&dir, &with_key(&url, "testkey", "not-the-secret")).await;
    found.finds("bodies", "s3.secret_access_key");
    assert!(!found.text.contains("not-the-secret"), "{}", found.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_does_not_exist() {
    let dir = stopped().await;
    // The other key may create buckets, and this server does so by itself.
    let url = with_key(&s3_url(), "readkey", "readsecret");
    let url = url.replace("s3://dropleaf-test/", "s3://dropleaf-missing/");
    bodies(&dir, &url).await.finds("bodies", "Create the bucket");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_server_with_a_wrong_clock() {
    let database = Database::postgres().await;
    // The clock of the test stands still in the past.
    let node = Setup::new().database(database.clone()).start().await;
    let html = node.operator().await.health().await;
    assert!(html.contains("behind the database server"), "{html}");
    assert!(html.contains("timedatectl set-ntp true"), "{html}");
    node.stop().await;
    database.remove().await;
}

//! A server behind `PgBouncer`: session mode works, and transaction mode is refused at start with what to do. This version of
//! `PgBouncer` keeps no prepared statements in transaction mode.

use crate::harness::{Database, Setup, in_time};
use dropleaf_store::{Db, PgOptions};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

struct PgBouncer {
    database: Database,
    _child: Child,
    _dir: TempDir,
}

impl PgBouncer {
    async fn start(database: &Database, pool_mode: &str) -> Self {
        let Database::Postgres(url) = database else { panic!("only for PostgreSQL") };
        let (user, tail) = url.rsplit_once('@').unwrap();
        let (server, name) = tail.split_once('/').unwrap();
        let (host, server_port) = server.split_once(':').unwrap();
        // Free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("pgbouncer.ini");
        let settings = format!(
            "[databases]\n* = host={host} port={server_port} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {pool_mode}\ndefault_pool_size = 60\n"
        );
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("/usr/sbin/pgbouncer");
        if std::process::Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
            // It refuses to run as root.
            command.args(["-u", "postgres"]);
        }
        let child = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn();
        let child = child.expect("pgbouncer is installed by scripts/install-test-tools");
        in_time("PgBouncer", async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        let database = Database::Postgres(format!("{user}@127.0.0.1:{port}/{name}"));
        Self { database, _child: child, _dir: dir }
    }

    fn url(&self) -> &str {
        let Database::Postgres(url) = &self.database else { panic!("only for PostgreSQL") };
        url
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn session_mode_works_also_between_nodes() {
    let database = Database::postgres().await;
    let bouncer = PgBouncer::start(&database, "session").await;
    let secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let setup = || Setup::new().set("secret_key", secret).database(bouncer.database.clone());
    let (first, second) = (setup().start().await, setup().start().await);
    let path = |site: &serde_json::Value| format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    let site = first.publish_page("Pooled").await;
    second.get(&path(&site)).send().await.expect(200);
    first.patch_site(&site, serde_json::json!({"password": "secret"})).await.expect(200);
    // By notification: the clock of the second node stands still.
    in_time("the password on the other node", async {
        while second.get(&path(&site)).send().await.status != 401 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    first.stop().await;
    second.stop().await;
    drop(bouncer);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_mode_without_prepared_statements_is_refused_at_start() {
    dropleaf::tls::install_provider();
    let database = Database::postgres().await;
    let bouncer = PgBouncer::start(&database, "transaction").await;
    let Database::Postgres(direct) = &database else { panic!("only for PostgreSQL") };
    let options = PgOptions { listen_url: Some(direct.clone()), ..PgOptions::default() };
    for options in [PgOptions::default(), options] {
        let error = Db::open_with(bouncer.url(), &options).await.unwrap_err().to_string();
        assert!(
            error.contains("max_prepared_statements") && error.contains("pool_mode = session"),
            "{error}"
        );
    }
    drop(bouncer);
    database.remove().await;
}

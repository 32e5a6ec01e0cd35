//! A server behind `PgBouncer`: session mode works, and transaction mode without prepared statements is refused at start with
//! what to do.

use crate::harness::{Database, Setup, free_port, in_time};
use dropleaf_store::{Db, PgOptions};
use std::fs::File;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

const PROGRAM: &str = "/usr/sbin/pgbouncer";
/// The first version that can keep prepared statements in transaction mode.
const KEEPS_STATEMENTS: (u32, u32) = (1, 21);

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
        // An earlier version refuses settings that it does not know.
        let statements = if version() >= KEEPS_STATEMENTS { "max_prepared_statements = 0\n" } else { "" };
        let settings = format!(
            "[databases]\n* = host={host} port={server_port} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             unix_socket_dir =\nauth_type = any\npool_mode = {pool_mode}\ndefault_pool_size = 60\n{statements}"
        );
        in_time("PgBouncer", async {
            loop {
                let (dir, port) = (TempDir::new().unwrap(), free_port());
                if let Some(child) = launch(&dir, &format!("{settings}listen_port = {port}\n")).await {
                    let database = Database::Postgres(format!("{user}@127.0.0.1:{port}/{name}"));
                    return Self { database, _child: child, _dir: dir };
                }
            }
        })
        .await
    }

    fn url(&self) -> &str {
        let Database::Postgres(url) = &self.database else { panic!("only for PostgreSQL") };
        url
    }
}

/// Waits until it listens; `None` if another process has taken the port meanwhile.
async fn launch(dir: &TempDir, settings: &str) -> Option<Child> {
    let (file, log) = (dir.path().join("pgbouncer.ini"), dir.path().join("log"));
    std::fs::write(&file, settings).unwrap();
    let mut command = Command::new(PROGRAM);
    if std::process::Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
        // It refuses to run as root.
        command.args(["-u", "postgres"]);
    }
    command.arg(&file).stdout(Stdio::null()).stderr(File::create(&log).unwrap()).kill_on_drop(true);
    let mut child = command.spawn().expect("pgbouncer is installed by scripts/install-test-tools");
    loop {
        let is_over = child.try_wait().unwrap().is_some();
        let said = std::fs::read_to_string(&log).unwrap();
        if said.contains("LOG listening on ") {
            return Some(child);
        }
        if is_over {
            assert!(said.contains("listen on "), "{said}");
            return None;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Such as (1, 18).
fn version() -> (u32, u32) {
    let output = std::process::Command::new(PROGRAM).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let number = text.split_whitespace().nth(1).unwrap();
    let mut parts = number.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
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

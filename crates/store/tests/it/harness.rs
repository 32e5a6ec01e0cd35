//! Databases and object stores for tests, created for one test and deleted after it.

use std::ffi::OsStr;
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use dropleaf_store::blobs::{Encoding, NewBlob, NewBody};
use dropleaf_store::{Blobs, Db, DbError, Row, Stmt};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// The time of everything in these tests, unless a test changes it.
pub(crate) const NOW: i64 = 1_800_000_000;
/// After the last modification time of any file made today.
pub(crate) const FAR: i64 = 4_000_000_000;
pub(crate) const INLINE: usize = 64 << 10;
const HANDED: &str = "DROPLEAF_TEST_HANDED";

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A database with its own folder.
#[derive(Debug)]
pub(crate) struct TestDatabase {
    pub(crate) url: String,
    pub(crate) dir: TempDir,
    server: Option<String>,
}

impl TestDatabase {
    pub(crate) fn sqlite() -> TestDatabase {
        let dir = TempDir::new().unwrap();
        TestDatabase {
            url: format!("sqlite:{}", dir.path().join("data/dropleaf.db").display()),
            dir,
            server: None,
        }
    }

    pub(crate) async fn postgres() -> TestDatabase {
        let server = setting("DROPLEAF_TEST_POSTGRES");
        let name = unique("store_test");
        admin(&server, &format!("CREATE DATABASE {name}")).await;
        // These tests cause deadlocks on purpose; the default timeout of a second for each would take long.
        admin(&server, &format!("ALTER DATABASE {name} SET deadlock_timeout = '20ms'")).await;
        let (head, options) = server.split_once('?').unwrap_or((&server, ""));
        let (host, _) = head.rsplit_once('/').unwrap();
        TestDatabase {
            url: format!("{host}/{name}?{options}"),
            dir: TempDir::new().unwrap(),
            server: Some(server),
        }
    }

    /// Opens and migrates the database.
    pub(crate) async fn open(&self) -> Db {
        let db = self.open_bare().await;
        db.migrate(NOW).await.unwrap();
        db
    }

    pub(crate) async fn open_bare(&self) -> Db {
        install_crypto();
        Db::open(&self.url).await.unwrap()
    }

    pub(crate) fn blobs(&self) -> Blobs {
        Blobs::open(&format!("file:{}", self.dir.path().join("blobs").display()), INLINE).unwrap()
    }

    pub(crate) async fn remove(self) {
        if let Some(server) = &self.server {
            let name = self.url.rsplit('/').next().unwrap().split('?').next().unwrap();
            admin(server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}

/// Runs a test on SQLite, then on PostgreSQL.
pub(crate) async fn for_each_database(test: impl AsyncFn(&TestDatabase)) {
    for database in [TestDatabase::sqlite(), TestDatabase::postgres().await] {
        test(&database).await;
        database.remove().await;
    }
}

pub(crate) async fn for_each_db(test: impl AsyncFn(&Db)) {
    for_each_database(async |database| {
        let db = database.open().await;
        test(&db).await;
        db.close().await;
    })
    .await;
}

/// An empty folder and an empty bucket.
pub(crate) fn body_stores(database: &TestDatabase, inline_limit: usize) -> [Blobs; 2] {
    install_crypto();
    let folder = format!("file:{}", database.dir.path().join("blobs").display());
    [Blobs::open(&folder, inline_limit).unwrap(), bucket(inline_limit)]
}

pub(crate) fn bucket(inline_limit: usize) -> Blobs {
    install_crypto();
    let url = setting("DROPLEAF_TEST_S3");
    let (bucket, options) = url.split_once('?').unwrap();
    Blobs::open(&format!("{bucket}/{}?{options}", unique("store-test")), inline_limit).unwrap()
}

pub(crate) fn setting(name: &str) -> String {
    let Some(value) = handed_over(name) else {
        panic!("{name} is not set: run the tests with `scripts/with-services cargo nextest run`");
    };
    value
}

/// The value that a test passes to itself when it runs again as a second process; `None` in the first.
pub(crate) fn from_first_process() -> Option<String> {
    handed_over(HANDED)
}

/// Runs one test of this binary again under `wrapper`, with a value for [`from_first_process`].
pub(crate) fn second_process(wrapper: &[&str], test: &str, handed: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("env");
    command.args(wrapper).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(HANDED, handed);
    command
}

#[expect(
    clippy::disallowed_methods,
    reason = "the services of a test run are handed over in the environment"
)]
fn handed_over(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(crate) fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
}

/// A connection to PostgreSQL besides those of the store, open until it is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    client: tokio_postgres::Client,
    _running: JoinSet<()>,
}

impl std::ops::Deref for Connection {
    type Target = tokio_postgres::Client;

    fn deref(&self) -> &tokio_postgres::Client {
        &self.client
    }
}

pub(crate) async fn connect(url: &str) -> Connection {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let mut running = JoinSet::new();
    running.spawn(async move { drop(connection.await) });
    Connection { client, _running: running }
}

async fn admin(server: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(server, tokio_postgres::NoTls).await.unwrap();
    tokio::select! {
        _ = connection => panic!("the connection to PostgreSQL ended"),
        done = client.batch_execute(sql) => done.unwrap(),
    }
}

pub(crate) fn unique(prefix: &str) -> String {
    format!("{prefix}_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Bytes that do not compress, different for each seed.
pub(crate) fn noise(seed: &str, len: usize) -> Bytes {
    let mut bytes = vec![0; len];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes.into()
}

pub(crate) fn plain(bytes: &Bytes) -> NewBlob {
    NewBlob {
        hash: *blake3::hash(bytes).as_bytes(),
        encoding: Encoding::Identity,
        size_bytes: bytes.len() as u64,
        body: NewBody::Memory(bytes.clone()),
    }
}

pub(crate) fn account(id: &str) -> Stmt {
    let sql = "INSERT INTO accounts (id, email, plan, is_operator, balance_minor, active_pages, created_at) \
               VALUES ($1, $2, 'solo', 0, 0, 0, $3) ON CONFLICT (id) DO NOTHING";
    Stmt::new(sql, vec![id.into(), format!("{id}@example.org").into(), NOW.into()])
}

pub(crate) async fn count_accounts(db: &Db) -> i64 {
    db.get("SELECT COUNT(*) FROM accounts", &[], |row| row.int(0)).await.unwrap().unwrap()
}

pub(crate) fn text(row: &Row<'_>) -> Result<String, DbError> {
    Ok(row.text(0)?.to_owned())
}

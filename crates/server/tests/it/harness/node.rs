//! One running server with a clock that only the test advances.

use super::ask::Ask;
use super::{Answer, Database, Form, ReservedPort, in_time, page, seed};
use dropleaf::config::{Layers, Sources};
use dropleaf::listeners::Listeners;
use dropleaf::serve::{self, Running};
use dropleaf::startup;
use dropleaf_app::{App, IdempotentResult};
use dropleaf_core::{Clock, ManualClock, SystemClock, secret};
use dropleaf_store::{Db, DbError, Row, Stmt, Val};
use reqwest::Method;
use serde_json::Value;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The fixed time of the tests: the start of a day, so that windows are whole, and in the past, because files carry the
/// machine's time and the sweep must not take a file that is being written for an old one.
pub(crate) const NOW: i64 = 1_700_000_000 - 1_700_000_000 % 86_400;

/// The configuration of a server to start.
#[derive(Debug)]
pub(crate) struct Setup {
    flags: Vec<(String, String)>,
    database: Database,
    real_time: bool,
    now: i64,
    mcp_check_every: Option<Duration>,
    port: ReservedPort,
}

impl Setup {
    /// By default rate limits are lifted for the tests and the sweep does not run.
    pub(crate) fn new() -> Self {
        let flags = [
            ("limits.exempt", "127.0.0.0/8,::1/128"),
            ("sweep.every_seconds", "86400"),
            // No test asks a real DNS server; nothing listens here.
            ("dns.servers", "127.0.0.1:1"),
            ("dns.timeout_seconds", "1"),
        ];
        Self {
            flags: flags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
            database: Database::Sqlite,
            real_time: false,
            now: NOW,
            mcp_check_every: None,
            port: ReservedPort::new(),
        }
    }

    pub(crate) fn set(mut self, key: &str, value: impl Into<String>) -> Self {
        self.flags.push((key.to_owned(), value.into()));
        self
    }

    /// Where the server listens unless the test sets it.
    pub(crate) fn address(&self) -> String {
        format!("localhost:{}", self.port.number)
    }

    /// Applies rate limits to the tests' own address too.
    pub(crate) fn with_rates(self) -> Self {
        self.set("limits.exempt", "")
    }

    pub(crate) fn database(mut self, database: Database) -> Self {
        self.database = database;
        self
    }

    /// Starts the clock at another time than [`NOW`].
    pub(crate) fn at(mut self, now: i64) -> Self {
        self.now = now;
        self
    }

    pub(crate) fn real_time(mut self) -> Self {
        self.real_time = true;
        self
    }

    /// Open MCP streams learn of a revoked credential only by notification.
    pub(crate) fn without_mcp_checks(self) -> Self {
        self.mcp_checks_every(Duration::from_hours(1))
    }

    /// How often open MCP streams check their credential and session.
    pub(crate) fn mcp_checks_every(mut self, interval: Duration) -> Self {
        self.mcp_check_every = Some(interval);
        self
    }

    /// Uses the port of a server that has stopped.
    pub(crate) fn port(mut self, port: ReservedPort) -> Self {
        self.port = port;
        self
    }

    pub(crate) async fn start(self) -> Node {
        self.start_in(TempDir::new().unwrap()).await
    }

    pub(crate) async fn start_in(self, dir: TempDir) -> Node {
        dropleaf::tls::install_provider();
        // Settings of the test come later and take precedence.
        let mut flags = vec![("listen".to_owned(), self.address())];
        flags.extend(self.flags);
        flags.push(("data_dir".into(), dir.path().join("data").display().to_string()));
        if let Database::Postgres(url) = &self.database {
            flags.push(("database_url".into(), url.clone()));
            share_secret(&dir.path().join("data"), url);
        }
        let layers = Layers::load(&Sources { flags, ..Sources::default() }).unwrap();
        let config = layers.config().unwrap();
        let listeners = Listeners::bind(&config).await.unwrap();
        let port = listeners.public_port().unwrap();
        let mut resolved = config.resolve(port).unwrap();
        resolved.mcp_check_every = self.mcp_check_every.unwrap_or(resolved.mcp_check_every);
        let resolved = Arc::new(resolved);
        let clock = Arc::new(ManualClock::at(self.now));
        let given: Arc<dyn Clock> =
            if self.real_time { Arc::new(SystemClock::default()) } else { clock.clone() };
        let app = startup::open_app_with(&resolved, given, seed::minter()).await.unwrap();
        let running = serve::start_with(resolved, Arc::new(app), listeners).await.unwrap();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        let key = running.first_key.clone().unwrap_or_default();
        Node { running, clock, key, port, client, dir, reserved: self.port }
    }
}

/// Gives all nodes on a database the same secret, unless the test sets another.
fn share_secret(data_dir: &Path, database_url: &str) {
    let path = data_dir.join("secret.key");
    if path.exists() {
        return;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(data_dir).unwrap();
    let hash = secret::hash(database_url);
    let half = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
    let digits = format!("{:032x}{:032x}", half(&hash[..16]), half(&hash[16..]));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.unwrap().write_all(digits.as_bytes()).unwrap();
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) running: Running,
    pub(crate) clock: Arc<ManualClock>,
    /// The operator's key.
    pub(crate) key: String,
    pub(crate) port: u16,
    pub(crate) client: reqwest::Client,
    pub(crate) dir: TempDir,
    reserved: ReservedPort,
}

impl Node {
    /// With all defaults, on SQLite.
    pub(crate) async fn start() -> Self {
        Setup::new().start().await
    }

    /// Stops the server and returns its folder.
    pub(crate) async fn stop(self) -> TempDir {
        self.stop_for_restart().await.0
    }

    /// The same, with the port for [`Setup::port`].
    pub(crate) async fn stop_for_restart(self) -> (TempDir, ReservedPort) {
        in_time("the end of the server", self.running.stop()).await;
        (self.dir, self.reserved)
    }

    pub(crate) fn app(&self) -> &App {
        &self.running.app
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.running.resolved.data_dir
    }

    pub(crate) fn base_url(&self) -> String {
        self.running.resolved.hosts.base.url()
    }

    /// A request without credentials. `target` is a path, or a full URL from this server.
    pub(crate) fn ask(&self, method: Method, target: &str) -> Ask {
        let at = format!("http://127.0.0.1:{}", self.port);
        let Some(rest) = target.strip_prefix("http://") else {
            return Ask::new(self.client.request(method, format!("{at}{target}")));
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Ask::new(self.client.request(method, format!("{at}{path}"))).host(host)
    }

    pub(crate) fn get(&self, target: &str) -> Ask {
        self.ask(Method::GET, target)
    }

    pub(crate) fn head(&self, target: &str) -> Ask {
        self.ask(Method::HEAD, target)
    }

    pub(crate) fn post(&self, target: &str) -> Ask {
        self.ask(Method::POST, target)
    }

    pub(crate) fn put(&self, target: &str) -> Ask {
        self.ask(Method::PUT, target)
    }

    pub(crate) fn patch(&self, target: &str) -> Ask {
        self.ask(Method::PATCH, target)
    }

    pub(crate) fn delete(&self, target: &str) -> Ask {
        self.ask(Method::DELETE, target)
    }

    /// Publishes a form as the operator.
    pub(crate) async fn publish(&self, form: Form) -> Value {
        self.publish_as(&self.key, form).await
    }

    pub(crate) async fn publish_as(&self, key: &str, form: Form) -> Value {
        let answer = self.post("/sites").key(key).form(form).send().await;
        answer.expect(201).json()
    }

    pub(crate) async fn publish_page(&self, title: &str) -> Value {
        self.publish(Form::file("page.html", page(title))).await
    }

    pub(crate) async fn publish_anonymously(&self) -> Value {
        self.post("/sites").form(Form::file("page.html", page("Anonymous"))).send().await.expect(201).json()
    }

    pub(crate) async fn patch_site(&self, site: &Value, change: Value) -> Answer {
        self.patch(&site_path(site)).key(&self.key).json(&change).send().await
    }

    pub(crate) async fn read_site(&self, site: &Value) -> Value {
        self.get(&site_path(site)).key(&self.key).send().await.expect(200).json()
    }

    /// A new account on this plan; returns its key.
    pub(crate) async fn account(&self, plan: &str) -> String {
        let name = seed::minter().nonce();
        let account =
            self.app().create_account(&format!("{name}@example.org"), Some(plan), false).await.unwrap();
        match self.app().create_key(&account, None, None, |_| Vec::new()).await.unwrap() {
            IdempotentResult::New(new) => new.secret,
            IdempotentResult::Replayed { .. } => panic!("a new key is no repeat"),
        }
    }

    /// Queries the database directly.
    pub(crate) async fn rows<T: Send + 'static>(
        &self,
        sql: &'static str,
        args: Vec<Val>,
        map: fn(&Row<'_>) -> Result<T, DbError>,
    ) -> Vec<T> {
        let db = Db::open(&self.running.resolved.database_url).await.unwrap();
        let rows = db.list(sql, args, map).await.unwrap();
        db.close().await;
        rows
    }

    /// Changes the database directly.
    pub(crate) async fn exec(&self, sql: &'static str, args: Vec<Val>) {
        let db = Db::open(&self.running.resolved.database_url).await.unwrap();
        db.exec(Stmt::new(sql, args)).await.unwrap();
        db.close().await;
    }

    /// Runs a batch of statements on the database directly.
    pub(crate) async fn commit(&self, stmts: Vec<Stmt>) {
        let db = Db::open(&self.running.resolved.database_url).await.unwrap();
        db.batch(stmts).await.unwrap();
        db.close().await;
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.rows(sql, Vec::new(), |row| row.int(0)).await[0]
    }
}

/// `/sites/{id}` of a site from the API.
pub(crate) fn site_path(site: &Value) -> String {
    format!("/sites/{}", site["id"].as_str().unwrap())
}

/// Runs a test on SQLite, then on PostgreSQL.
pub(crate) async fn on_each_database(setup: impl Fn() -> Setup, test: impl AsyncFn(&Node)) {
    for database in [Database::Sqlite, Database::postgres().await] {
        let node = setup().database(database.clone()).start().await;
        test(&node).await;
        node.stop().await;
        database.remove().await;
    }
}

//! Runs paid operations without HTTP, on a separate database, with a facilitator that can fail.

use super::{Call, Database, FakeFacilitator, NOW, Purse, seed};
use dropleaf::config::{Layers, Resolved, Sources};
use dropleaf::startup;
use dropleaf_app::{
    App, Dependencies, Facilitator, Mode, Order, PageKey, PayError, PayRequest, PurchaseResult,
    PurchasedItem, Upload,
};
use dropleaf_core::payment::Item;
use dropleaf_core::secret::{self, Keys};
use dropleaf_core::{Code, Error, ManualClock, Minter};
use dropleaf_pay::{Proof, Terms};
use dropleaf_store::{Db, DbError, Row, Stmt};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The default address of requests.
pub(crate) const HOME: [u8; 4] = [203, 0, 113, 7];
pub(crate) const HTML: &str = "<!doctype html><title>Paid</title><p>for";
/// The price of a page.
pub(crate) const PRICE: u64 = 500_000;

#[derive(Debug)]
pub(crate) struct Till {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) fake: FakeFacilitator,
    pub(crate) purse: Purse,
    pub(crate) resolved: Resolved,
    pub(crate) dir: Arc<TempDir>,
}

/// Runs a test on SQLite, then on PostgreSQL.
pub(crate) async fn at_each_till(test: impl AsyncFn(&Till)) {
    for database in [Database::Sqlite, Database::postgres().await] {
        let till = Till::open(&database).await;
        Box::pin(test(&till)).await;
        till.app.close().await;
        database.remove().await;
    }
}

impl Till {
    pub(crate) async fn open(database: &Database) -> Self {
        Self::open_in(database, Mode::Live).await
    }

    /// In the sandbox the facilitator is the server's own.
    pub(crate) async fn open_in(database: &Database, mode: Mode) -> Self {
        let dir = Arc::new(TempDir::new().unwrap());
        let clock = Arc::new(ManualClock::at(NOW));
        let fake = FakeFacilitator::start_with(clock.clone()).await;
        let mut resolved = settings(database, dir.path());
        resolved.settings.payments.as_mut().unwrap().mode = mode;
        let app = open_app(&resolved, &clock, Arc::new(fake.clone()), seed::minter()).await;
        Self { app, clock, fake, purse: Purse::new(), resolved, dir }
    }

    /// Another node of the same service, or the same after a restart.
    pub(crate) async fn beside(&self) -> Self {
        self.beside_with(|_| {}).await
    }

    /// The same with other settings.
    pub(crate) async fn beside_with(&self, change: impl FnOnce(&mut Resolved)) -> Self {
        let mut resolved = self.resolved.clone();
        change(&mut resolved);
        let app = open_app(&resolved, &self.clock, Arc::new(self.fake.clone()), seed::minter()).await;
        Self {
            app,
            clock: Arc::clone(&self.clock),
            fake: self.fake.clone(),
            purse: self.purse.clone(),
            resolved,
            dir: Arc::clone(&self.dir),
        }
    }

    pub(crate) fn terms(&self, item: Item) -> Terms {
        self.app.listing(item).unwrap().terms.clone()
    }

    pub(crate) fn sign(&self, item: Item, nonce: u8) -> Proof {
        self.purse.sign(&self.terms(item), nonce, dropleaf_core::Clock::now(&*self.clock))
    }

    /// The same nonce is the same payment.
    pub(crate) async fn publish(&self, nonce: u8) -> Result<PurchaseResult, PayError> {
        self.publish_html(self.sign(Item::Publish, nonce), HTML).await
    }

    pub(crate) async fn publish_html(&self, proof: Proof, html: &str) -> Result<PurchaseResult, PayError> {
        let request = self.page_request(proof, html).await;
        Box::pin(self.app.execute_purchase(request)).await
    }

    pub(crate) async fn page_request(&self, proof: Proof, html: &str) -> PayRequest {
        let page = self.app.check_page(Upload::html(html.to_owned()), None, true).await.unwrap();
        request(Order::Publish(page), proof, html)
    }

    /// The same page from another address, or with an idempotency key.
    pub(crate) async fn publish_from(
        &self,
        proof: &Proof,
        from: [u8; 4],
        once: Option<&str>,
    ) -> Result<PurchaseResult, PayError> {
        let request = self.page_request(proof.clone(), HTML).await;
        let ip = Some(IpAddr::from(from));
        Box::pin(self.app.execute_purchase(PayRequest {
            ip,
            idempotency_key: once.map(str::to_owned),
            ..request
        }))
        .await
    }

    pub(crate) async fn provision(
        &self,
        proof: &Proof,
        from: [u8; 4],
        once: Option<&str>,
    ) -> Result<PurchaseResult, PayError> {
        let request = request(Order::Provision, proof.clone(), "a key");
        let ip = Some(IpAddr::from(from));
        let request = PayRequest { ip, idempotency_key: once.map(str::to_owned), ..request };
        Box::pin(self.app.execute_purchase(request)).await
    }

    pub(crate) async fn rows<T: Send + 'static>(
        &self,
        sql: &'static str,
        map: fn(&Row<'_>) -> Result<T, DbError>,
    ) -> Vec<T> {
        let db = Db::open(&self.resolved.database_url).await.unwrap();
        let rows = db.list(sql, Vec::new(), map).await.unwrap();
        db.close().await;
        rows
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.rows(sql, |row| row.int(0)).await[0]
    }

    /// The states of all payments.
    pub(crate) async fn states(&self) -> Vec<String> {
        self.rows("SELECT state FROM payments ORDER BY created_at, id", |row| Ok(row.text(0)?.to_owned()))
            .await
    }

    /// Advances time beyond the duration of a hold, and checks after each step that the hold on the one payment was
    /// renewed. For tests in which tokio's time is paused and advances to the next timer.
    pub(crate) async fn hold_is_renewed(&self, times: usize) {
        for _ in 0..times {
            self.clock.advance(20);
            while self.count("SELECT held_until FROM payments").await != self.app.now() + 30 {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        }
    }

    pub(crate) async fn exec(&self, sql: &'static str) {
        let db = Db::open(&self.resolved.database_url).await.unwrap();
        db.exec(Stmt::new(sql, Vec::new())).await.unwrap();
        db.close().await;
    }

    /// Checks that there is one charge and one page, which is the one returned.
    pub(crate) async fn check_one_page(&self, bought: &PurchaseResult) {
        let (token, claim) = page(bought);
        assert!(claim.starts_with("clm_"));
        assert_eq!(self.fake.moved(), PRICE);
        assert_eq!(self.fake.ledger().len(), 1);
        assert_eq!(self.states().await, ["fulfilled"]);
        assert_eq!(
            self.count("SELECT COUNT(*) FROM sites WHERE expires_at IS NULL AND counted = 0").await,
            1
        );
        assert_eq!(self.count("SELECT COUNT(*) FROM sites").await, 1);
        assert_eq!(self.count("SELECT COUNT(*) FROM site_versions").await, 1);
        assert_eq!(self.count("SELECT COUNT(*) FROM bundles WHERE refs = 1").await, 1);
        assert_eq!(self.count("SELECT COUNT(*) FROM bundles WHERE refs > 1").await, 0);
        let opened = self.app.open_page(&PageKey::token(&token).unwrap()).await.unwrap();
        assert!(opened.is_some(), "the page is there");
    }

    /// Checks that every settlement request had the same bytes.
    pub(crate) fn check_same_bytes(&self) {
        let bodies = self.fake.bodies(Call::Settle);
        assert!(bodies.windows(2).all(|two| two[0] == two[1]));
    }
}

/// The request hash identifies the request; here it is the hash of the body.
pub(crate) fn request(order: Order, proof: Proof, body: &str) -> PayRequest {
    let ip = Some(IpAddr::from(HOME));
    PayRequest { order, proof, request_hash: secret::digest(body.as_bytes()), idempotency_key: None, ip }
}

pub(crate) fn settings(database: &Database, dir: &Path) -> Resolved {
    let mut flags = vec![("data_dir".to_owned(), dir.join("data").display().to_string())];
    if let Database::Postgres(url) = database {
        flags.push(("database_url".into(), url.clone()));
    }
    let layers = Layers::load(&Sources { flags, ..Sources::default() }).unwrap();
    let mut resolved = layers.config().unwrap().resolve(8080).unwrap();
    // As with real money: only the facilitator's answer counts.
    resolved.settings.payments.as_mut().unwrap().mode = Mode::Live;
    resolved
}

pub(crate) async fn open_app(
    resolved: &Resolved,
    clock: &Arc<ManualClock>,
    facilitator: Arc<dyn Facilitator>,
    minter: Minter,
) -> Arc<App> {
    dropleaf::tls::install_provider();
    let store = startup::open_store(resolved, NOW).await.unwrap();
    std::fs::create_dir_all(&resolved.settings.spool_dir).unwrap();
    let app = App::new(Dependencies {
        checker: None,
        store,
        clock: clock.clone(),
        minter,
        keys: Keys::new([7; 32]),
        hosts: resolved.hosts.clone(),
        settings: resolved.settings.clone(),
        mailer: None,
        facilitator: Some(facilitator),
    });
    assert!(app.refresh_listings().await);
    Arc::new(app)
}

/// A page's token and its claim token.
#[track_caller]
pub(crate) fn page(bought: &PurchaseResult) -> (String, String) {
    match &bought.item {
        PurchasedItem::Page { site, claim_token, .. } => (site.token.clone(), claim_token.clone().unwrap()),
        other => panic!("no page: {other:?}"),
    }
}

/// The token of a page that is returned without its claim token.
#[track_caller]
pub(crate) fn bare_page(bought: &PurchaseResult) -> String {
    match &bought.item {
        PurchasedItem::Page { site, claim_token: None, .. } => site.token.clone(),
        other => panic!("no page without a claim token: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn key(bought: &PurchaseResult) -> String {
    match &bought.item {
        PurchasedItem::Key { new, .. } => new.secret.clone(),
        other => panic!("no key: {other:?}"),
    }
}

/// The error of an operation that failed without terms.
#[track_caller]
pub(crate) fn failed(outcome: Result<PurchaseResult, PayError>, code: Code) -> Error {
    match outcome {
        Err(PayError::Failed(error)) if error.code == code => error,
        other => panic!("not {code:?}: {other:?}"),
    }
}

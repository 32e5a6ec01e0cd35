//! Runs paid operations without HTTP, on a separate database, with a facilitator that can fail.

use super::{Call, Database, FakeFacilitator, NOW, Purse, seed};
use dropleaf_app::{
    App, CardProcessor, Dependencies, EvmPayment, Facilitator, MandateSettings, Mode, Order, PageKey,
    PayError, PayRequest, PaymentProof, PaymentSettings, Prices, PurchaseResult, PurchasedItem, Settings,
    SolanaPayment, Upload,
};
use dropleaf_core::host::{Hosts, Origin};
use dropleaf_core::payment::Item;
use dropleaf_core::plan::{Plan, Plans};
use dropleaf_core::secret::{self, Keys};
use dropleaf_core::{Code, Error, ManualClock, Minter};
use dropleaf_pay::{Cluster, Network, Proof, Terms, Token, sandbox};
use dropleaf_store::{Blobs, Db, DbError, Row, Stmt, Store};
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
    pub(crate) config: TillConfig,
    pub(crate) dir: Arc<TempDir>,
}

/// Where a till stores its data, and its settings.
#[derive(Debug, Clone)]
pub(crate) struct TillConfig {
    pub(crate) database_url: String,
    blobs_url: String,
    pub(crate) hosts: Hosts,
    pub(crate) settings: Settings,
    /// Charges cards in live mode.
    pub(crate) card_processor: Option<Arc<dyn CardProcessor>>,
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
        let fake = FakeFacilitator::new(clock.clone());
        let mut config = config(database, dir.path());
        config.settings.payments.as_mut().unwrap().mode = mode;
        let app = open_app(&config, &clock, Arc::new(fake.clone()), seed::minter()).await;
        Self { app, clock, fake, purse: Purse::new(), config, dir }
    }

    /// Another node of the same service, or the same after a restart.
    pub(crate) async fn beside(&self) -> Self {
        self.beside_with(|_| {}).await
    }

    /// The same with other settings.
    pub(crate) async fn beside_with(&self, change: impl FnOnce(&mut TillConfig)) -> Self {
        let mut config = self.config.clone();
        change(&mut config);
        let app = open_app(&config, &self.clock, Arc::new(self.fake.clone()), seed::minter()).await;
        Self {
            app,
            clock: Arc::clone(&self.clock),
            fake: self.fake.clone(),
            purse: self.purse.clone(),
            config,
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
        let db = Db::open(&self.config.database_url).await.unwrap();
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

    /// Opens its storage a second time.
    pub(crate) async fn open_store(&self) -> Store {
        open_store(&self.config).await
    }

    pub(crate) async fn exec(&self, sql: &'static str) {
        let db = Db::open(&self.config.database_url).await.unwrap();
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
    let proof = PaymentProof::X402(proof);
    PayRequest { order, proof, request_hash: secret::digest(body.as_bytes()), idempotency_key: None, ip }
}

/// As with real money: only the facilitator's answer counts.
pub(crate) fn config(database: &Database, dir: &Path) -> TillConfig {
    let data = dir.join("data");
    let database_url = match database {
        Database::Sqlite => format!("sqlite:{}", data.join("dropleaf.db").display()),
        Database::Postgres(url) => url.clone(),
    };
    let origin = Origin::parse("http://localhost:8080").unwrap();
    TillConfig {
        database_url,
        blobs_url: format!("file:{}", data.join("blobs").display()),
        hosts: Hosts::new(origin.clone(), origin, "localhost".into(), true),
        settings: Settings {
            plans: Plans::new([plan("free", Some(3), Some(7 * 86_400)), plan("solo", None, None)]),
            default_plan: "solo".into(),
            versions_kept: 20,
            parallel_uploads: 4,
            payments: Some(payments()),
            ..super::settings::settings(&data.join("spool"))
        },
        card_processor: None,
    }
}

fn plan(name: &str, active_pages: Option<i64>, longest_life_seconds: Option<i64>) -> Plan {
    let publishes_a_day = Some(1000);
    Plan {
        name: name.into(),
        active_pages,
        longest_life_seconds,
        publishes_a_day,
        executables: false,
        custom_domains: false,
    }
}

/// The default prices and networks.
fn payments() -> PaymentSettings {
    let (Network::Evm(chain_id), (evm, solana)) = (Network::BASE, sandbox::pay_to()) else {
        panic!("Base is an EVM network")
    };
    PaymentSettings {
        mode: Mode::Live,
        prices: Prices {
            publish: PRICE,
            provision: 1_000_000,
            make_permanent: 2_000_000,
            custom_domain: 5_000_000,
            higher_limits: 25_000_000,
        },
        evm: Some(EvmPayment { chain_id, token: Token::usdc(chain_id).unwrap(), pay_to: evm }),
        solana: Some(SolanaPayment { cluster: Cluster::Mainnet, pay_to: solana }),
        cards: None,
        mandates: MandateSettings::default(),
        max_timeout_seconds: 180,
        confirm_settlements: true,
        accept_submitted_elsewhere: true,
        publish_bytes: 10 << 20,
    }
}

async fn open_store(config: &TillConfig) -> Store {
    let db = Db::open(&config.database_url).await.unwrap();
    db.migrate(NOW).await.unwrap();
    Store::new(db, Blobs::open(&config.blobs_url, 64 << 10).unwrap())
}

pub(crate) async fn open_app(
    config: &TillConfig,
    clock: &Arc<ManualClock>,
    facilitator: Arc<dyn Facilitator>,
    minter: Minter,
) -> Arc<App> {
    std::fs::create_dir_all(&config.settings.spool_dir).unwrap();
    let store = open_store(config).await;
    let app = App::new(Dependencies {
        checker: None,
        dns: None,
        store,
        clock: clock.clone(),
        minter,
        keys: Keys::new([7; 32]),
        hosts: config.hosts.clone(),
        settings: config.settings.clone(),
        mailer: None,
        facilitator: Some(facilitator),
        card_processor: config.card_processor.clone(),
        webhooks: None,
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

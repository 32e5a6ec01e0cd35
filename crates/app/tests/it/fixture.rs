//! An application on a SQLite file of its own, with a manual clock.

use crate::harness::settings::settings;
pub(crate) use crate::harness::settings::{PLACES, VERSIONS_KEPT};
use dropleaf_app::{App, Caller, Dependencies, IdempotentResult, Settings, Upload, WebhookTransport};
use dropleaf_core::account::Account;
use dropleaf_core::host::{Hosts, Origin};
use dropleaf_core::secret::Keys;
use dropleaf_core::{ManualClock, Minter};
use dropleaf_store::{Blobs, Db, Store};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) const NOW: i64 = 1_700_000_000;
pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 86_400;

pub(crate) struct Fixture {
    pub(crate) app: App,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) accounts: [Account; 2],
    pub(crate) url: String,
    _dir: TempDir,
}

impl Fixture {
    pub(crate) async fn open() -> Self {
        Self::open_at("http://localhost:8080").await
    }

    /// At another address.
    pub(crate) async fn open_at(address: &str) -> Self {
        Self::open_with(address, None).await
    }

    /// With other settings.
    pub(crate) async fn open_where(change: impl FnOnce(&mut Settings)) -> Self {
        Box::pin(Self::start("http://localhost:8080", None, change)).await
    }

    /// With something that receives webhooks.
    pub(crate) async fn open_with(address: &str, webhooks: Option<Arc<dyn WebhookTransport>>) -> Self {
        Box::pin(Self::start(address, webhooks, |_| {})).await
    }

    async fn start(
        address: &str,
        webhooks: Option<Arc<dyn WebhookTransport>>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let dir = TempDir::new().unwrap();
        let url = format!("sqlite:{}", dir.path().join("dropleaf.db").display());
        let db = Db::open(&url).await.unwrap();
        db.migrate(NOW).await.unwrap();
        let blobs = Blobs::open(&format!("file:{}", dir.path().join("blobs").display()), 64 << 10).unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let mut settings = settings(dir.path());
        change(&mut settings);
        let origin = Origin::parse(address).unwrap();
        let site_host = origin.host.clone();
        let app = App::new(Dependencies {
            checker: None,
            dns: None,
            webhooks,
            store: Store::new(db, blobs),
            clock: clock.clone(),
            minter: Minter::seeded(7),
            keys: Keys::new([7; 32]),
            hosts: Hosts::new(origin.clone(), origin, site_host, true),
            settings,
            mailer: None,
            facilitator: None,
            card_processor: None,
        });
        let accounts = [
            app.create_account("a@example.org", None, false).await.unwrap(),
            app.create_account("b@example.org", None, false).await.unwrap(),
        ];
        Self { app, clock, accounts, url, _dir: dir }
    }

    pub(crate) fn caller(&self, who: Option<usize>) -> Caller {
        let account = who.map(|who| self.accounts[who].clone());
        Caller { account, grant_id: None, ip: Some([203, 0, 113, 7].into()), maker: None }
    }

    /// The number of stored bodies.
    pub(crate) async fn stored_bodies(&self) -> i64 {
        let db = Db::open(&self.url).await.unwrap();
        let count = db.get("SELECT COUNT(*) FROM blobs", &[], |row| row.int(0)).await.unwrap().unwrap();
        db.close().await;
        count
    }
}

pub(crate) fn html(body: u8) -> String {
    format!("<p>body {body}</p>")
}

pub(crate) fn upload(body: u8) -> Upload {
    Upload::html(html(body))
}

pub(crate) fn fresh<T>(done: IdempotentResult<T>) -> T {
    match done {
        IdempotentResult::New(new) => new,
        IdempotentResult::Replayed { .. } => panic!("nothing was sent twice"),
    }
}

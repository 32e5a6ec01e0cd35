//! An application on a SQLite file of its own, with a manual clock.

use dropleaf_app::{App, Caller, Dependencies, IdempotentResult, Rates, Retention, Settings, Upload};
use dropleaf_content::Limits;
use dropleaf_core::account::Account;
use dropleaf_core::host::{Hosts, Origin};
use dropleaf_core::plan::{Plan, Plans};
use dropleaf_core::rate::Rate;
use dropleaf_core::secret::Keys;
use dropleaf_core::{ManualClock, Minter};
use dropleaf_store::{Blobs, Db, Store};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) const NOW: i64 = 1_700_000_000;
pub(crate) const HOUR: i64 = 3600;
pub(crate) const DAY: i64 = 86_400;
/// Live pages that an account may have.
pub(crate) const PLACES: usize = 4;
pub(crate) const VERSIONS_KEPT: usize = 3;

pub(crate) struct Fixture {
    pub(crate) app: App,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) accounts: [Account; 2],
    pub(crate) url: String,
    _dir: TempDir,
}

impl Fixture {
    pub(crate) async fn open() -> Self {
        let dir = TempDir::new().unwrap();
        let url = format!("sqlite:{}", dir.path().join("dropleaf.db").display());
        let db = Db::open(&url).await.unwrap();
        db.migrate(NOW).await.unwrap();
        let blobs = Blobs::open(&format!("file:{}", dir.path().join("blobs").display()), 64 << 10).unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let origin = Origin::parse("http://localhost:8080").unwrap();
        let app = App::new(Dependencies {
            checker: None,
            store: Store::new(db, blobs),
            clock: clock.clone(),
            minter: Minter::seeded(7),
            keys: Keys::new([7; 32]),
            hosts: Hosts::new(origin.clone(), origin, "localhost".into(), true),
            settings: settings(&dir),
            mailer: None,
            facilitator: None,
        });
        let accounts = [
            app.create_account("a@example.org", None, false).await.unwrap(),
            app.create_account("b@example.org", None, false).await.unwrap(),
        ];
        Self { app, clock, accounts, url, _dir: dir }
    }

    pub(crate) fn caller(&self, who: Option<usize>) -> Caller {
        let account = who.map(|who| self.accounts[who].clone());
        Caller { account, grant_id: None, ip: Some([203, 0, 113, 7].into()) }
    }

    /// The number of stored bodies.
    pub(crate) async fn stored_bodies(&self) -> i64 {
        let db = Db::open(&self.url).await.unwrap();
        let count = db.get("SELECT COUNT(*) FROM blobs", &[], |row| row.int(0)).await.unwrap().unwrap();
        db.close().await;
        count
    }
}

fn settings(dir: &TempDir) -> Settings {
    let plenty = |name| Rate { name, limit: i64::MAX / 2, window_seconds: 60 };
    Settings {
        plans: Plans::new([Plan {
            name: "small".into(),
            active_pages: i64::try_from(PLACES).ok(),
            longest_life_seconds: None,
            publishes_a_day: None,
            executables: true,
        }]),
        default_plan: "small".into(),
        sign_up: dropleaf_core::sign_up::SignUp::Open,
        content: Limits::default(),
        safety: dropleaf_app::SafetySettings::default(),
        notified: dropleaf_app::NotificationRecipients::default(),
        rates: Rates {
            anonymous_hour: plenty("anonymous_hour"),
            anonymous_day: plenty("anonymous_day"),
            anonymous_attempts: plenty("anonymous_attempts"),
            paid_attempts: plenty("paid_attempts"),
            checks_minute: plenty("checks_minute"),
            appeals_day: plenty("appeals_day"),
            key_minute: plenty("key_minute"),
            account_minute: plenty("account_minute"),
            gate_site_minute: plenty("gate_site_minute"),
            password_hashes: plenty("password_hashes"),
            code_address_hour: plenty("code_address_hour"),
            code_site_hour: plenty("code_site_hour"),
            sign_in_address_hour: plenty("sign_in_address_hour"),
            sign_in_client_hour: plenty("sign_in_client_hour"),
            code_client_hour: plenty("code_client_hour"),
        },
        retention: Retention {
            restore: 30 * DAY,
            unowned: DAY,
            slug_hold: 90 * DAY,
            tombstone: 365 * DAY,
            orphan: HOUR,
            evidence: 90 * 86_400,
            open_appeal: 30 * DAY,
            idempotency: DAY,
        },
        appeals_bytes: 1 << 30,
        anonymous_usage: dropleaf_app::UsageLimits { server_bytes: 1 << 40, network_bytes: 1 << 40 },
        unused_clients: 1000,
        exempt: Vec::new(),
        spool_dir: dir.path().to_owned(),
        versions_kept: i64::try_from(VERSIONS_KEPT).unwrap(),
        count_views: true,
        cache_bytes: 1 << 20,
        tolerates_lost_refresh: false,
        parallel_uploads: 1,
        payments: None,
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

//! The application state shared by all operations: storage, clock, randomness, settings, caches and limits.

use crate::accounts::api_keys::Keyring;
use crate::accounts::oauth::TokenRing;
use crate::infra::permit_queue::Queue;
use crate::infra::settings::Settings;
use crate::infra::throttle::Throttle;
use crate::moderation::safety::{Checker, Outside, UnwantedIndex};
use crate::notify::mail::{Mailer, PostOffice};
use crate::notify::owner_notices::Notices;
use crate::pay::{self, Facilitator, Locks, Market};
use crate::publish::idempotency::InFlight;
use crate::viewing::burn::Embers;
use crate::viewing::pages::Pages;
use crate::viewing::password_gate::Guesses;
use crate::viewing::password_hasher::Passwords;
use crate::viewing::view_counts::Views;
use dropleaf_core::host::Hosts;
use dropleaf_core::oauth::TOKEN_REQUESTS;
use dropleaf_core::secret::Keys;
use dropleaf_core::{Clock, Minter};
use dropleaf_store::Store;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use tokio::sync::{Semaphore, broadcast};

/// Capacity of each of the two credential caches (API keys, OAuth tokens).
const KEYS: usize = 10_000;
/// Dry runs and appeals that are read concurrently, and those that may wait. Small pages bypass this queue.
const CHECKS: usize = 1;
const CHECKS_WAITING: usize = 8;
const APPELLANTS_WAITING: usize = 8;
/// Prefix of the notification to other nodes that a key, a grant or an account's plan changed; the id follows.
pub(crate) const KEYS_CHANGED: &str = "k:";
/// Notifications buffered for a slow subscriber; one that lags behind treats all credentials as changed.
const ENDED_WAITING: usize = 64;
/// The notification received when anything may have changed.
pub(crate) const EVERYTHING: &str = "*";

/// Everything that is injected at start-up.
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub minter: Minter,
    pub keys: Keys,
    pub hosts: Hosts,
    pub settings: Settings,
    /// Without a mailer no email is sent, and operations that need email are refused.
    pub mailer: Option<Arc<dyn Mailer>>,
    /// Settles payments in live mode.
    pub facilitator: Option<Arc<dyn Facilitator>>,
    /// The operator's external content checker.
    pub checker: Option<Arc<dyn Checker>>,
}

#[derive(Debug)]
pub struct App {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) minter: Minter,
    pub(crate) keys: Keys,
    pub(crate) settings: Settings,
    pub(crate) pages: Pages,
    pub(crate) keyring: Keyring,
    pub(crate) token_ring: TokenRing,
    pub(crate) views: Views,
    pub(crate) embers: Embers,
    pub(crate) passwords: Passwords,
    pub(crate) guesses: Guesses,
    pub(crate) mailer: Option<Arc<dyn Mailer>>,
    pub(crate) post: PostOffice,
    pub(crate) in_flight: InFlight,
    pub(crate) notices: Notices,
    /// Broadcasts the ids of credentials that may have been revoked.
    pub(crate) credentials: broadcast::Sender<Arc<str>>,
    pub(crate) key_throttle: Throttle,
    pub(crate) account_throttle: Throttle,
    pub(crate) attempt_throttle: Throttle,
    pub(crate) paid_throttle: Throttle,
    pub(crate) token_throttle: Throttle,
    pub(crate) check_throttle: Throttle,
    pub(crate) uploads: Arc<Semaphore>,
    /// For dry runs and appeals, so that they never delay publishers.
    pub(crate) checks: Queue,
    /// For appeals whose content is being stored.
    pub(crate) appellants: Queue,
    pub(crate) facilitator: Option<Arc<dyn Facilitator>>,
    pub(crate) market: Market,
    pub(crate) outside: Outside,
    pub(crate) unwanted_index: UnwantedIndex,
    pub(crate) payment_locks: Locks,
    /// Epoch seconds before which parked payments with an unknown outcome are not resumed again.
    pub(crate) next_wake: AtomicI64,
    pub hosts: Hosts,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        let Parts { store, clock, minter, keys, hosts, settings, mailer, facilitator, checker } = parts;
        let facilitator = pay::facilitator(&settings, facilitator, &store, &clock);
        Self {
            pages: Pages::new(settings.cache_bytes),
            keyring: Keyring::new(KEYS),
            token_ring: TokenRing::new(KEYS),
            views: Views::default(),
            embers: Embers::default(),
            passwords: Passwords::new(settings.rates.password_hashes),
            guesses: Guesses::new(settings.rates.gate_site_minute),
            mailer,
            post: PostOffice::default(),
            in_flight: InFlight::default(),
            notices: Notices::new(minter.nonce()),
            credentials: broadcast::Sender::new(ENDED_WAITING),
            key_throttle: Throttle::new(settings.rates.key_minute),
            account_throttle: Throttle::new(settings.rates.account_minute),
            attempt_throttle: Throttle::new(settings.rates.anonymous_attempts),
            paid_throttle: Throttle::new(settings.rates.paid_attempts),
            token_throttle: Throttle::new(TOKEN_REQUESTS),
            check_throttle: Throttle::new(settings.rates.checks_minute),
            uploads: Arc::new(Semaphore::new(settings.parallel_uploads.max(1))),
            checks: Queue::new(CHECKS, CHECKS_WAITING),
            appellants: Queue::new(1, APPELLANTS_WAITING),
            facilitator,
            market: Market::default(),
            outside: Outside::new(checker),
            unwanted_index: UnwantedIndex::default(),
            payment_locks: Locks::default(),
            next_wake: AtomicI64::new(0),
            store,
            clock,
            minter,
            keys,
            hosts,
            settings,
        }
    }

    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// An id for one request, for the log.
    pub fn request_id(&self) -> String {
        format!("req_{}", self.minter.nonce())
    }

    /// Checks that the database responds.
    pub async fn ping(&self) -> dropleaf_core::Result<()> {
        Ok(self.store.db.ping().await?)
    }

    /// Evicts this node's cache entries when other nodes change them. None if there are no other nodes.
    pub fn follow_changes(self: &Arc<Self>) -> Option<impl Future<Output = ()> + Send + use<>> {
        let app = Arc::clone(self);
        self.store.db.listen(move |changed| {
            if app.notices.hear(changed) {
                return;
            }
            if let Some(whose) = changed.strip_prefix(KEYS_CHANGED) {
                return app.forget_credentials(whose);
            }
            if changed == EVERYTHING {
                app.forget_credentials("");
            }
            app.pages.evict_named(changed);
        })
    }

    /// Writes out what is held only in memory and closes the database.
    pub async fn close(&self) {
        if let Err(error) = self.flush_views().await {
            tracing::warn!(%error, "the last page views could not be written");
        }
        self.store.db.close().await;
    }
}

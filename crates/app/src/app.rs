//! The application state shared by all operations: storage, clock, randomness, settings, caches and limits.

use crate::accounts::api_keys::KeyCache;
use crate::accounts::oauth::AccessTokenCache;
use crate::backups::Backups;
use crate::certificates::{CERTIFICATES_CHANGED, Certificates};
use crate::domains::DnsLookup;
use crate::domains::served::ServedDomains;
use crate::infra::rate_limits::Limits;
use crate::infra::settings::Settings;
use crate::moderation::Moderation;
use crate::moderation::safety::Checker;
use crate::notify::Notify;
use crate::notify::mail::Mailer;
use crate::notify::webhooks::WebhookTransport;
use crate::pay::{CardProcessor, Facilitator, PaymentParts, Payments};
use crate::publish::idempotency::InFlight;
use crate::viewing::burn::ErasureQueue;
use crate::viewing::pages::PageCaches;
use crate::viewing::view_counts::ViewCounts;
use dropleaf_core::host::Hosts;
use dropleaf_core::secret::Keys;
use dropleaf_core::{Clock, Minter};
use dropleaf_store::Store;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Prefix of the notification to other nodes that a key, a grant or an account's plan changed; the id follows.
pub(crate) const CREDENTIAL_CHANGED_PREFIX: &str = "k:";
/// The notification to other nodes that verified custom domains changed.
pub(crate) const DOMAINS_CHANGED: &str = "d:";
/// The notification received when anything may have changed.
pub(crate) const ALL_CHANGED: &str = "*";

/// Capacity of each of the two credential caches (API keys, OAuth tokens).
const CREDENTIAL_CACHE_ENTRIES: usize = 10_000;
/// Notifications buffered for a slow subscriber; one that lags behind treats all credentials as changed.
const CREDENTIAL_CHANGES_BUFFERED: usize = 64;

/// Everything that is injected at start-up.
#[derive(Debug)]
pub struct Dependencies {
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
    /// Charges cards in live mode.
    pub card_processor: Option<Arc<dyn CardProcessor>>,
    /// The operator's external content checker.
    pub checker: Option<Arc<dyn Checker>>,
    /// Looks up the records of custom domains. Without it none can be verified.
    pub dns: Option<Arc<dyn DnsLookup>>,
    /// Sends webhooks.
    pub webhooks: Option<Arc<dyn WebhookTransport>>,
}

#[derive(Debug)]
pub struct App {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) minter: Arc<Minter>,
    pub(crate) keys: Keys,
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    pub(crate) caches: Caches,
    pub(crate) pending: PendingWork,
    pub(crate) payments: Payments,
    pub(crate) moderation: Moderation,
    pub(crate) notify: Notify,
    pub(crate) certificates: Certificates,
    pub(crate) backups: Backups,
    pub(crate) dns: Option<Arc<dyn DnsLookup>>,
    pub hosts: Hosts,
}

/// What this node holds in memory: pages with their bodies, credentials, and custom domains.
#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) pages: PageCaches,
    pub(crate) api_keys: KeyCache,
    pub(crate) access_tokens: AccessTokenCache,
    /// Broadcasts the ids of credentials that may have been revoked.
    pub(crate) credential_changes: broadcast::Sender<Arc<str>>,
    /// The verified custom domains; not a cache, but complete.
    pub(crate) served_domains: ServedDomains,
}

impl Caches {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            pages: PageCaches::new(settings.cache_bytes, settings.stale_limit),
            api_keys: KeyCache::new(CREDENTIAL_CACHE_ENTRIES),
            access_tokens: AccessTokenCache::new(CREDENTIAL_CACHE_ENTRIES),
            credential_changes: broadcast::Sender::new(CREDENTIAL_CHANGES_BUFFERED),
            served_domains: ServedDomains::default(),
        }
    }
}

/// Work that is held in memory until it is written or done.
#[derive(Debug)]
pub(crate) struct PendingWork {
    pub(crate) view_counts: ViewCounts,
    pub(crate) erasures: ErasureQueue,
    pub(crate) idempotent_requests: InFlight,
}

impl PendingWork {
    /// `node` names this process among all that use the database.
    fn new(node: String) -> Self {
        Self {
            view_counts: ViewCounts::new(node),
            erasures: ErasureQueue::default(),
            idempotent_requests: InFlight::default(),
        }
    }
}

impl App {
    pub fn new(parts: Dependencies) -> Self {
        let Dependencies { store, clock, minter, keys, hosts, mut settings, mailer, .. } = parts;
        let minter = Arc::new(minter);
        if let Some(payments) = settings.payments.as_mut().filter(|it| it.is_sandbox())
            && let Some(cards) = &mut payments.cards
        {
            cards.add_sandbox_secret(&keys);
        }
        let payments = Payments::new(PaymentParts {
            facilitator: parts.facilitator,
            card_processor: parts.card_processor,
            settings: &settings,
            store: &store,
            clock: &clock,
            minter: &minter,
            hosts: &hosts,
        });
        let node = minter.nonce();
        Self {
            limits: Limits::new(&settings, store.db.is_shared()),
            caches: Caches::new(&settings),
            payments,
            moderation: Moderation::new(parts.checker),
            notify: Notify::new(mailer, parts.webhooks, node.clone()),
            pending: PendingWork::new(node),
            certificates: Certificates::default(),
            backups: Backups::default(),
            dns: parts.dns,
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
            if app.receive_notice(changed) {
                return;
            }
            if let Some(credential_id) = changed.strip_prefix(CREDENTIAL_CHANGED_PREFIX) {
                return app.evict_credentials(credential_id);
            }
            if changed == CERTIFICATES_CHANGED {
                return app.certificates_changed();
            }
            if changed.starts_with(DOMAINS_CHANGED) {
                return app.caches.served_domains.request_check();
            }
            if changed == ALL_CHANGED || changed == dropleaf_store::LISTENING {
                app.certificates_changed();
                app.evict_credentials("");
                app.caches.served_domains.request_check();
            }
            if changed == dropleaf_store::LISTENING {
                return app.caches.pages.evict_unconfirmed();
            }
            app.caches.pages.evict_named(changed);
        })
    }

    /// Finds out how current the replicas of the database are, without end. None if there are none.
    pub fn watch_replicas(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        self.store.db.watch_replicas()
    }

    /// Writes out what is held only in memory and closes the database.
    pub async fn close(&self) {
        if let Err(error) = self.flush_views().await {
            tracing::warn!(%error, "page views not written at shutdown");
        }
        self.store.db.close().await;
    }
}

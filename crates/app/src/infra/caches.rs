//! The caches of this node: pages with their bodies, and credentials.

use crate::accounts::api_keys::KeyCache;
use crate::accounts::oauth::AccessTokenCache;
use crate::infra::settings::Settings;
use crate::viewing::pages::PageCaches;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Capacity of each of the two credential caches (API keys, OAuth tokens).
const CREDENTIAL_CACHE_ENTRIES: usize = 10_000;
/// Notifications buffered for a slow subscriber; one that lags behind treats all credentials as changed.
const CREDENTIAL_CHANGES_BUFFERED: usize = 64;

#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) pages: PageCaches,
    pub(crate) api_keys: KeyCache,
    pub(crate) access_tokens: AccessTokenCache,
    /// Broadcasts the ids of credentials that may have been revoked.
    pub(crate) credential_changes: broadcast::Sender<Arc<str>>,
}

impl Caches {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            pages: PageCaches::new(settings.cache_bytes),
            api_keys: KeyCache::new(CREDENTIAL_CACHE_ENTRIES),
            access_tokens: AccessTokenCache::new(CREDENTIAL_CACHE_ENTRIES),
            credential_changes: broadcast::Sender::new(CREDENTIAL_CHANGES_BUFFERED),
        }
    }
}

//! The caches of this node: pages with their bodies, and credentials.

use crate::accounts::api_keys::Keyring;
use crate::accounts::oauth::TokenRing;
use crate::infra::settings::Settings;
use crate::viewing::pages::Pages;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Capacity of each of the two credential caches (API keys, OAuth tokens).
const CREDENTIAL_CACHE_ENTRIES: usize = 10_000;
/// Notifications buffered for a slow subscriber; one that lags behind treats all credentials as changed.
const CREDENTIAL_CHANGES_BUFFERED: usize = 64;

#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) pages: Pages,
    pub(crate) api_keys: Keyring,
    pub(crate) access_tokens: TokenRing,
    /// Broadcasts the ids of credentials that may have been revoked.
    pub(crate) credential_changes: broadcast::Sender<Arc<str>>,
}

impl Caches {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            pages: Pages::new(settings.cache_bytes),
            api_keys: Keyring::new(CREDENTIAL_CACHE_ENTRIES),
            access_tokens: TokenRing::new(CREDENTIAL_CACHE_ENTRIES),
            credential_changes: broadcast::Sender::new(CREDENTIAL_CHANGES_BUFFERED),
        }
    }
}

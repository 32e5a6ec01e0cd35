//! Caches the OAuth clients that were read from client id metadata documents; failures are not cached. `oauth/clients.rs`
//! fetches and checks the documents.

use crate::outbound::Fetcher;
use dropleaf_core::oauth::client::Client;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Maximum number of cached documents; beyond this the cache is cleared.
const KEPT: usize = 1000;

/// Clients with a metadata document, each with the epoch second until which it is cached.
#[derive(Debug)]
pub(super) struct ClientDocuments {
    pub fetcher: Fetcher,
    known: Mutex<HashMap<String, (i64, Client)>>,
}

impl ClientDocuments {
    pub(super) fn new(allow_loopback: bool) -> Self {
        Self { fetcher: Fetcher::new(allow_loopback), known: Mutex::default() }
    }

    pub(super) fn find(&self, id: &str, now: i64) -> Option<Client> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(id).filter(|(until, _)| *until > now).map(|(_, client)| client.clone())
    }

    pub(super) fn keep(&self, client: &Client, until: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(client.id.clone(), (until, client.clone()));
    }
}

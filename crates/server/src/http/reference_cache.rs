//! Keeps `/openapi.json` and `/docs` once they are rendered, in every content coding that was requested.
//! `reference.rs` serves them.

use bytes::Bytes;
use dropleaf_app::{ContentCoding, PaymentSettings, encode};
use dropleaf_core::host::Hosts;
use dropleaf_core::{Error, Result};
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::OnceCell;

/// Builds the OpenAPI document of this server; without payment settings nothing is sold.
type Describe = fn(&Hosts, Option<&PaymentSettings>) -> Value;

/// Both documents, rendered on first request.
#[derive(Debug)]
pub(super) struct ReferenceCache {
    /// Passed in, because the OpenAPI document is generated from the routes, and those that serve it are among them.
    pub describe: Describe,
    pub openapi: OnceCell<CachedDocument>,
    pub docs: OnceCell<CachedDocument>,
}

impl ReferenceCache {
    pub(super) fn new(describe: Describe) -> Self {
        Self { describe, openapi: OnceCell::new(), docs: OnceCell::new() }
    }
}

/// A body that does not change while the program runs.
#[derive(Debug)]
pub(super) struct CachedDocument {
    plain: Bytes,
    /// BLAKE3 of the plain bytes.
    pub hash: String,
    /// Further response headers.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// One cell per content coding.
    coded: [OnceCell<Bytes>; ContentCoding::ALL.len()],
}

impl CachedDocument {
    pub(super) fn new(text: String, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Self { plain: text.into(), hash, headers, coded: Default::default() }
    }

    /// The body in this coding, encoded on first request.
    pub(super) async fn encoded(&self, coding: ContentCoding) -> Result<Bytes> {
        let place = ContentCoding::ALL.iter().position(|known| *known == coding);
        let cell = place.and_then(|place| self.coded.get(place));
        let Some(cell) = cell.filter(|_| coding != ContentCoding::Identity) else {
            return Ok(self.plain.clone());
        };
        let make = || async {
            let plain = self.plain.clone();
            tokio::task::spawn_blocking(move || encode(&plain, coding)).await.map_err(Error::internal)?
        };
        cell.get_or_try_init(make).await.cloned()
    }
}

//! Finds the challenges of certificate authorities in the database. Anyone can ask for one, so few are looked up at a
//! time.

use super::source::CertificateSource;
use dropleaf_app::TlsMode;
use dropleaf_core::Result;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Concurrent lookups.
const LOOKUPS: usize = 8;
/// The longest token of a challenge that is looked up. RFC 8555 §8.3 sets only a minimum; authorities send 43 characters.
const LONGEST_TOKEN: usize = 128;

#[derive(Debug)]
pub(super) struct Challenges {
    source: Arc<dyn CertificateSource>,
    /// None if the server obtains no certificates.
    permits: Option<Semaphore>,
}

impl Challenges {
    pub(super) fn new(source: Arc<dyn CertificateSource>, mode: TlsMode) -> Self {
        Self { source, permits: (mode == TlsMode::Acme).then(|| Semaphore::new(LOOKUPS)) }
    }

    pub(super) async fn find_tls(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(permits) = &self.permits else { return Ok(None) };
        let _permit = permits.acquire().await;
        self.source.find_tls_challenge(name).await
    }

    pub(super) async fn find_http(&self, token: &str) -> Result<Option<Vec<u8>>> {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if token.is_empty() || token.len() > LONGEST_TOKEN || !token.bytes().all(is_token) {
            return Ok(None);
        }
        let Some(permits) = &self.permits else { return Ok(None) };
        let _permit = permits.acquire().await;
        self.source.find_http_challenge(token).await
    }
}

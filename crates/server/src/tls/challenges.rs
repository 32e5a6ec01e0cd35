//! Finds the challenges of certificate authorities in the database. Anyone can ask for one, so few are looked up at a
//! time.

use super::source::CertificateSource;
use dropleaf_app::TlsMode;
use dropleaf_core::Result;
use dropleaf_core::certificate::ChallengeKind;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Concurrent lookups.
const LOOKUPS: usize = 8;

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

    /// The key authorization of a challenge: by host name for TLS-ALPN-01, by token for HTTP-01.
    pub(super) async fn find(&self, kind: ChallengeKind, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(permits) = &self.permits else { return Ok(None) };
        let _permit = permits.acquire().await;
        self.source.find_challenge(kind, name).await
    }
}

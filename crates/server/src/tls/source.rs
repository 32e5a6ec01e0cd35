//! What TLS needs from the application: which names it serves, and the certificates and challenges in the database.

use async_trait::async_trait;
use dropleaf_app::{App, IssuedCertificate};
use dropleaf_core::Result;
use dropleaf_core::certificate::ChallengeKind;
use std::fmt::Debug;

#[async_trait]
pub(super) trait CertificateSource: Debug + Send + Sync {
    /// Whether a page is served under this custom domain. From memory.
    fn is_served(&self, name: &str) -> bool;

    async fn find_issued(&self, name: &str) -> Result<Option<IssuedCertificate>>;

    /// Changes whenever a certificate is issued or removed.
    async fn revision(&self) -> Result<i64>;

    /// The name and serial of every certificate.
    async fn list_serials(&self) -> Result<Vec<(String, String)>>;

    /// Waits until a certificate may have changed.
    async fn wait_for_change(&self);

    /// The key authorization of a challenge: by host name for TLS-ALPN-01, by token for HTTP-01.
    async fn find_challenge(&self, kind: ChallengeKind, name: &str) -> Result<Option<Vec<u8>>>;
}

#[async_trait]
impl CertificateSource for App {
    fn is_served(&self, name: &str) -> bool {
        self.is_served_domain(name)
    }

    async fn find_issued(&self, name: &str) -> Result<Option<IssuedCertificate>> {
        self.find_issued(name).await
    }

    async fn revision(&self) -> Result<i64> {
        self.certificates_revision().await
    }

    async fn list_serials(&self) -> Result<Vec<(String, String)>> {
        self.list_issued_serials().await
    }

    async fn wait_for_change(&self) {
        self.wait_for_certificate_change().await;
    }

    async fn find_challenge(&self, kind: ChallengeKind, name: &str) -> Result<Option<Vec<u8>>> {
        self.find_challenge(kind, name).await
    }
}

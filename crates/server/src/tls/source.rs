//! What TLS needs from the application: which names it serves, and the certificates and challenges in the database.

use async_trait::async_trait;
use dropleaf_app::App;
use dropleaf_core::Result;
use std::fmt::Debug;

/// A certificate with its key.
#[derive(Debug, Clone)]
pub(super) struct StoredCertificate {
    /// Changes with every renewal.
    pub(super) serial: String,
    /// Chain and key in PEM.
    pub(super) chain_and_key: Vec<u8>,
}

#[async_trait]
pub(super) trait CertificateSource: Debug + Send + Sync {
    /// Whether a page is served under this custom domain. From memory.
    fn is_served(&self, name: &str) -> bool;

    async fn find_issued(&self, name: &str) -> Result<Option<StoredCertificate>>;

    /// Changes whenever a certificate is issued or removed.
    async fn revision(&self) -> Result<i64>;

    /// The name and serial of every certificate.
    async fn list_serials(&self) -> Result<Vec<(String, String)>>;

    /// The key authorization of a TLS-ALPN-01 challenge.
    async fn find_tls_challenge(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// The key authorization of an HTTP-01 challenge.
    async fn find_http_challenge(&self, token: &str) -> Result<Option<Vec<u8>>>;
}

#[async_trait]
impl CertificateSource for App {
    fn is_served(&self, _name: &str) -> bool {
        false
    }

    async fn find_issued(&self, _name: &str) -> Result<Option<StoredCertificate>> {
        Ok(None)
    }

    async fn revision(&self) -> Result<i64> {
        Ok(0)
    }

    async fn list_serials(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    async fn find_tls_challenge(&self, _name: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    async fn find_http_challenge(&self, _token: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

//! Reads certificates: for owners and operators without the key, for the TLS listener with it.

use crate::app::App;
use crate::infra::sealing;
use crate::infra::settings::TlsMode;
use dropleaf_core::Result;
use dropleaf_core::certificate::{Certificate, CertificateState};
use dropleaf_store::revisions;
use std::fmt;

/// What the owner of a custom domain sees of its certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateView {
    pub state: CertificateState,
    pub expires_at: Option<i64>,
    pub last_error: Option<String>,
}

impl CertificateView {
    const fn bare(state: CertificateState) -> Self {
        Self { state, expires_at: None, last_error: None }
    }
}

/// A certificate with its key.
#[derive(Clone)]
pub struct IssuedCertificate {
    pub name: String,
    pub serial: String,
    /// PEM: the chain, leaf first, and the key.
    pub chain_and_key_pem: Vec<u8>,
}

impl fmt::Debug for IssuedCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedCertificate").field("name", &self.name).field("serial", &self.serial).finish()
    }
}

impl App {
    /// The certificate of a name, for its owner.
    pub async fn certificate_view(&self, hostname: &str) -> Result<CertificateView> {
        if self.settings.tls_mode != TlsMode::Acme {
            return Ok(CertificateView::bare(CertificateState::External));
        }
        let found = self.store.find_certificate(hostname).await?.filter(|it| it.unwanted_since.is_none());
        Ok(match found {
            Some(certificate) => CertificateView {
                state: certificate.state(self.now()),
                expires_at: certificate.not_after,
                last_error: certificate.last_error,
            },
            // Verified a moment ago.
            None if self.is_served_domain(hostname) => CertificateView::bare(CertificateState::Pending),
            None => CertificateView::bare(CertificateState::None),
        })
    }

    /// Every managed name, for operators.
    pub async fn list_certificates(&self) -> Result<Vec<Certificate>> {
        Ok(self.store.list_certificates().await?)
    }

    /// When the first of the certificates in use expires.
    pub async fn earliest_certificate_expiry(&self) -> Result<Option<i64>> {
        Ok(self.store.find_earliest_expiry().await?)
    }

    /// The newest certificate of exactly this name.
    pub async fn find_issued(&self, name: &str) -> Result<Option<IssuedCertificate>> {
        let Some((serial, sealed)) = self.store.find_sealed_certificate(name).await? else { return Ok(None) };
        let pem = sealing::open(self.certificate_key(name), name.as_bytes(), &sealed)?;
        Ok(Some(IssuedCertificate { name: name.to_owned(), serial, chain_and_key_pem: pem.into() }))
    }

    /// Name and serial number of every certificate, to notice renewals.
    pub async fn list_issued_serials(&self) -> Result<Vec<(String, String)>> {
        Ok(self.store.list_certificate_serials().await?)
    }

    /// Changes whenever a certificate is issued or removed, on any node.
    pub async fn certificates_revision(&self) -> Result<i64> {
        Ok(self.store.find_revision(revisions::CERTIFICATES).await?)
    }

    /// Waits until a certificate was issued or removed, here or (on PostgreSQL) on another node.
    pub async fn wait_for_certificate_change(&self) {
        self.certificates.changed.notified().await;
    }

    pub(super) fn certificate_key(&self, name: &str) -> [u8; 32] {
        self.keys.mac("certificate", name.as_bytes())
    }

    /// Wakes whoever holds certificates in memory.
    pub(crate) fn certificates_changed(&self) {
        self.certificates.changed.notify_one();
    }
}

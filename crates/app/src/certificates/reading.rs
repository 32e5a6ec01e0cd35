//! Reads certificates: for owners and operators without the key, for the TLS listener with it.

use crate::app::App;
use crate::infra::sealing;
use crate::infra::settings::TlsMode;
use dropleaf_core::Result;
use dropleaf_core::certificate::{Certificate, CertificateState};
use dropleaf_store::{certificates as rows, revisions};
use std::fmt;

/// What operators see of a certificate that was forgotten.
const UNREADABLE: &str =
    "the stored certificate was encrypted with another secret key; another one is ordered";

/// When the first certificates expire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EarliestExpiry {
    pub own: Option<i64>,
    pub custom_domains: Option<i64>,
}

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
        f.debug_struct("IssuedCertificate")
            .field("name", &self.name)
            .field("serial", &self.serial)
            .finish_non_exhaustive()
    }
}

impl App {
    /// The certificate of a name, for its owner.
    pub async fn certificate_view(&self, hostname: &str) -> Result<CertificateView> {
        if self.settings.tls_mode != TlsMode::Acme {
            return Ok(CertificateView::bare(CertificateState::External));
        }
        let found = self.store.find_certificate(hostname).await?.filter(|it| it.unused_since.is_none());
        Ok(match found {
            Some(certificate) => CertificateView {
                state: certificate.state(self.now()),
                expires_at: certificate.not_after,
                last_error: certificate.owner_error,
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

    /// When the first of the certificates in use expires: of our own names, and of custom domains.
    pub async fn earliest_certificate_expiry(&self) -> Result<EarliestExpiry> {
        let mut earliest = EarliestExpiry::default();
        for used in self.store.list_certificates().await?.iter().filter(|it| it.unused_since.is_none()) {
            let group =
                if self.is_own_name(&used.name) { &mut earliest.own } else { &mut earliest.custom_domains };
            *group = group.iter().chain(&used.not_after).min().copied();
        }
        Ok(earliest)
    }

    /// Whether a name, or the name below which it is a wildcard, is one of our own and no custom domain.
    pub(super) fn is_own_name(&self, name: &str) -> bool {
        self.hosts.covers(name.strip_prefix("*.").unwrap_or(name))
    }

    /// The newest certificate of exactly this name. One that was encrypted with another secret is forgotten: another is
    /// ordered.
    pub async fn find_issued(&self, name: &str) -> Result<Option<IssuedCertificate>> {
        let Some((serial, sealed)) = self.store.find_sealed_certificate(name).await? else { return Ok(None) };
        if let Ok(pem) = sealing::open(self.certificate_key(name), name.as_bytes(), &sealed) {
            return Ok(Some(IssuedCertificate {
                name: name.to_owned(),
                serial,
                chain_and_key_pem: pem.into(),
            }));
        }
        tracing::error!(name, serial, "stored certificate was encrypted with another secret, order due");
        self.store.commit(vec![rows::forget_unreadable(name, &serial, UNREADABLE, self.now())]).await?;
        self.order_certificates_soon();
        Ok(None)
    }

    /// Forgets every certificate that was encrypted with another secret, such as before a restore.
    pub async fn forget_unreadable_certificates(&self) -> Result<()> {
        for (name, _) in self.store.list_certificate_serials().await? {
            self.find_issued(&name).await?;
        }
        Ok(())
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

    /// Wakes the task that keeps certificates in memory.
    pub(crate) fn certificates_changed(&self) {
        self.certificates.changed.notify_one();
    }
}

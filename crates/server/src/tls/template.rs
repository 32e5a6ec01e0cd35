//! The settings that all TLS configurations of this node share. One key encrypts all session tickets; rustls accepts a
//! ticket only for the server name it was issued for.

use anyhow::{Context, Result, ensure};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ResolvesServerCertUsingSni};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(super) struct ConfigTemplate {
    provider: Arc<CryptoProvider>,
    config: ServerConfig,
}

impl ConfigTemplate {
    pub(super) fn new() -> Result<Self> {
        let provider = Arc::new(default_provider());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(ResolvesServerCertUsingSni::new()));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config.ignore_client_order = true;
        config.ticketer = Ticketer::new().context("session ticket key not created")?;
        // Tickets suffice. Otherwise each of the thousands of configurations would have a table of its own.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self { provider, config })
    }

    /// The configuration for a certificate chain and its key, both in PEM.
    pub(super) fn with_pem(&self, chain: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>> {
        let chain = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<Vec<_>, _>>()
            .context("the certificates cannot be read")?;
        ensure!(!chain.is_empty(), "there is no certificate");
        let key = PrivateKeyDer::from_pem_slice(key).context("the key cannot be read")?;
        let certified = CertifiedKey::from_der(chain, key, &self.provider)
            .context("the certificate and the key do not match")?;
        let mut config = self.config.clone();
        config.cert_resolver = Arc::new(SingleCertAndKey::from(certified));
        Ok(Arc::new(config))
    }
}

//! TLS with certificate files of the operator, and the one place that chooses the crypto provider.

use anyhow::{Context, Result};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Makes ring the provider for all TLS in this process.
pub fn install_provider() {
    // Fails only if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// An acceptor for these PEM files, offering HTTP/2 and HTTP/1.1.
pub fn acceptor(cert_file: &str, key_file: &str) -> Result<TlsAcceptor> {
    let certs = CertificateDer::pem_file_iter(Path::new(cert_file))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificates in {cert_file}"))?;
    let key = PrivateKeyDer::from_pem_file(Path::new(key_file))
        .with_context(|| format!("cannot read the key in {key_file}"))?;
    let mut config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certs, key)
        .context("the certificate and the key do not match")?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

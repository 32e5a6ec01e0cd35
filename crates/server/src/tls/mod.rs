//! TLS of the server: which certificate a client gets for the name it asks for, and the plain listener that redirects.
//! Certificates are obtained elsewhere. Also the one place that chooses the crypto provider.

mod challenges;
mod files;
mod handshake;
mod names;
mod redirect;
mod served;
mod server_name;
mod source;
mod template;
#[cfg(test)]
mod test_certificates;

pub(crate) use handshake::{Encrypted, TlsHandshake};
pub(crate) use names::CertificateNames;
pub(crate) use redirect::Redirect;
pub use served::ServedCertificates;
pub(crate) use server_name::{is_other_host, refuse_other_host};

/// Makes ring the provider for all TLS in this process.
pub fn install_provider() {
    // Fails only if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

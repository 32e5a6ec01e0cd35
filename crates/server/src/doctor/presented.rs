//! The certificate that a server presents for a name: accepted in any case, and reported with what clients would say.

use super::Doctor;
use super::addresses::Names;
use super::client::connect;
use crate::tls::CertificateNames;
use dropleaf_app::TlsMode;
use dropleaf_core::health::{self, CertificateSource, Finding, NamedCertificate, Presented};
use dropleaf_core::host::Origin;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use x509_parser::prelude::{FromDer, X509Certificate};

const HANDSHAKE: Duration = Duration::from_secs(5);

/// Asks the system's verifier and accepts whatever it says.
#[derive(Debug)]
struct Witness {
    system: Verifier,
    untrusted: Mutex<Option<String>>,
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.system.verify_server_cert(leaf, intermediates, name, ocsp, now);
        *self.untrusted.lock().unwrap_or_else(PoisonError::into_inner) =
            verified.err().and_then(|error| why(&error));
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls12_signature(message, leaf, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls13_signature(message, leaf, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

/// Why the issuer is not trusted. Dates and names are judged from the certificate itself.
fn why(error: &Error) -> Option<String> {
    use CertificateError as Fault;
    match error {
        Error::InvalidCertificate(
            Fault::Expired
            | Fault::ExpiredContext { .. }
            | Fault::NotValidYet
            | Fault::NotValidYetContext { .. }
            | Fault::NotValidForName
            | Fault::NotValidForNameContext { .. },
        ) => None,
        Error::InvalidCertificate(Fault::UnknownIssuer) => Some(
            "its issuer is unknown (self-signed, a private authority, or missing intermediate certificates)"
                .to_owned(),
        ),
        other => Some(other.to_string()),
    }
}

/// A TLS connection for this host name, and what was presented. The reason of a failure is a part of a sentence.
pub(super) async fn handshake(
    stream: TcpStream,
    host: &str,
) -> Result<(TlsStream<TcpStream>, Presented), String> {
    let provider = CryptoProvider::get_default().cloned().ok_or("no crypto provider")?;
    let system = Verifier::new(Arc::clone(&provider)).map_err(|error| error.to_string())?;
    let witness = Arc::new(Witness { system, untrusted: Mutex::default() });
    let verifier: Arc<dyn ServerCertVerifier> = witness.clone();
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let name =
        ServerName::try_from(host.trim_matches(['[', ']']).to_owned()).map_err(|error| error.to_string())?;
    let shaking = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = match tokio::time::timeout(HANDSHAKE, shaking).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(format!("the TLS handshake failed ({error})")),
        Err(_) => return Err("the TLS handshake took too long".to_owned()),
    };
    let leaf =
        stream.get_ref().1.peer_certificates().and_then(<[_]>::first).ok_or("it sent no certificate")?;
    let untrusted = witness.untrusted.lock().unwrap_or_else(PoisonError::into_inner).take();
    let presented = read(leaf, host, untrusted).ok_or("its certificate cannot be read")?;
    Ok((stream, presented))
}

fn read(leaf: &CertificateDer<'_>, host: &str, untrusted: Option<String>) -> Option<Presented> {
    let names = CertificateNames::of_der(leaf).ok()?;
    let (_, parsed) = X509Certificate::from_der(leaf).ok()?;
    let validity = parsed.validity();
    let is_ip = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    Some(Presented {
        not_before: validity.not_before.timestamp(),
        not_after: validity.not_after.timestamp(),
        // Addresses are compared by the system's verifier alone.
        covers_name: is_ip || names.cover(host),
        untrusted,
    })
}

async fn ask(name: String, origin: Origin, addresses: Vec<IpAddr>) -> NamedCertificate {
    let presented = async {
        let stream = connect(&addresses, origin.port).await?;
        handshake(stream, &origin.host).await.map(|(_, presented)| presented)
    };
    NamedCertificate { name, presented: presented.await }
}

impl Doctor {
    /// Of the hosts of `base_url`, `site_url`, `agents_url`, and of a random host of a page.
    pub(super) async fn check_certificates(&self, names: &Names, is_running: bool) -> Finding {
        let (resolved, hosts) = (&self.resolved, &self.resolved.hosts);
        let mut wanted: Vec<(String, Origin, Vec<IpAddr>)> = Vec::new();
        for origin in [Some(&hosts.base), Some(&hosts.site), hosts.agents.as_ref()].into_iter().flatten() {
            let is_new = wanted.iter().all(|(name, ..)| *name != origin.host);
            if origin.scheme == "https" && is_new {
                wanted.push((origin.host.clone(), origin.clone(), names.addresses(&origin.host)));
            }
        }
        if let Some((random, Ok(found))) = &names.random
            && hosts.site.scheme == "https"
        {
            // Without its own record, the certificate can still be asked for where the other pages are.
            let at = if found.is_empty() { names.addresses(&hosts.site.host) } else { found.clone() };
            wanted.push((
                format!("*.{}", hosts.site_host),
                Origin { host: random.clone(), ..hosts.site.clone() },
                at,
            ));
        }
        let asked = wanted.into_iter().map(|(name, origin, addresses)| ask(name, origin, addresses));
        let found = futures_util::future::join_all(asked).await;
        let source = match resolved.settings.tls_mode {
            TlsMode::Off => CertificateSource::Proxy,
            TlsMode::Files => CertificateSource::Files,
            TlsMode::Acme => CertificateSource::Acme,
        };
        health::certificates(&found, source, self.clock.now(), is_running)
    }
}

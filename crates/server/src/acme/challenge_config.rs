//! The TLS configuration that answers a TLS-ALPN-01 challenge: a self-signed certificate with the digest of the key
//! authorization, and only the protocol `acme-tls/1`. RFC 8737.

use anyhow::{Context, Result};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The protocol that authorities offer when they check a challenge.
pub(crate) const ALPN_PROTOCOL: &[u8] = b"acme-tls/1";

/// `name`: the host name that the authority asks for.
pub(crate) fn challenge_config(key_authorization: &[u8], name: &str) -> Result<Arc<ServerConfig>> {
    let mut params = CertificateParams::new([name.to_owned()]).context("not a host name")?;
    params.distinguished_name = DistinguishedName::new();
    params.custom_extensions.push(CustomExtension::new_acme_identifier(&Sha256::digest(key_authorization)));
    let key = KeyPair::generate().context("cannot create a key")?;
    let certificate = params.self_signed(&key).context("cannot create the certificate")?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let key = rustls::crypto::ring::sign::any_ecdsa_type(&key).context("cannot use the key")?;
    // Not checked against each other: the checker knows no critical extension such as this one.
    let certified = CertifiedKey::new(vec![certificate.der().clone()], key);
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, ServerConnection, SignatureScheme};
    use x509_parser::prelude::*;

    /// Accepts any certificate and signature: the usual checks know no critical extension such as this one.
    #[derive(Debug)]
    struct Anyone;

    impl ServerCertVerifier for Anyone {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, rustls::Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
        }
    }

    fn handshake(protocol: &[u8]) -> Result<ClientConnection, rustls::Error> {
        crate::tls::install_provider();
        let config = challenge_config(b"token.thumbprint", "reports.example.com").unwrap();
        let mut client = ClientConfig::builder()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone))
            .with_no_client_auth();
        client.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::try_from("reports.example.com").unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name)?;
        let mut server = ServerConnection::new(config)?;
        for _ in 0..10 {
            let mut sent = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut sent).unwrap();
            }
            server.read_tls(&mut sent.as_slice()).unwrap();
            server.process_new_packets()?;
            let mut answered = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut answered).unwrap();
            }
            client.read_tls(&mut answered.as_slice()).unwrap();
            client.process_new_packets()?;
            if !client.is_handshaking() {
                break;
            }
        }
        Ok(client)
    }

    #[test]
    fn the_certificate_has_the_name_and_the_digest_in_a_critical_extension() {
        let client = handshake(ALPN_PROTOCOL).unwrap();
        assert_eq!(client.alpn_protocol(), Some(ALPN_PROTOCOL));
        let der = &client.peer_certificates().unwrap()[0];
        let (_, certificate) = parse_x509_certificate(der).unwrap();
        let names = certificate.subject_alternative_name().unwrap().unwrap();
        assert_eq!(names.value.general_names, [GeneralName::DNSName("reports.example.com")]);
        let extension =
            certificate.extensions().iter().find(|it| it.oid.to_id_string() == "1.3.6.1.5.5.7.1.31");
        let extension = extension.unwrap();
        assert!(extension.critical);
        // An OCTET STRING of 32 bytes.
        assert_eq!(extension.value[..2], [4, 32]);
        assert_eq!(extension.value[2..], Sha256::digest(b"token.thumbprint")[..]);
    }

    #[test]
    fn clients_that_want_http_are_refused() {
        assert!(handshake(b"h2").is_err());
    }
}

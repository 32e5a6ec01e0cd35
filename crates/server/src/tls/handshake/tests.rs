//! Handshakes with a real client over a pipe in memory.

use super::super::test_certificates::FakeSource;
use super::*;
use dropleaf_app::TlsMode;
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_core::host::{Hosts, Origin};
use rustls::client::Tls13ClientSessionValue;
use rustls::client::{ClientSessionMemoryCache, ClientSessionStore, Resumption, Tls12ClientSessionValue};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, ClientConfig, HandshakeKind, NamedGroup, RootCertStore};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio_rustls::{TlsConnector, client};

/// A server with custom domains that have certificates, and clients that trust these.
struct Fixture {
    handshake: TlsHandshake,
    source: Arc<FakeSource>,
    roots: RootCertStore,
    metrics: Arc<Metrics>,
}

const NAMES: [&str; 4] = ["api.example.com", "*.pages.example.net", "a.example", "b.example"];

impl Fixture {
    fn new() -> Self {
        super::super::install_provider();
        let source = FakeSource::serving(&["a.example", "b.example", "new.example"]);
        let mut roots = RootCertStore::empty();
        for name in NAMES {
            let chain = source.issue(name, "1");
            roots.add(CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()).unwrap();
        }
        let base = Origin::parse("https://api.example.com").unwrap();
        let site = Origin::parse("https://pages.example.net").unwrap();
        let hosts = Hosts::new(base, site, "pages.example.net".into(), true);
        let certificates =
            ServedCertificates::with_source(&hosts, TlsMode::Acme, None, Arc::clone(&source) as _).unwrap();
        let metrics = Arc::new(Metrics::default());
        let handshake = TlsHandshake::new(Arc::new(certificates), Arc::clone(&metrics));
        Self { handshake, source, roots, metrics }
    }

    fn client(&self) -> ClientConfig {
        ClientConfig::builder().with_root_certificates(self.roots.clone()).with_no_client_auth()
    }

    async fn connect(
        &self,
        client: &ClientConfig,
        name: &str,
    ) -> (io::Result<client::TlsStream<DuplexStream>>, io::Result<Option<Encrypted<DuplexStream>>>) {
        let (near, far) = tokio::io::duplex(1 << 16);
        let connector = TlsConnector::from(Arc::new(client.clone()));
        let name = ServerName::try_from(name.to_owned()).unwrap();
        // The client learns of tickets only when it reads.
        let connect = async {
            let mut stream = connector.connect(name, near).await?;
            let _ = stream.read(&mut [0; 8]).await;
            Ok(stream)
        };
        let accept = async {
            let mut accepted = self.handshake.accept(far).await;
            if let Ok(Some(encrypted)) = &mut accepted {
                let _ = encrypted.stream.write_all(b"x").await;
                let _ = encrypted.stream.flush().await;
            }
            accepted
        };
        tokio::join!(connect, accept)
    }

    async fn alert(&self, client: &ClientConfig, name: &str) -> AlertDescription {
        let (connected, accepted) = self.connect(client, name).await;
        assert!(accepted.unwrap().is_none());
        let error = connected.unwrap_err().into_inner().unwrap();
        match error.downcast_ref::<rustls::Error>() {
            Some(rustls::Error::AlertReceived(alert)) => *alert,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn each_name_gets_its_certificate_in_both_versions() {
    let fixture = Fixture::new();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut client = ClientConfig::builder_with_protocol_versions(&[version])
            .with_root_certificates(fixture.roots.clone())
            .with_no_client_auth();
        client.alpn_protocols = vec![b"http/1.1".to_vec(), b"h2".to_vec()];
        for name in ["api.example.com", "s-1.pages.example.net", "a.example", "B.Example"] {
            let (connected, accepted) = fixture.connect(&client, name).await;
            assert_eq!(connected.unwrap().get_ref().1.protocol_version(), Some(version.version), "{name}");
            let accepted = accepted.unwrap().unwrap();
            assert_eq!(accepted.server_name.as_deref(), Some(name.to_ascii_lowercase().as_str()));
            assert!(accepted.is_http2, "our order counts");
        }
    }
}

#[tokio::test]
async fn without_a_server_name_or_protocol_the_api_answers_in_http_1() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.enable_sni = false;
    let (connected, accepted) = fixture.connect(&client, "api.example.com").await;
    assert!(connected.is_ok());
    let accepted = accepted.unwrap().unwrap();
    assert!(accepted.server_name.is_none() && !accepted.is_http2);
    assert!(fixture.connect(&client, "a.example").await.0.is_err(), "the certificate is of the API");
}

#[tokio::test]
async fn names_that_are_not_served_get_an_alert_and_are_counted() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    assert_eq!(fixture.alert(&client, "unknown.example").await, AlertDescription::UnrecognisedName);
    client.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
    assert_eq!(fixture.alert(&client, "unknown.example").await, AlertDescription::UnrecognisedName);
    assert_eq!(fixture.source.reads(), 0);
    assert_eq!(fixture.metrics.tls_refused.get(), 2);
    assert_eq!(fixture.alert(&client, "a.example").await, AlertDescription::NoApplicationProtocol);
    client.alpn_protocols.clear();
    assert_eq!(fixture.alert(&client, "new.example").await, AlertDescription::InternalError);
}

#[tokio::test]
async fn authority_finds_the_challenge_and_nothing_else() {
    let fixture = Fixture::new();
    fixture.source.challenge(ChallengeKind::TlsAlpn01, "new.example", "token.thumbprint");
    let mut client = fixture.client();
    client.dangerous().set_certificate_verifier(Arc::new(AnyCertificate));
    client.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
    let (connected, accepted) = fixture.connect(&client, "new.example").await;
    assert!(accepted.unwrap().is_none(), "closed after the handshake");
    let connected = connected.unwrap();
    let connection = connected.get_ref().1;
    assert_eq!(connection.alpn_protocol(), Some(ALPN_PROTOCOL));
    let leaf = &connection.peer_certificates().unwrap()[0];
    let digest = <sha2::Sha256 as sha2::Digest>::digest(b"token.thumbprint");
    assert!(leaf.windows(32).any(|window| window == &digest[..]), "the acmeIdentifier extension");
}

#[tokio::test]
async fn session_resumes_under_its_own_name_only() {
    let fixture = Fixture::new();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut client = ClientConfig::builder_with_protocol_versions(&[version])
            .with_root_certificates(fixture.roots.clone())
            .with_no_client_auth();
        client.resumption = Resumption::store(Arc::new(OneSession::default()));
        let mut kinds = Vec::new();
        for name in ["a.example", "a.example", "b.example", "b.example", "a.example"] {
            let connected = fixture.connect(&client, name).await.0.unwrap();
            kinds.push(connected.get_ref().1.handshake_kind().unwrap());
        }
        let expected = [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Full];
        assert_eq!(kinds, [&expected[..], &expected[1..]].concat(), "{version:?}");
    }
}

#[tokio::test]
async fn what_is_no_hello_fails() {
    let fixture = Fixture::new();
    let (mut near, far) = tokio::io::duplex(1024);
    near.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").await.unwrap();
    assert!(fixture.handshake.accept(far).await.is_err());
    assert_eq!(fixture.metrics.tls_refused.get(), 0);
}

/// Offers the last session to every server, whatever its name.
#[derive(Debug)]
struct OneSession(ClientSessionMemoryCache);

impl Default for OneSession {
    fn default() -> Self {
        Self(ClientSessionMemoryCache::new(8))
    }
}

fn any() -> ServerName<'static> {
    ServerName::try_from("any.example").unwrap()
}

impl ClientSessionStore for OneSession {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(any(), group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.0.kx_hint(&any())
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.0.set_tls12_session(any(), value);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.0.tls12_session(&any())
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.0.remove_tls12_session(&any());
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        // Only the newest counts.
        while self.0.take_tls13_ticket(&any()).is_some() {}
        self.0.insert_tls13_ticket(any(), value);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.0.take_tls13_ticket(&any())
    }
}

/// A certificate authority does not trust the certificate of a challenge; it reads it.
#[derive(Debug)]
struct AnyCertificate;

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

//! TLS clients for tests, and certificates that they trust.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A self-signed certificate with its key, in PEM.
#[derive(Debug, Clone)]
pub(crate) struct TestCertificate {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl TestCertificate {
    pub(crate) fn new(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { chain: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    /// A certificate whose time is over.
    pub(crate) fn expired(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut wanted = rcgen::CertificateParams::new(names).unwrap();
        (wanted.not_before, wanted.not_after) =
            (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(2020, 4, 1));
        let key = rcgen::KeyPair::generate().unwrap();
        Self { chain: wanted.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
    }

    /// Writes `cert.pem` and `key.pem`; gives their paths.
    pub(crate) fn write(&self, dir: &Path) -> [String; 2] {
        let paths = [dir.join("cert.pem"), dir.join("key.pem")];
        std::fs::write(&paths[0], &self.chain).unwrap();
        std::fs::write(&paths[1], &self.key).unwrap();
        paths.map(|path| path.display().to_string())
    }

    /// A client that trusts this certificate alone.
    pub(crate) fn client(&self, protocol: Option<&str>) -> ClientConfig {
        dropleaf::tls::install_provider();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.chain.as_bytes()).unwrap()).unwrap();
        let mut client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        client.alpn_protocols = protocol.iter().map(|name| name.as_bytes().to_vec()).collect();
        client
    }
}

pub(crate) async fn connect(
    client: &ClientConfig,
    port: u16,
    name: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(client.clone())).connect(name, stream).await
}

/// Sends one HTTP/1.1 request and returns the whole response.
pub(crate) async fn exchange(
    stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin),
    host: &str,
    path: &str,
) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8(response).unwrap()
}

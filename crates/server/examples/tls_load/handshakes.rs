//! Full TLS 1.3 handshakes, one connection each. The certificate is not verified, so that the server has more to do than
//! the client.

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) async fn run(address: SocketAddr, names: &str, count: usize, concurrent: usize) -> Result<Value> {
    let names =
        names.lines().map(|name| ServerName::try_from(name.to_owned())).collect::<Result<Vec<_>, _>>()?;
    let mut client = ClientConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Unverified))
        .with_no_client_auth();
    client.resumption = Resumption::disabled();
    let connector = TlsConnector::from(Arc::new(client));
    let start = Instant::now();
    let mut times: Vec<Duration> = stream::iter(0..count)
        .map(|number| {
            let name = names[number % names.len()].clone();
            let connector = &connector;
            async move {
                let start = Instant::now();
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                connector.connect(name.clone(), stream).await.with_context(|| format!("{name:?}"))?;
                anyhow::Ok(start.elapsed())
            }
        })
        .buffer_unordered(concurrent)
        .try_collect()
        .await?;
    let seconds = start.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    Ok(json!({ "count": count, "seconds": seconds, "p50": at(50), "p99": at(99) }))
}

#[derive(Debug)]
struct Unverified;

impl ServerCertVerifier for Unverified {
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
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

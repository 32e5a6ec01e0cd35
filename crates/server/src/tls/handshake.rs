//! The TLS handshake of one connection: reads the client's hello, chooses the certificate, and refuses names that are not
//! served with an alert.

use super::served::{Choice, ServedCertificates};
use super::server_name::normalize;
use crate::acme::ALPN_PROTOCOL;
use crate::metrics::Metrics;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

/// Fatal alerts. RFC 8446 §6.
const UNRECOGNIZED_NAME: u8 = 112;
const INTERNAL_ERROR: u8 = 80;
const NO_APPLICATION_PROTOCOL: u8 = 120;

#[derive(Debug, Clone)]
pub(crate) struct TlsHandshake {
    certificates: Arc<ServedCertificates>,
    metrics: Arc<Metrics>,
}

/// A connection after its handshake.
#[derive(Debug)]
pub(crate) struct Encrypted<S> {
    pub(crate) stream: TlsStream<S>,
    /// In lower case; none if the client sent none.
    pub(crate) server_name: Option<Box<str>>,
    pub(crate) is_http2: bool,
}

impl TlsHandshake {
    pub(crate) fn new(certificates: Arc<ServedCertificates>, metrics: Arc<Metrics>) -> Self {
        Self { certificates, metrics }
    }

    /// None: the connection is finished, because it was refused or only checked a challenge.
    pub(crate) async fn accept<S>(&self, stream: S) -> io::Result<Option<Encrypted<S>>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let start = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream).await?;
        let hello = start.client_hello();
        let server_name = hello.server_name().map(normalize);
        let is_authority = hello.alpn().is_some_and(|mut offered| offered.any(|name| name == ALPN_PROTOCOL));
        let choice = self.certificates.choose(server_name.as_deref(), is_authority).await;
        let alert = match choice {
            Choice::Serve(config) => {
                let stream = start.into_stream(config).await?;
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                return Ok(Some(Encrypted { stream, server_name, is_http2 }));
            }
            Choice::Prove(config) => {
                let mut stream = start.into_stream(config).await?;
                stream.shutdown().await?;
                return Ok(None);
            }
            Choice::UnknownName => UNRECOGNIZED_NAME,
            Choice::NoCertificate if is_authority => NO_APPLICATION_PROTOCOL,
            Choice::NoCertificate => INTERNAL_ERROR,
        };
        self.metrics.tls_refused.inc();
        tracing::debug!(?server_name, alert, "TLS handshake refused");
        // Nothing is encrypted yet, so the alert is a record of two bytes: its level (fatal) and its description.
        let mut io = start.io;
        io.write_all(&[21, 3, 3, 0, 2, 2, alert]).await?;
        io.shutdown().await?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests;

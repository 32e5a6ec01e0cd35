//! One HTTP/1.1 request to a public address of this server, over a connection of its own: it knows its own end of the connection
//! and when each part of the response arrived. Certificates are not verified here; that is a check of its own.

use super::presented;
use bytes::Bytes;
use dropleaf_core::host::Origin;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// The address that a request claims to come from (TEST-NET-1, RFC 5737).
pub(super) const CLAIMED: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 77));

const CONNECT: Duration = Duration::from_secs(5);
/// The longest response that is read.
const RESPONSE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Exchanged {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    pub(super) local: SocketAddr,
    /// The time from the first part of the body to the last.
    pub(super) spread: Duration,
}

/// Connects to the first address that answers. The reason of a failure is a part of a sentence.
pub(super) async fn connect(addresses: &[IpAddr], port: u16) -> Result<TcpStream, String> {
    let mut last = "its name has no address".to_owned();
    for ip in addresses.iter().take(4) {
        match tokio::time::timeout(CONNECT / 2, TcpStream::connect(SocketAddr::new(*ip, port))).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = format!("{ip} port {port}: {}", error.kind()),
            Err(_) => last = format!("{ip} port {port} does not respond"),
        }
    }
    Err(last)
}

/// Sends a request to an origin of ours.
pub(super) async fn send(
    origin: &Origin,
    addresses: &[IpAddr],
    request: Request<Full<Bytes>>,
) -> Result<Exchanged, String> {
    let stream = connect(addresses, origin.port).await?;
    let local = stream.local_addr().map_err(|error| error.to_string())?;
    if origin.scheme == "https" {
        let (stream, _) = presented::handshake(stream, &origin.host).await?;
        return exchange(stream, request, local).await;
    }
    exchange(stream, request, local).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
    local: SocketAddr,
) -> Result<Exchanged, String> {
    let failed = |error: hyper::Error| {
        if error.is_incomplete_message() || error.is_canceled() {
            "the connection was closed".to_owned()
        } else {
            format!("the connection failed ({error})")
        }
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let asked = async {
        let response = sender.send_request(request).await.map_err(failed)?;
        let status = response.status();
        let mut body = response.into_body();
        let (mut bytes, mut first) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(failed)?.into_data() else { continue };
            first.get_or_insert_with(Instant::now);
            bytes.extend_from_slice(&data);
            if bytes.len() > RESPONSE_BYTES {
                break;
            }
        }
        let spread = first.map_or(Duration::ZERO, |first| first.elapsed());
        Ok(Exchanged { status, body: bytes, local, spread })
    };
    // The connection does its work while the request waits for the response.
    let (mut connection, mut asked) = (std::pin::pin!(connection), std::pin::pin!(asked));
    tokio::select! {
        biased;
        done = &mut asked => done,
        _ = &mut connection => match tokio::time::timeout(CONNECT, asked).await {
            Ok(done) => done,
            Err(_) => Err("the connection was closed".to_owned()),
        },
    }
}

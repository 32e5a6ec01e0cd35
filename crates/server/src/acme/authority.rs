//! HTTP requests to the certificate authority: bounded in time and size, without redirects and proxies.

use anyhow::{Context, Result};
use bytes::{Bytes, BytesMut};
use http::header::RETRY_AFTER;
use http_body_util::BodyExt;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use std::cell::Cell;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest response. Chains and directories have a few kilobytes.
const RESPONSE_BYTES: usize = 256 * 1024;

tokio::task_local! {
    /// The pause in seconds that the last refused request of the current order asked for. The library that speaks the protocol
    /// does not pass this header on.
    static RETRY_AFTER_SECONDS: Cell<Option<i64>>;
}

#[derive(Debug, Clone)]
pub(super) struct AuthorityClient(reqwest::Client);

impl AuthorityClient {
    /// Trusts the system's authorities, or only the certificates in this file.
    pub(super) fn new(ca_file: Option<&Path>) -> Result<Self> {
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT);
        if let Some(path) = ca_file {
            let pem = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let roots = reqwest::Certificate::from_pem_bundle(&pem);
            let roots = roots.with_context(|| format!("{} is not a PEM certificate", path.display()))?;
            builder = builder.tls_certs_only(roots);
        }
        Ok(Self(builder.build().context("cannot create the HTTP client")?))
    }

    async fn exchange(self, request: http::Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Error> {
        let (parts, body) = request.into_parts();
        // The body is in memory.
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let request = self.0.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body);
        let mut response = request.send().await.map_err(unreachable)?;
        let mut received = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            received.extend_from_slice(&piece);
            if received.len() > RESPONSE_BYTES {
                return Err(Error::Other("the response is too long".into()));
            }
        }
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        if status.is_client_error() || status.is_server_error() {
            let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
            // Outside an order nobody asks.
            let _ = RETRY_AFTER_SECONDS.try_with(|cell| cell.set(seconds));
        }
        let mut answer = http::Response::new(());
        *answer.status_mut() = status;
        *answer.headers_mut() = headers;
        Ok(BytesResponse { parts: answer.into_parts().0, body: Box::new(received.freeze()) })
    }
}

impl HttpClient for AuthorityClient {
    fn request(
        &self,
        request: http::Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        Box::pin(self.clone().exchange(request))
    }
}

/// Runs requests and returns also the pause that the last refused one asked for.
pub(super) async fn with_retry_after<T>(work: impl Future<Output = T>) -> (T, Option<i64>) {
    RETRY_AFTER_SECONDS
        .scope(Cell::new(None), async {
            let done = work.await;
            (done, RETRY_AFTER_SECONDS.with(Cell::get))
        })
        .await
}

/// An error with its causes.
fn unreachable(error: reqwest::Error) -> Error {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    Error::Other(text.into())
}

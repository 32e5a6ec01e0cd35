//! One HTTP request to a server that the operator configured, and its response: with a timeout, of bounded size, without
//! redirects. Neither is ever logged or interpreted here.

use anyhow::{Context, Result};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use reqwest::{Client, RequestBuilder};
use std::error::Error;
use std::time::Duration;

/// The longest response of a facilitator, a card processor or a content check.
pub(super) const ANSWER_BYTES: usize = 256 * 1024;
const CONNECT: Duration = Duration::from_secs(5);

/// A client that follows no redirects and uses no proxy. Connections are reused.
pub(super) fn client() -> Result<Client> {
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT)
        .user_agent("dropleaf")
        .build()
        .context("cannot create the HTTP client")
}

/// A complete response.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Status and a body of at most `limit` bytes, or the reason for the log why there is none.
pub(super) async fn exchange(
    request: RequestBuilder,
    timeout: Duration,
    limit: usize,
) -> Result<(u16, Bytes), String> {
    exchange_with_headers(request, timeout, limit).await.map(|response| (response.status, response.body))
}

/// The same with the headers of the response.
pub(super) async fn exchange_with_headers(
    request: RequestBuilder,
    timeout: Duration,
    limit: usize,
) -> Result<Response, String> {
    let request = request.header(http::header::ACCEPT, "application/json").timeout(timeout);
    let mut response = request.send().await.map_err(why)?;
    let status = response.status();
    // Following a redirect would send the request to a server that the operator did not configure.
    if status.is_redirection() {
        return Err(format!("it returned a redirect ({status}), which is not followed"));
    }
    let headers = std::mem::take(response.headers_mut());
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(why)? {
        body.extend_from_slice(&piece);
        if body.len() > limit {
            return Err(format!("its response is longer than {limit} bytes"));
        }
    }
    Ok(Response { status: status.as_u16(), headers, body: body.freeze() })
}

/// An error and its causes, without the URL, which may contain a key.
fn why(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

//! Answers the requests that this server sends to itself through its public address, with how they arrived. Only for a token
//! that is signed with the server's secret, and only once for each: for everyone else the path does not exist.

use super::{Dispatcher, OutBody};
use crate::connection::Connection;
use crate::doctor;
use axum::body::Body;
use bytes::Bytes;
use dropleaf_app::App;
use dropleaf_core::self_check::TOKEN_HEADER;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderValue, Response, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Between the two parts of a streamed answer.
pub(crate) const PAUSE: Duration = Duration::from_millis(600);
/// A body that takes longer is counted as far as it came.
const BODY_PATIENCE: Duration = Duration::from_secs(15);
/// Like payment terms, the largest headers that the server sends.
const PADDING: usize = 8000;
/// Nonces that are remembered. Each comes with the server's signature, so that only its operator can fill the list.
const REMEMBERED: usize = 1024;
/// Characters of a header that are repeated in the answer, and lines of a repeated one.
const CHARS: usize = 200;
const LINES: usize = 8;

/// How a request arrived.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SelfCheckJson {
    pub(crate) proof: String,
    pub(crate) host: String,
    pub(crate) tls: bool,
    pub(crate) peer: String,
    pub(crate) forwarded_for: Vec<String>,
    pub(crate) forwarded_proto: Option<String>,
    pub(crate) via: bool,
    pub(crate) body_bytes: u64,
    pub(crate) version: String,
    pub(crate) open_files: Option<u64>,
}

/// The nonces that were used.
#[derive(Debug, Default)]
pub(super) struct SelfChecks(Mutex<VecDeque<String>>);

impl SelfChecks {
    /// The nonce of a request with a valid token that was not used before.
    pub(super) fn accept(&self, app: &App, head: &Parts) -> Option<String> {
        let token = head.headers.get(TOKEN_HEADER)?.to_str().ok()?;
        let nonce = app.verify_self_check(token)?.to_owned();
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.contains(&nonce) {
            return None;
        }
        if used.len() >= REMEMBERED {
            used.pop_front();
        }
        used.push_back(nonce.clone());
        Some(nonce)
    }
}

pub(super) async fn answer(
    dispatcher: &Dispatcher,
    nonce: &str,
    authority: &str,
    head: &Parts,
    body: Incoming,
    connection: &Arc<Connection>,
) -> Response<OutBody> {
    let limit = dispatcher.resolved.config.limits.upload_bytes;
    let body_bytes = count(body, limit).await;
    let text = |value: &HeaderValue| value.to_str().map(shorten).unwrap_or_default();
    let forwarded = head.headers.get_all("x-forwarded-for").iter().take(LINES).map(text).collect();
    let json = SelfCheckJson {
        proof: dispatcher.app.self_check_proof(nonce),
        host: shorten(authority),
        tls: connection.server_name.is_some(),
        peer: connection.peer.to_string(),
        forwarded_for: forwarded,
        forwarded_proto: head.headers.get("x-forwarded-proto").map(text),
        via: head.headers.contains_key(header::VIA),
        body_bytes,
        version: doctor::VERSION.to_owned(),
        open_files: doctor::open_files(),
    };
    let json = serde_json::to_string(&json).unwrap_or_default() + "\n";
    let mut response = match head.uri.query() {
        Some("stream") => Response::new(OutBody::Boxed(in_two_parts(json))),
        _ => Response::new(OutBody::from(json)),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if head.uri.query() == Some("headers")
        && let Ok(padding) = HeaderValue::from_str(&"x".repeat(PADDING))
    {
        headers.insert("x-dropleaf-padding", padding);
    }
    response
}

fn shorten(text: &str) -> String {
    text.chars().take(CHARS).collect()
}

/// The length of a body; nothing of it is kept.
async fn count(body: Incoming, limit: u64) -> u64 {
    let mut body = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX));
    let mut bytes = 0;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
    };
    let _ = tokio::time::timeout(BODY_PATIENCE, reading).await;
    bytes
}

/// White space at once, the text after a pause: a proxy that passes on what it gets sends two parts.
fn in_two_parts(text: String) -> Body {
    let parts = [(Duration::ZERO, Bytes::from_static(b" \n")), (PAUSE, Bytes::from(text))];
    Body::from_stream(stream::unfold(parts.into_iter(), |mut parts| async move {
        let (pause, part) = parts.next()?;
        tokio::time::sleep(pause).await;
        Some((Ok::<_, Infallible>(part), parts))
    }))
}

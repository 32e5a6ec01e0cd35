//! Sends one HTTP request to `/mcp` and classifies the response. Knows headers and statuses, but not sessions or retries.

use super::failure::{ExchangeFailure, Refusal};
use super::lines::LONGEST;
use crate::client::builder;
use crate::error::{ClientError, visible};
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::sync::Mutex;
use std::time::Duration;

const SESSION_ID: &str = "mcp-session-id";
/// TCP keepalive, to detect a peer that vanished without closing the connection; streams have no timeout.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// At most this much of an error response is read.
const REFUSAL_BYTES: usize = 1 << 16;

/// Returns the API key; called again when the server refuses the current one, because the user may have logged in meanwhile.
pub(super) type Keys = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// The MCP headers of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct McpHeaders {
    pub version: Option<String>,
    pub session: Option<String>,
    /// Since 2026-07-28: the JSON-RPC method and the name of the tool, prompt or resource.
    pub method: Option<String>,
    pub name: Option<String>,
}

#[derive(Debug)]
pub(super) enum Reply {
    /// The server accepted a notification or an answer.
    Accepted,
    Json(Vec<u8>),
    Stream(Response),
}

pub(super) struct Wire {
    http: reqwest::Client,
    pub server: String,
    url: String,
    keys: Keys,
    key: Mutex<Option<String>>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Wire {
    pub(super) fn new(server: &str, keys: Keys) -> Result<Self, ClientError> {
        let server = crate::client::server_name(server)?;
        let http = builder()
            .tcp_keepalive(KEEP_ALIVE)
            .build()
            .map_err(|error| ClientError::unreachable(&server, &error))?;
        let key = Mutex::new(keys());
        Ok(Self { http, url: format!("{server}/mcp"), server, keys, key })
    }

    /// Sends a message. Also returns the id of the session that the response starts, if any.
    pub(super) async fn post(
        &self,
        mcp_headers: &McpHeaders,
        line: &Bytes,
    ) -> Result<(Reply, Option<String>), ExchangeFailure> {
        let request = || {
            self.request(Method::POST, mcp_headers)
                .header(ACCEPT, "application/json, text/event-stream")
                .header(CONTENT_TYPE, "application/json")
                .body(line.clone())
        };
        let response = self.send(request, mcp_headers).await?;
        let session = text(response.headers(), SESSION_ID);
        let kind = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
        let reply = match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Reply::Accepted,
            _ if is_media_type(&kind, "text/event-stream") => Reply::Stream(response),
            _ if is_media_type(&kind, "application/json") => Reply::Json(whole(response, LONGEST).await?),
            status => return Err(ExchangeFailure::NotMcp { status: status.as_u16() }),
        };
        Ok((reply, session))
    }

    /// Opens the session's notification stream, or resumes a stream after the event `after`.
    pub(super) async fn get(
        &self,
        mcp_headers: &McpHeaders,
        after: Option<&str>,
    ) -> Result<Response, ExchangeFailure> {
        let request = || {
            let request = self.request(Method::GET, mcp_headers).header(ACCEPT, "text/event-stream");
            match after {
                Some(id) => request.header("last-event-id", id),
                None => request,
            }
        };
        let response = self.send(request, mcp_headers).await?;
        let kind = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
        if is_media_type(&kind, "text/event-stream") {
            return Ok(response);
        }
        Err(ExchangeFailure::NotMcp { status: response.status().as_u16() })
    }

    /// Ends a session. Errors are ignored, because the bridge is shutting down.
    pub(super) async fn delete(&self, mcp_headers: &McpHeaders) {
        let _ = self.send(|| self.request(Method::DELETE, mcp_headers), mcp_headers).await;
    }

    fn request(&self, method: Method, mcp_headers: &McpHeaders) -> RequestBuilder {
        let mut request = self.http.request(method, &self.url);
        if let Some(key) = self.held().as_deref() {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let headers = [
            ("mcp-protocol-version", &mcp_headers.version),
            (SESSION_ID, &mcp_headers.session),
            ("mcp-method", &mcp_headers.method),
            ("mcp-name", &mcp_headers.name),
        ];
        for (name, value) in headers {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    /// Sends a request and returns a successful response. After a 401 the key is reloaded and the request sent once more.
    async fn send(
        &self,
        request: impl Fn() -> RequestBuilder,
        mcp_headers: &McpHeaders,
    ) -> Result<Response, ExchangeFailure> {
        let used = self.held();
        let mut response = request().send().await.map_err(|error| away(&self.server, &error))?;
        if response.status() == StatusCode::UNAUTHORIZED && self.has_another_key(used.as_deref()) {
            response = request().send().await.map_err(|error| away(&self.server, &error))?;
        }
        if response.status().is_success() {
            return Ok(response);
        }
        if response.status() == StatusCode::NOT_FOUND && mcp_headers.session.is_some() {
            return Err(ExchangeFailure::SessionLost);
        }
        Err(refusal(response).await)
    }

    fn held(&self) -> Option<String> {
        self.key.lock().ok()?.clone()
    }

    /// Whether a key other than the one just refused is available by now.
    fn has_another_key(&self, refused: Option<&str>) -> bool {
        let Ok(mut held) = self.key.lock() else { return false };
        if held.as_deref() == refused
            && let Some(fresh) = (self.keys)()
        {
            *held = Some(fresh);
        }
        held.as_deref() != refused
    }
}

fn away(server: &str, error: &reqwest::Error) -> ExchangeFailure {
    let sent = !error.is_connect();
    match ClientError::unreachable(server, error) {
        ClientError::Unreachable { why, .. } => ExchangeFailure::Unreachable { why: visible(&why), sent },
        other => ExchangeFailure::Unreachable { why: other.to_string(), sent },
    }
}

async fn whole(mut response: Response, longest: usize) -> Result<Vec<u8>, ExchangeFailure> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|_| ExchangeFailure::Interrupted)? {
        if body.len() + piece.len() > longest {
            return Err(ExchangeFailure::TooLong);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

async fn refusal(response: Response) -> ExchangeFailure {
    let status = response.status().as_u16();
    let challenge = text(response.headers(), WWW_AUTHENTICATE.as_str());
    let retry_after = text(response.headers(), RETRY_AFTER.as_str()).and_then(|value| value.parse().ok());
    let body = whole(response, REFUSAL_BYTES).await.unwrap_or_default();
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    match json.get("error") {
        Some(error) if error.is_object() => return ExchangeFailure::JsonRpc(error.clone()),
        Some(Value::String(code)) => {
            let description = json.get("error_description").and_then(Value::as_str).unwrap_or(code);
            return ExchangeFailure::Refused(Refusal {
                status,
                code: visible(code),
                description: visible(description),
                scope: challenge.as_deref().and_then(missing_scope),
                retry_after,
            });
        }
        _ => {}
    }
    // The MCP library on the server sends some errors as plain text.
    match std::str::from_utf8(&body) {
        Ok(words) if status < 500 && !words.is_empty() && !words.contains('<') => {
            ExchangeFailure::Refused(Refusal {
                status,
                description: visible(words),
                retry_after,
                ..Refusal::default()
            })
        }
        _ => ExchangeFailure::NotMcp { status },
    }
}

/// The scopes in an `insufficient_scope` challenge.
fn missing_scope(challenge: &str) -> Option<String> {
    if !challenge.contains("error=\"insufficient_scope\"") {
        return None;
    }
    let (_, rest) = challenge.split_once("scope=\"")?;
    rest.split('"').next().map(visible)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Whether a `Content-Type` has this media type, ignoring case and parameters.
fn is_media_type(value: &str, name: &str) -> bool {
    value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_compared_without_case_and_parameters() {
        for same in ["application/json", "Application/JSON", "application/json ; charset=utf-8"] {
            assert!(is_media_type(same, "application/json"), "{same}");
        }
        for other in ["", "application/jsonp", "text/plain; a=application/json"] {
            assert!(!is_media_type(other, "application/json"), "{other}");
        }
    }

    #[test]
    fn challenge_names_the_scope_that_is_missing() {
        let challenge =
            "Bearer error=\"insufficient_scope\", scope=\"sites:write\", resource_metadata=\"https://x\"";
        assert_eq!(missing_scope(challenge).as_deref(), Some("sites:write"));
        assert_eq!(missing_scope("Bearer resource_metadata=\"https://x\", scope=\"sites:read\""), None);
    }

    #[test]
    fn refused_key_is_looked_up_once_more() {
        let keys = Mutex::new(vec![None, Some("new"), Some("old"), Some("old")]);
        let next = move || keys.lock().unwrap().pop().flatten().map(str::to_owned);
        let wire = Wire::new("http://localhost:1", Box::new(next)).unwrap();
        assert!(!wire.has_another_key(Some("old")), "still the same");
        assert!(wire.has_another_key(Some("old")));
        assert!(wire.has_another_key(Some("old")), "another request has found it already");
        assert_eq!(wire.held().as_deref(), Some("new"));
        assert!(!wire.has_another_key(Some("new")), "none at all is no better");
        assert!(!format!("{wire:?}").contains("new"));
    }
}

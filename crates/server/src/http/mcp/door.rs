//! Before the library: the credential, the origin, whose session it is, and whether the credential's scopes allow what
//! the message asks. Inside a tool it would be too late to answer with a status that makes clients ask for more.

use super::{Mcp, sessions, tools};
use crate::http::api::{ApiError, ApiState};
use crate::http::error::{self, Wants};
use crate::http::extract::{Incoming, bearer, client_ip, insufficient};
use crate::http::oauth::Challenge;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dropleaf_app::{Caller, Identity};
use dropleaf_core::host::Origin;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Code, Error, Result};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

const SESSION_ID: &str = "mcp-session-id";
/// The code of JSON-RPC for a text that is no JSON.
const PARSE_ERROR: i32 = -32700;

/// Who sent a message, on its way to the tools.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    pub who: Identity,
    pub caller: Caller,
}

/// As much of a message as the door looks at.
#[derive(Debug, Deserialize)]
struct Peek {
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Option<PeekParams>,
}

#[derive(Debug, Deserialize)]
struct PeekParams {
    #[serde(default)]
    name: Option<String>,
}

/// The longest message: escapes can double the size of a page.
pub(super) fn most_bytes(state: &ApiState) -> u64 {
    state.resolved.config.limits.upload_bytes * 2 + (1 << 20)
}

pub(super) async fn answer(State(mcp): State<Arc<Mcp>>, request: Request) -> Response {
    match pass(&mcp, request).await {
        Ok(response) => response,
        Err(ApiError(error)) => refuse(&mcp.state, &error),
    }
}

async fn pass(mcp: &Mcp, request: Request) -> std::result::Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let state = &mcp.state;
    check_origin(&parts.headers, &state.resolved.hosts.base)?;
    let who = bearer(&parts, state).await?.ok_or_else(|| Error::plain(Code::AuthRequired))?;
    if let Some(id) = parts.headers.get(SESSION_ID) {
        let known = match id.to_str() {
            Ok(id) => state.app.may_use_mcp_session(&who, id).await?,
            Err(_) => false,
        };
        if !known {
            return Err(Error::new(Code::NotFound, "There is no such MCP session; initialize again.").into());
        }
    }
    let body = if parts.method == Method::POST {
        let bytes = Incoming { state, headers: &parts.headers, body }.bytes(most_bytes(state)).await?;
        match serde_json::from_slice::<Peek>(&bytes) {
            Ok(peek) => check_scope(&peek, &who)?,
            // A list of messages is no object: the library knows what to say.
            Err(error) if error.is_data() => {}
            Err(error) => return Ok(no_json(&error)),
        }
        bytes
    } else {
        Bytes::new()
    };
    Ok(hand_over(mcp, &mut parts, who, body).await)
}

async fn hand_over(mcp: &Mcp, parts: &mut Parts, who: Identity, body: Bytes) -> Response {
    let caller = Caller {
        account: Some(who.account.clone()),
        grant_id: who.grant_id.clone(),
        ip: client_ip(parts, &mcp.state),
    };
    // The credential has done its work; nothing further in needs to see it.
    parts.headers.remove(header::AUTHORIZATION);
    parts.extensions.insert(Sender { who: who.clone(), caller });
    let mut service = mcp.service.clone();
    service.config.session_store = Some(Arc::new(sessions::Own { app: Arc::clone(&mcp.state.app), who }));
    let request = Request::from_parts(parts.clone(), Body::from(body));
    service.handle(request).await.map(Body::new)
}

/// Pages of other sites may not speak here in a browser, whatever they know; programs send no origin. Our own may, and
/// where the service itself is on this machine, so may whatever else runs on it.
fn check_origin(headers: &HeaderMap, base: &Origin) -> Result<()> {
    let Some(value) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = value.to_str().ok().and_then(Origin::parse);
    let local = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let welcome = origin.is_some_and(|origin| origin == *base || (local(&base.host) && local(&origin.host)));
    if welcome { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

fn check_scope(peek: &Peek, who: &Identity) -> Result<()> {
    let needs = match peek.method.as_str() {
        "tools/call" => {
            let name = peek.params.as_ref().and_then(|params| params.name.as_deref()).unwrap_or_default();
            // An unknown tool is refused behind the door, by its name.
            tools::find(name).map(|tool| tool.needs)
        }
        method if method.starts_with("resources/") || method.starts_with("subscriptions/") => {
            Some(Scope::Read)
        }
        _ => None,
    };
    match needs {
        Some(needs) if !who.scopes.has(needs) => Err(insufficient(needs)),
        _ => Ok(()),
    }
}

fn no_json(error: &serde_json::Error) -> Response {
    let message = format!("The body is not JSON: {error}");
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": PARSE_ERROR, "message": message}});
    (http::StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}

/// Its own document, not the API's: clients compare the resource in it with the address they asked.
fn refuse(state: &ApiState, error: &Error) -> Response {
    let mut response = error::respond(error, Wants::Json).map(Body::new);
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", state.resolved.hosts.base.url());
    let challenge = Challenge::of(error).map(|challenge| challenge.value(&metadata));
    if let Some(value) = challenge.and_then(|value| HeaderValue::from_str(&value).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

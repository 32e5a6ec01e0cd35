//! Handles requests to `/mcp` before the MCP library does: checks the origin, the credential, the owner of the session
//! and the scopes. A tool could no longer answer with the HTTP status that makes clients request more scopes.

use super::answer_id::AnswerId;
use super::handler::Handler;
use super::headers::{
    LAST_EVENT_ID, SESSION_ID, VERSION, can_resume, canonical_types, check_needs_session, is_legacy,
};
use super::kept_answer::{self, KeptAnswer};
use super::message::{self, Peek, peek};
use super::sender::Sender;
use super::stream_holder::StreamHolder;
use super::subscription::Subscription;
use super::{Mcp, answer_limit, event_text, initialize, replayed_answer, rpc, sessions, streams, tools};
use crate::http::api_error::ApiError;
use crate::http::challenge::Challenge;
use crate::http::error::{self, Wants};
use crate::http::extract::{Incoming, bearer, bearer_text, client_ip, require_scope};
use crate::http::foreign_origin::is_allowed_origin;
use crate::http::media_type;
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dropleaf_app::{Caller, Identity};
use dropleaf_core::host::Origin;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Code, Error, Result};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use rmcp::model::ProtocolVersion;
use serde_json::Value;
use std::sync::{Arc, PoisonError};
use tokio::time::Instant;

const LISTEN: &str = "subscriptions/listen";

pub(super) async fn answer(State(mcp): State<Arc<Mcp>>, request: Request) -> Response {
    match handle(&mcp, request).await {
        Ok(response) => response,
        Err(ApiError(error)) => refuse(&mcp.state, &error),
    }
}

async fn handle(mcp: &Mcp, request: Request) -> std::result::Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let state = &mcp.state;
    check_origin(&parts.headers, &state.resolved.hosts.base, &state.resolved.mcp_origins)?;
    let who = bearer(&parts, state).await?.ok_or_else(|| Error::plain(Code::AuthRequired))?;
    let session = own_session(state, &mut parts.headers, &who).await?;
    if session.is_none() && is_legacy(&parts.headers) {
        check_needs_session(&parts)?;
    }
    canonical_types(&mut parts.headers);
    let sent = bearer_text(&parts).unwrap_or_default();
    let holder = |who: &Identity, session| StreamHolder { who: who.clone(), bearer: sent.clone(), session };
    if let Some(id) = session.as_ref().filter(|_| opens_stream(&parts)) {
        let holder = holder(&who, session.clone());
        let last_event = parts.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
        if last_event == Some(event_text::END) {
            let detail = "The stream has ended with its answer: there is nothing to resume.";
            return Err(Error::new(Code::MethodNotAllowed, detail).into());
        }
        return Ok(match last_event.and_then(AnswerId::parse) {
            Some(answer) => replayed_answer::open(mcp, holder, id.clone(), answer)?,
            None => streams::open(mcp, holder, id.clone())?,
        });
    }
    let (body, peek) = if parts.method == Method::POST {
        let limit = message::limit(who.scopes, mcp.longest());
        let incoming = Incoming { state, headers: &parts.headers, body };
        let (bytes, share) = incoming.json(limit, || message::too_long(limit.raw)).await?;
        // Held while the message is processed.
        parts.extensions.insert(Arc::new(share));
        match peek(&bytes) {
            Ok(peek) => (bytes, peek),
            Err(response) => return Ok(*response),
        }
    } else {
        (Bytes::new(), Peek::default())
    };
    check_scope(&peek, &who)?;
    peek.check(&body)?;
    let body = if peek.method == "initialize" { initialize::trim(body) } else { body };
    let mut handler = Handler::new(state.clone());
    let subscribes = peek.method == LISTEN && session.is_none();
    if subscribes {
        let place = mcp.streams.take(&who.account.id, None)?;
        let subscription = Subscription::new(state, holder(&who, None), place, peek.resources()).await?;
        handler = handler.subscription(subscription);
    }
    // Only tools that write change something; a call of another can simply be sent again.
    let reads = |name: &str| tools::find(name).is_some_and(|tool| tool.hints.read_only);
    let writes = peek.tool().is_some_and(|name| !reads(name));
    let resumable = writes && can_resume(&parts.headers);
    let id = peek.id;
    let answer_id = id.as_ref().filter(|_| resumable).and_then(|id| AnswerId::new(&state.app, id));
    let kept = answer_id.zip(session.clone());
    let kept = kept.map(|(id, session)| KeptAnswer { id, who: who.clone(), session });
    let until = Instant::now() + mcp.patience();
    let response = forward(mcp, &mut parts, handler, who, session, body).await?;
    if parts.method == Method::DELETE && response.status() == StatusCode::ACCEPTED {
        // The session has already ended; the library answers 202 as if it were still to be done.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let response = with_json_error(response, &parts, id.as_ref()).await;
    if subscribes {
        return Ok(response);
    }
    let response = answer_limit::limit(response, id, until);
    Ok(match kept {
        Some(kept) => kept_answer::keep(mcp, response, kept),
        None => event_text::without_ids(response),
    })
}

/// The session that the request names, if it belongs to the caller. The newest revision has no sessions.
async fn own_session(state: &ApiState, headers: &mut HeaderMap, who: &Identity) -> Result<Option<String>> {
    if !is_legacy(headers) {
        headers.remove(SESSION_ID);
    }
    let Some(id) = headers.get(SESSION_ID) else { return Ok(None) };
    let id = id.to_str().unwrap_or_default().to_owned();
    if state.app.has_mcp_session(who, &id).await? {
        return Ok(Some(id));
    }
    Err(Error::new(Code::NotFound, "This MCP session does not exist. Initialize again."))
}

/// Whether a client of the older revisions opens the stream of its session, or resumes the answer to a message.
fn opens_stream(parts: &Parts) -> bool {
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let known = |version: &str| ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version);
    parts.method == Method::GET
        && media_type::accepts(&parts.headers, media_type::EVENT_STREAM)
        && text(VERSION).is_none_or(known)
}

async fn forward(
    mcp: &Mcp,
    parts: &mut Parts,
    handler: Handler,
    who: Identity,
    session: Option<String>,
    body: Bytes,
) -> Result<Response> {
    let caller = Caller::of(who.clone(), client_ip(parts, &mcp.state));
    // The credential is verified; nothing further in needs to see it.
    parts.headers.remove(header::AUTHORIZATION);
    parts.extensions.insert(Sender { who: who.clone(), caller });
    let deletion_error = Arc::default();
    let store = sessions::Own {
        deletion_error: Arc::clone(&deletion_error),
        app: Arc::clone(&mcp.state.app),
        who,
        sessions: Arc::clone(&mcp.sessions),
        streams: Arc::clone(&mcp.streams),
    };
    let _turn = match &session {
        Some(id) => mcp.restoring.turn(&mcp.sessions, id).await,
        None => None,
    };
    let request = Request::from_parts(parts.clone(), Body::from(body));
    let response = mcp.service(handler, store).handle(request).await.map(Body::new);
    let failed = deletion_error.lock().unwrap_or_else(PoisonError::into_inner).take();
    failed.map_or(Ok(response), Err)
}

/// Web pages of other sites may not call `/mcp` from a browser, even with a credential; programs send no origin.
fn check_origin(headers: &HeaderMap, base: &Origin, allowed: &[String]) -> Result<()> {
    let welcome =
        |value: &HeaderValue| value.to_str().is_ok_and(|text| is_allowed_origin(text, base, allowed));
    if headers.get_all(header::ORIGIN).iter().all(welcome) {
        return Ok(());
    }
    let detail = "Web pages of this origin cannot use /mcp. The setting mcp.allowed_origins lists the allowed origins.";
    Err(Error::new(Code::CrossSite, detail))
}

fn check_scope(peek: &Peek, who: &Identity) -> Result<()> {
    let needs = match (peek.tool(), peek.method.as_str()) {
        // An unknown tool is refused later, by its name.
        (Some(name), _) => tools::find(name).map(|tool| tool.needs),
        (None, LISTEN) => Some(Scope::Read),
        (None, method) if method.starts_with("resources/") => Some(Scope::Read),
        _ => None,
    };
    needs.map_or(Ok(()), |needs| require_scope(who, needs))
}

/// Replaces the library's plain-text errors with JSON: in the shape of the API or, for a JSON body that is not a
/// message, in the shape of JSON-RPC.
async fn with_json_error(response: Response, parts: &Parts, id: Option<&Value>) -> Response {
    let status = response.status();
    let json = |headers: &HeaderMap| media_type::is(headers, media_type::JSON);
    if status.is_success() || json(response.headers()) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let text = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && json(&parts.headers) {
        // The library's text names its internal types.
        let why = "The body is not a valid message: `jsonrpc` must be \"2.0\", `method` a string, and `params` an object with \
                   the fields of the method.";
        return rpc::no_message(id, rpc::INVALID_REQUEST, why);
    }
    let error = match status {
        StatusCode::NOT_FOUND => {
            Error::new(Code::NotFound, "This MCP session does not exist. Initialize again.")
        }
        StatusCode::METHOD_NOT_ALLOWED => Error::plain(Code::MethodNotAllowed),
        StatusCode::PAYLOAD_TOO_LARGE => Error::new(Code::TooLarge, text),
        status if status.is_server_error() => Error::internal(text.into_owned()),
        _ => Error::new(Code::InvalidRequest, text),
    };
    let mut worded = error::respond(&error, Wants::Json).map(Body::new);
    *worded.status_mut() = status;
    if let Some(allow) = head.headers.remove(header::ALLOW) {
        worded.headers_mut().insert(header::ALLOW, allow);
    }
    worded
}

/// Refuses with the metadata document of `/mcp`, not of the API: clients compare its resource with the URL they called.
fn refuse(state: &ApiState, error: &Error) -> Response {
    let mut response = error::respond(error, Wants::Json).map(Body::new);
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", state.resolved.hosts.base.url());
    let challenge = Challenge::of(error).map(|challenge| challenge.value(&metadata));
    if let Some(value) = challenge.and_then(|value| HeaderValue::from_str(&value).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

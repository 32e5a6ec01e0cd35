//! Reads the headers of a request to `/mcp`: the protocol revision and the session it needs; rewrites the media types
//! for the library.

use crate::http::media_type;
use dropleaf_core::{Code, Error, Result};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use rmcp::model::ProtocolVersion;

pub(super) const SESSION_ID: &str = "mcp-session-id";
pub(super) const LAST_EVENT_ID: &str = "last-event-id";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// Whether a request uses a revision that has sessions; the newest has none.
pub(super) fn is_legacy(headers: &HeaderMap) -> bool {
    let newest = ProtocolVersion::V_2026_07_28;
    headers.get(VERSION).is_none_or(|version| version.as_bytes() < newest.as_str().as_bytes())
}

/// Whether a client knows that a stream can be resumed from its first event, which has an id and no message. Clients of older
/// revisions fail on such an event.
pub(super) fn can_resume(headers: &HeaderMap) -> bool {
    let first = ProtocolVersion::V_2025_11_25;
    let version = headers.get(VERSION).map(HeaderValue::as_bytes);
    is_legacy(headers) && version.is_some_and(|version| version >= first.as_str().as_bytes())
}

/// Refuses a request that needs a session but names none, and says how to begin one.
pub(super) fn check_needs_session(parts: &Parts) -> Result<()> {
    let detail = match parts.method {
        Method::GET => {
            "GET /mcp opens the event stream of a session. Start one first: POST `initialize` to /mcp with `Accept: \
             application/json, text/event-stream`, then send the `Mcp-Session-Id` from the response with every request. \
             Clients of revision 2026-07-28 have no sessions and POST `subscriptions/listen` instead."
        }
        Method::DELETE => "DELETE /mcp ends a session: send its `Mcp-Session-Id`.",
        _ => return Ok(()),
    };
    Err(Error::new(Code::InvalidRequest, detail))
}

/// Rewrites `Content-Type` and `Accept` for the library, which compares them case-sensitively and by prefix.
pub(super) fn canonical_types(headers: &mut HeaderMap) {
    let is_json = media_type::is(headers, media_type::JSON);
    let accepted = match (
        media_type::accepts(headers, media_type::JSON),
        media_type::accepts(headers, media_type::EVENT_STREAM),
    ) {
        (true, true) => "application/json, text/event-stream",
        (true, false) => media_type::JSON,
        (false, true) => media_type::EVENT_STREAM,
        (false, false) => "",
    };
    headers.insert(header::ACCEPT, HeaderValue::from_static(accepted));
    if is_json {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type::JSON));
    } else {
        headers.remove(header::CONTENT_TYPE);
    }
}

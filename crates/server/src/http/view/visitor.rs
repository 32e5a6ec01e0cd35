//! What the headers of a request reveal about the visitor: a browser, a robot, a prefetch, and what the response is for.

use crate::http::media_type;
use crate::http::quality::Weight;
use dropleaf_core::visitor::{Visitor, VisitorHeaders};
use http::{HeaderMap, HeaderName, header};

const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub(super) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

pub(super) fn visitor(headers: &HeaderMap) -> Visitor {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let fetch_mode = text(&FETCH_MODE);
    let has_fetch_metadata =
        fetch_mode.is_some() || headers.contains_key(FETCH_SITE) || headers.contains_key(FETCH_DEST);
    // Only browsers that send fetch metadata mark prefetch requests.
    let purpose = if has_fetch_metadata { text(&PURPOSE) } else { None };
    Visitor::of(VisitorHeaders {
        user_agent: text(&header::USER_AGENT),
        fetch_mode,
        has_fetch_metadata,
        purpose,
    })
}

/// Whether the request is for a top-level document. Falls back to `Accept` for browsers without fetch metadata.
pub(super) fn fills_window(headers: &HeaderMap) -> bool {
    destination(headers).map_or_else(|| accepts_html(headers), |dest| dest == "document")
}

/// The same, or for the document of a frame.
pub(super) fn fills_frame(headers: &HeaderMap) -> bool {
    destination(headers)
        .map_or_else(|| accepts_html(headers), |dest| matches!(dest, "document" | "iframe" | "frame"))
}

fn destination(headers: &HeaderMap) -> Option<&str> {
    headers.get(FETCH_DEST).and_then(|value| value.to_str().ok())
}

fn accepts_html(headers: &HeaderMap) -> bool {
    media_type::accept_weight(headers, media_type::HTML) > Weight::ZERO
}

//! Checks the origin of a request by the headers that browsers send.

use crate::http::state::ApiState;
use dropleaf_core::{Code, Error};
use http::HeaderMap;
use http::header;
use http::request::Parts;

/// Refuses requests that do not come from a page of this origin. Browsers send `Origin` with every form post, so its
/// absence means that this is not one. Pages on sibling hosts are the same site for browsers, so the origin itself must
/// match.
pub(super) fn require_own_origin(parts: &Parts, state: &ApiState) -> Result<(), Error> {
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let base = &state.resolved.hosts.base;
    let requested_host =
        parts.uri.authority().map(http::uri::Authority::as_str).or_else(|| header(header::HOST.as_str()));
    let own = |origin: &str| {
        origin.eq_ignore_ascii_case(&base.url())
            // A loopback server has several names; this is the requested one.
            || requested_host.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("{}://{host}", base.scheme)))
    };
    let vouched = header("sec-fetch-site").is_none_or(|site| site == "same-origin");
    if vouched && header("origin").is_some_and(own) { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

/// Refuses requests that are not top-level navigations: a page that loads this address as an image or script must have
/// no effect and use up no attempt.
pub(in crate::http) fn require_visit(headers: &HeaderMap) -> Result<(), Error> {
    let is_visit = headers.get("sec-fetch-dest").is_none_or(|dest| dest == "document");
    if is_visit { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

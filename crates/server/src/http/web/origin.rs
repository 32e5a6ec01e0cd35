//! Where a request comes from, by the word of the browser that sends it.

use crate::http::api::ApiState;
use dropleaf_core::{Code, Error};
use http::HeaderMap;
use http::header;
use http::request::Parts;

/// Refuses whatever does not come from a page of this very origin. Browsers name the origin of every form they send;
/// what names none is no browser's form. Pages on sibling hosts share the site in a browser's eyes, so the origin
/// itself must match.
pub(super) fn require_own_origin(parts: &Parts, state: &ApiState) -> Result<(), Error> {
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let base = &state.resolved.hosts.base;
    let asked =
        parts.uri.authority().map(http::uri::Authority::as_str).or_else(|| header(header::HOST.as_str()));
    let own = |origin: &str| {
        origin.eq_ignore_ascii_case(&base.url())
            // A loopback server has several names; this one was asked for, and answered.
            || asked.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("{}://{host}", base.scheme)))
    };
    let vouched = header("sec-fetch-site").is_none_or(|site| site == "same-origin");
    if vouched && header("origin").is_some_and(own) { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

/// Refuses what is no visit: a page that loads this address as its picture or script must leave nothing behind, and no
/// guess counted.
pub(in crate::http) fn require_visit(headers: &HeaderMap) -> Result<(), Error> {
    let is_visit = headers.get("sec-fetch-dest").is_none_or(|dest| dest == "document");
    if is_visit { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

//! Reads the forms of a page, with a size limit, and checks that the page itself sent them.

use super::page_request::PageRequest;
use crate::http::small_body;
use dropleaf_core::{Code, Error};
use hyper::body::Incoming;

/// Reads a short body, with a time limit.
pub(super) async fn read(body: Incoming) -> Result<bytes::Bytes, Error> {
    small_body::read(body, small_body::FORM_BYTES).await
}

/// The fields of an `application/x-www-form-urlencoded` body, in order.
pub(super) async fn fields(body: Incoming) -> Result<Vec<(String, String)>, Error> {
    Ok(form_urlencoded::parse(&read(body).await?).into_owned().collect())
}

/// The first value of a field.
pub(super) fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Refuses a form that a script sends. A page shares its origin with the forms below it, so its own script could submit
/// them for a viewer who never saw them. A person's click is a top-level navigation that the browser marks with
/// `Sec-Fetch-User`; `WebKit` omits that header. Browsers send these headers only over https and on loopback hosts, and
/// other clients never: requests without them are only rate limited.
pub(super) fn require_persons_click(request: &PageRequest<'_>) -> Result<(), Error> {
    let header = |name| request.header(name);
    if header("sec-fetch-mode").is_none() && header("sec-fetch-dest").is_none() {
        return Ok(());
    }
    let is_navigation = header("sec-fetch-mode") == Some("navigate")
        && header("sec-fetch-dest").is_none_or(|dest| dest == "document");
    let is_marked = header("sec-fetch-user") == Some("?1") || is_webkit(header("user-agent"));
    if is_navigation && is_marked { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

/// Whether this is Safari or another browser with the engine of iOS, also one inside an app.
fn is_webkit(agent: Option<&str>) -> bool {
    agent.is_some_and(|agent| {
        agent.contains("AppleWebKit/") && !agent.contains("Chrome/") && !agent.contains("Chromium/")
    })
}

/// Refuses cross-origin requests. A client that sends neither header may pass: it has no viewer's cookies. Sibling
/// pages are the same site for browsers, so the origin itself must match.
pub(super) fn require_same_origin(request: &PageRequest<'_>) -> Result<(), Error> {
    let site = request.header("sec-fetch-site");
    let same = site.is_none_or(|site| site == "same-origin" || site == "none");
    // A form on a page with `no-referrer` sends `Origin: null`; then `Sec-Fetch-Site` must be `same-origin`.
    let hidden = |origin: &str| origin == "null" && site == Some("same-origin");
    let origin =
        request.header("origin").is_none_or(|origin| request.is_own_origin(origin) || hidden(origin));
    if same && origin { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

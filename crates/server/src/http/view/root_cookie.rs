//! Serves paths of a page's own host outside `/p/<token>/`, for pages whose files refer to each other from the root.
//!
//! A host name is no secret: it is visible in DNS and TLS. So the host alone opens nothing. A browser that was shown
//! the page at its token link gets a cookie that represents the token, and with it any path on that host is answered
//! from the page's files, by the same rules as below the token. Pages that need no such paths set no cookie.
//! docs/adr/0019.

use super::cookies::Cookie;
use super::page_request::PageRequest;
use super::visitor::fills_window;
use super::{PageAddress, failed, redirect, wants, with_query};
use crate::http::error::{self, Wants};
use crate::http::{OutBody, cookie};
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::host::Origin;
use dropleaf_core::{Code, Error};
use dropleaf_pages::{self as pages, Notice};
use http::request::Parts;
use http::{Method, Response, StatusCode, header};

/// Paths this server answers itself on every page host.
const RESERVED: [&str; 4] = ["p/", "look/", "healthz", "readyz"];

/// The address of a request outside `/p/` on the host with this label. None without a cookie, and for requests by other
/// pages that embed this one: sibling pages are the same site for browsers, so their requests carry the cookie too.
pub(in crate::http) fn find_address<'a>(
    origin: &Origin,
    head: &'a Parts,
    label: &'a str,
) -> Option<PageAddress<'a>> {
    let rest = head.uri.path().strip_prefix('/')?;
    if rest == "robots.txt" || is_foreign(head) {
        return None;
    }
    let value = cookie::read(&head.headers, origin.takes_secure_cookies(), Cookie::Root.letter()).next()?;
    let (token, pass) = split(value)?;
    Some(PageAddress::Root { label, token, pass, rest })
}

/// Whether another page embeds this. Top-level navigations are allowed, as for any link.
fn is_foreign(head: &Parts) -> bool {
    let site = head.headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    match site {
        None | Some("same-origin" | "none") => false,
        Some(_) => !fills_window(&head.headers),
    }
}

fn split(value: &str) -> Option<(&str, &str)> {
    value.split_once('.').filter(|(token, _)| token.len() == 22)
}

/// Whether the pass of the cookie is valid for the page it names.
pub(super) fn admits(app: &dropleaf_app::App, page: &dropleaf_app::PageView, pass: &str) -> bool {
    app.verify_pass(GatePassKind::Root, &page.site, pass)
}

/// Sets the cookie on a response that shows the page, if the page needs it and the browser does not have it.
pub(super) fn offer(request: &PageRequest<'_>, response: &mut Response<OutBody>) {
    if !is_needed(request) || is_held(request) {
        return;
    }
    let site = &request.page.site;
    let value = format!("{}.{}", site.token, request.dispatcher.app.issue_pass(GatePassKind::Root, site));
    let cookie = Cookie::Root.set_for_session(request, &value);
    response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
}

/// Redirects a window to the same path at the root of the host, where client-side routers expect it. Not in a frame of
/// another site, which would not send the cookie, and not in response to a form, which may be the only view of a burn page.
pub(super) fn lead(request: &PageRequest<'_>, tail: &str) -> Result<Option<Response<OutBody>>, Error> {
    let has_routes = request.page.bundle.as_ref().is_some_and(|bundle| bundle.addressing.client_routes);
    let is_plain = matches!(request.head.method, Method::GET | Method::HEAD);
    // Two slashes at the start would name another host.
    let is_safe = !tail.starts_with(['/', '\\']) && !RESERVED.iter().any(|name| tail.starts_with(name));
    if !has_routes || !is_plain || !is_safe || !is_needed(request) {
        return Ok(None);
    }
    let mut response = redirect(StatusCode::SEE_OTHER, &with_query(request.head, &format!("/{tail}")))?;
    offer(request, &mut response);
    Ok(Some(response))
}

fn is_needed(request: &PageRequest<'_>) -> bool {
    let asks = request.page.bundle.as_ref().is_some_and(|bundle| {
        let addressing = bundle.addressing;
        addressing.root_paths || addressing.client_routes || addressing.spa
    });
    asks && matches!(request.address, PageAddress::Isolated { .. })
        && !request.page.site.e2e
        && request.visitor.navigation
        && fills_window(&request.head.headers)
}

fn is_held(request: &PageRequest<'_>) -> bool {
    let held = Cookie::Root.read(request).and_then(split);
    held.is_some_and(|(token, pass)| {
        token == request.page.site.token && admits(&request.dispatcher.app, request.page, pass)
    })
}

/// The response at a page's own host for a browser that did not open the page's link first. It is the same whether or
/// not there is a page.
pub(in crate::http) fn refused(head: &Parts) -> Response<OutBody> {
    let error = Error::not_found("page");
    if wants(&head.headers) != Wants::Page {
        return failed(head, &error, None);
    }
    let status = StatusCode::NOT_FOUND;
    let mut response = error::designed(
        status,
        pages::notice(&Notice {
            status: status.as_u16(),
            code: Code::NotFound.as_str(),
            heading: "Open the page with its complete link",
            message: "This address is only part of a link. Open the complete link that you were sent, and allow cookies for it. \
                      If the link no longer works, ask the sender for a new one.",
            hint: None,
            home: None,
            report: None,
        }),
    );
    if head.method == Method::HEAD {
        super::without_body(&mut response);
    }
    response
}

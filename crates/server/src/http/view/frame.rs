//! Serves files to sandboxed frames of gated and burn pages. `<iframe sandbox>` without `allow-same-origin` has no origin, so
//! the browser sends no cookies with what the frame loads. The page requests the frame's document with the cookie; it is
//! redirected to an address that contains a pass, and its relative references resolve below that address. Which pages have
//! such frames is detected at upload; others are not affected. Scripts in the frame can read the address, so the pass works
//! only from the viewer's network and never in a top-level window.

use super::page_address::{PageAddress, RESERVED_PREFIX};
use super::page_request::PageRequest;
use super::redirects::{redirect, with_query};
use super::resolve::show_file;
use super::{headers, nothing_here};
use crate::http::OutBody;
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error};
use http::{Method, Response, StatusCode};

/// The name of these addresses below `_dropleaf/`.
pub(super) const NAME: &str = "frame/";

/// Redirects the document of a frame to an address with a pass, if the page needs it. The viewer has passed every gate.
pub(super) fn lead(request: &PageRequest<'_>, tail: &str) -> Result<Option<Response<OutBody>>, Error> {
    // Most pages have no such frames and return here.
    if !request.page.bundle.as_ref().is_some_and(|bundle| bundle.addressing.sandboxed_frames) {
        return Ok(None);
    }
    let rules = &request.page.access_rules;
    let is_guarded = rules.is_gated() || rules.visibility == Visibility::Burn;
    let is_plain = matches!(request.head.method, Method::GET | Method::HEAD);
    // Only for the page's own frames: frames of sibling pages send the cookie too.
    let is_own_frame = request.header("sec-fetch-dest") == Some("iframe")
        && request.header("sec-fetch-site") == Some("same-origin");
    if !is_guarded || !is_plain || !is_own_frame || request.address.is_shared() {
        return Ok(None);
    }
    let Some(ip) = request.client_ip() else { return Ok(None) };
    let root = match request.address {
        // The root of a page's own host needs a cookie, which the frame does not send.
        PageAddress::Root { .. } => format!("/p/{}/", request.page.site.token),
        _ => request.root(),
    };
    let pass = request.dispatcher.app.issue_frame_pass(&request.page.site, ip);
    let target = with_query(request.head, &format!("{root}{RESERVED_PREFIX}{NAME}{pass}/{tail}"));
    redirect(StatusCode::TEMPORARY_REDIRECT, &target).map(Some)
}

/// `_dropleaf/frame/<pass>/…`: a file of the page for such a frame.
pub(super) async fn file(request: &PageRequest<'_>, rest: &str) -> Result<Response<OutBody>, Error> {
    if !matches!(request.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let (app, site) = (&request.dispatcher.app, &request.page.site);
    let (pass, tail) = rest.split_once('/').ok_or_else(nothing_here)?;
    let is_admitted = request.client_ip().is_some_and(|ip| app.verify_frame_pass(site, ip, pass));
    if !is_admitted || request.address.is_shared() {
        return Err(nothing_here());
    }
    // A link in the frame that was opened in a window: redirected to the page's own address, where the gates apply.
    if request.header("sec-fetch-dest") == Some("document") {
        let target = with_query(request.head, &format!("{}{tail}", request.root()));
        return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
    }
    match access::decide(&request.page.access_rules, Passes::ALL, app.now()) {
        Access::Serve => {}
        Access::Gone(Code::Burnt) if app.has_open_view_window(&site.id).await? => {}
        Access::Gone(code) => return Err(Error::plain(code)),
        Access::Ask(_) | Access::Reveal => return Err(nothing_here()),
    }
    let bundle = request.page.bundle.as_ref().ok_or_else(nothing_here)?;
    let request = PageRequest { in_sandboxed_frame: true, ..*request };
    let mut response = show_file(&request, bundle, tail).await?;
    let is_own_frame = request.header("sec-fetch-site") == Some("same-origin");
    headers::framed(response.headers_mut(), is_own_frame);
    Ok(response)
}

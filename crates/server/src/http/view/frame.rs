//! Serves files to sandboxed frames of gated and burn pages. `<iframe sandbox>` without `allow-same-origin` has no origin, so
//! the browser sends no cookies with what the frame loads. The page requests the frame's document with the cookie; it is
//! redirected to an address that contains a pass, and its relative references resolve below that address. Which pages have
//! such frames is detected at upload; others are not affected. Scripts in the frame can read the address, so the pass works
//! only from the viewer's network and never in a top-level window.

use super::page_request::Scene;
use super::{OURS, Place, headers, redirect, reserved, show_file, with_query};
use crate::http::OutBody;
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error};
use http::{Method, Response, StatusCode};

/// The name of these addresses below `_dropleaf/`.
pub(super) const NAME: &str = "frame/";

/// Redirects the document of a frame to an address with a pass, if the page needs it. The viewer has passed every gate.
pub(super) fn lead(scene: &Scene<'_>, tail: &str) -> Result<Option<Response<OutBody>>, Error> {
    // Most pages have no such frames and return here.
    if !scene.page.bundle.as_ref().is_some_and(|bundle| bundle.addressing.sandboxed_frames) {
        return Ok(None);
    }
    let door = &scene.page.door;
    let is_guarded = door.is_gated() || door.visibility == Visibility::Burn;
    let is_plain = matches!(scene.head.method, Method::GET | Method::HEAD);
    // Only for the page's own frames: frames of sibling pages send the cookie too.
    let is_own_frame = scene.header("sec-fetch-dest") == Some("iframe")
        && scene.header("sec-fetch-site") == Some("same-origin");
    if !is_guarded || !is_plain || !is_own_frame || scene.place.is_shared() {
        return Ok(None);
    }
    let Some(ip) = scene.client_ip() else { return Ok(None) };
    let root = match scene.place {
        // The root of a page's own host needs a cookie, which the frame does not send.
        Place::Root { .. } => format!("/p/{}/", scene.page.site.token),
        _ => scene.root(),
    };
    let pass = scene.door.app.issue_frame_pass(&scene.page.site, ip);
    let target = with_query(scene.head, &format!("{root}{OURS}{NAME}{pass}/{tail}"));
    redirect(StatusCode::TEMPORARY_REDIRECT, &target).map(Some)
}

/// `_dropleaf/frame/<pass>/…`: a file of the page for such a frame.
pub(super) async fn file(scene: &Scene<'_>, rest: &str) -> Result<Response<OutBody>, Error> {
    if !matches!(scene.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let (app, site) = (&scene.door.app, &scene.page.site);
    let (pass, tail) = rest.split_once('/').ok_or_else(reserved::missing)?;
    let is_admitted = scene.client_ip().is_some_and(|ip| app.verify_frame_pass(site, ip, pass));
    if !is_admitted || scene.place.is_shared() {
        return Err(reserved::missing());
    }
    // A link in the frame that was opened in a window: redirected to the page's own address, where the gates apply.
    if scene.header("sec-fetch-dest") == Some("document") {
        let target = with_query(scene.head, &format!("{}{tail}", scene.root()));
        return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
    }
    match access::decide(&scene.page.door, Passes::ALL, app.now()) {
        Access::Serve => {}
        Access::Gone(Code::Burnt) if app.has_open_view_window(&site.id).await? => {}
        Access::Gone(code) => return Err(Error::plain(code)),
        Access::Ask(_) | Access::Reveal => return Err(reserved::missing()),
    }
    let bundle = scene.page.bundle.as_ref().ok_or_else(reserved::missing)?;
    let scene = Scene { in_sandboxed_frame: true, ..*scene };
    let mut response = show_file(&scene, bundle, tail).await?;
    let is_own_frame = scene.header("sec-fetch-site") == Some("same-origin");
    headers::framed(response.headers_mut(), is_own_frame);
    Ok(response)
}

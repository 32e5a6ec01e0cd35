//! Lets the owner see a page on its own host: exchanges a ticket from the dashboard for a pass that opens the page's
//! gates, and shows a burn page in a preview that does not burn it. The owner's requests are not counted as views.
//!
//! The preview is a frame in a page of ours. Its content has no origin, so requests for its files carry no cookie; a
//! pass in their address replaces it. That pass opens only the preview, whose scripts can read all of the content
//! anyway.

use super::cookies::Cookie;
use super::scene::Scene;
use super::{Found, burn, encrypted, find, headers, sending, share, to_inside, without_body};
use crate::http::{OutBody, empty, error};
use crate::pages::{self, Preview};
use axum::body::Body;
use dropleaf_app::{PageView, ServedFile};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::share_token::QuerySecret;
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error};
use http::{Method, Response, StatusCode, header};

/// The name of the preview below `_dropleaf/`.
pub(super) const NAME: &str = "preview/";

/// Exchanges a ticket in the address for a pass and redirects to the address without it. The response is the same for a
/// valid and an invalid ticket; the page or its gate follows.
pub(super) async fn redeem_ticket(
    scene: &Scene<'_>,
    found: &QuerySecret<'_>,
) -> Result<Option<Response<OutBody>>, Error> {
    // Only a top-level navigation by a person uses up the ticket.
    if !scene.visitor.navigation || scene.head.method != Method::GET || !share::is_asked_for(scene) {
        return Ok(None);
    }
    let mut response = share::without_secret(scene, found)?;
    let door = &scene.page.door;
    let app = &scene.door.app;
    // If there is no gate, or the ticket does not exist, neither the current row nor a write is needed.
    let opens = door.is_gated() || door.visibility == Visibility::Burn;
    if !opens || !app.has_owner_ticket(&scene.page.site, found.token, scene.client_ip()).await? {
        return Ok(Some(response));
    }
    // Uses the current row: a ticket is valid only for the gates it was issued for.
    let page = burn::reopen(scene).await?;
    if app.take_owner_ticket(&page.site, found.token).await? {
        let pass = app.issue_pass(GatePassKind::Owner, &page.site);
        let cookie = Cookie::Owner.set(scene, &pass, GatePassKind::Owner.life());
        response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    }
    Ok(Some(response))
}

/// Whether this viewer came from the dashboard as the page's owner.
pub(super) fn is_inside(scene: &Scene<'_>) -> bool {
    Cookie::Owner
        .read(scene)
        .is_some_and(|pass| scene.door.app.verify_pass(GatePassKind::Owner, &scene.page.site, pass))
}

/// The page around the preview of a burn page.
pub(super) fn preview(scene: &Scene<'_>) -> Response<OutBody> {
    let (app, site) = (&scene.door.app, &scene.page.site);
    let entry = scene.page.bundle.as_ref().and_then(|bundle| bundle.entry());
    let pass = app.issue_pass(GatePassKind::Preview, site);
    let page = pages::preview(&Preview {
        title: &site.title,
        frame: &format!("{}_dropleaf/{NAME}{pass}/", scene.root()),
        is_sandboxed: !entry.is_some_and(|file| is_pdf(file)),
        is_encrypted: site.e2e,
        dashboard: &format!("{}/dashboard/pages/{}", scene.door.resolved.hosts.base.url(), site.id),
    });
    let style_source = page.style_source;
    let mut response = error::designed(StatusCode::OK, page);
    headers::unburnt(response.headers_mut());
    headers::around_preview(response.headers_mut(), style_source);
    if scene.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// `_dropleaf/preview/<pass>/…`: a file of a burn page, for the frame. Nothing is burnt, counted or cached.
pub(super) async fn preview_file(scene: &Scene<'_>, rest: &str) -> Result<Response<OutBody>, Error> {
    let missing = || Error::new(Code::NotFound, "There is nothing at this address.");
    if !matches!(scene.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let (pass, tail) = rest.split_once('/').ok_or_else(missing)?;
    // Only the database decides whether it is still unburnt.
    let page = burn::reopen(scene).await?;
    let scene = &Scene { page: &page, ..*scene };
    let app = &scene.door.app;
    match access::decide(&page.door, Passes::ALL, app.now()) {
        Access::Reveal if app.verify_pass(GatePassKind::Preview, &page.site, pass) => {}
        Access::Gone(code) => return Err(Error::plain(code)),
        _ => return Err(missing()),
    }
    // In a top-level window it would not be marked as a preview.
    if scene.header("sec-fetch-dest") == Some("document") {
        return Err(missing());
    }
    let bundle = page.bundle.as_ref().ok_or_else(|| Error::internal("live page without a bundle"))?;
    let file = match find(bundle, tail) {
        Found::File(file) => file,
        Found::Inside(file) => return to_inside(scene.head, file),
        Found::Folder | Found::Nothing => return Err(missing()),
    };
    if page.site.e2e && scene.visitor.navigation && file.path.starts_with("payload") {
        let mut response = encrypted::viewer(scene, file).await?;
        headers::preview(response.headers_mut(), &page, !is_pdf(file));
        return Ok(response);
    }
    send(scene, &page, file).await
}

async fn send(scene: &Scene<'_>, page: &PageView, file: &ServedFile) -> Result<Response<OutBody>, Error> {
    let mut response = empty(StatusCode::OK);
    headers::preview(response.headers_mut(), page, !is_pdf(file));
    response.headers_mut().insert(header::CONTENT_TYPE, super::file::ready(&file.mime));
    let part = sending::stream(scene, file, None).await?;
    response.headers_mut().insert(header::CONTENT_LENGTH, part.bytes.into());
    if scene.head.method != Method::HEAD {
        *response.body_mut() = OutBody::Boxed(Body::from_stream(part.stream));
    }
    Ok(response)
}

/// A PDF cannot run code in our origin, and browsers do not show a PDF in a sandbox.
fn is_pdf(file: &ServedFile) -> bool {
    file.mime == "application/pdf"
}

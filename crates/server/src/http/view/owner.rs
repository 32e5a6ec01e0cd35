//! Lets the owner see a page on its own host: exchanges a ticket from the dashboard for a pass that opens the page's
//! gates, and shows a burn page in a preview that does not burn it. The owner's requests are not counted as views.
//!
//! The preview is a frame in a page of ours. Its content has no origin, so requests for its files carry no cookie; a
//! pass in their address replaces it. That pass opens only the preview, whose scripts can read all of the content
//! anyway.

use super::cookies::Cookie;
use super::page_request::PageRequest;
use super::resolve::{ResolvedPath, redirect_to_nested, resolve_path};
use super::{encrypted, headers, nothing_here, sending, share, without_body};
use crate::http::{OutBody, empty, error};
use axum::body::Body;
use dropleaf_app::{PageView, ServedFile};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::gate_pass::GatePassKind;
use dropleaf_core::share_token::QuerySecret;
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error};
use dropleaf_pages::{self as pages, Preview};
use http::{Method, Response, StatusCode, header};

/// The name of the preview below `_dropleaf/`.
pub(super) const NAME: &str = "preview/";

/// Exchanges a ticket in the address for a pass and redirects to the address without it. The response is the same for a
/// valid and an invalid ticket; the page or its gate follows.
pub(super) async fn redeem_ticket(
    request: &PageRequest<'_>,
    found: &QuerySecret<'_>,
) -> Result<Option<Response<OutBody>>, Error> {
    // Only a top-level navigation by a person uses up the ticket.
    if !request.visitor.navigation || request.head.method != Method::GET || !share::is_by_person(request) {
        return Ok(None);
    }
    let mut response = share::without_secret(request, found)?;
    let rules = &request.page.access_rules;
    let app = &request.dispatcher.app;
    // If there is no gate, or the ticket does not exist, neither the current row nor a write is needed.
    let opens = rules.is_gated() || rules.visibility == Visibility::Burn;
    if !opens || !app.has_owner_ticket(&request.page.site, found.token, request.client_ip()).await? {
        return Ok(Some(response));
    }
    // Uses the current row: a ticket is valid only for the gates it was issued for.
    let page = request.reload_page().await?;
    if app.take_owner_ticket(&page.site, found.token).await? {
        let pass = app.issue_pass(GatePassKind::Owner, &page.site);
        let cookie = Cookie::Owner.set(request, &pass, GatePassKind::Owner.life());
        response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    }
    Ok(Some(response))
}

/// The page around the preview of a burn page.
pub(super) fn preview(request: &PageRequest<'_>) -> Response<OutBody> {
    let (app, site) = (&request.dispatcher.app, &request.page.site);
    let entry = request.page.bundle.as_ref().and_then(|bundle| bundle.entry());
    let pass = app.issue_pass(GatePassKind::Preview, site);
    let page = pages::preview(&Preview {
        title: &site.title,
        frame: &format!("{}_dropleaf/{NAME}{pass}/", request.root()),
        is_sandboxed: !entry.is_some_and(|file| is_pdf(file)),
        is_encrypted: site.e2e,
        dashboard: &format!("{}/dashboard/pages/{}", request.dispatcher.resolved.hosts.base.url(), site.id),
    });
    let style_source = page.style_source;
    let mut response = error::designed(StatusCode::OK, page);
    headers::interstitial(response.headers_mut());
    headers::around_preview(response.headers_mut(), style_source);
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// `_dropleaf/preview/<pass>/…`: a file of a burn page, for the frame. Nothing is burnt, counted or cached.
pub(super) async fn preview_file(request: &PageRequest<'_>, rest: &str) -> Result<Response<OutBody>, Error> {
    if !matches!(request.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let (pass, tail) = rest.split_once('/').ok_or_else(nothing_here)?;
    // Only the database decides whether it is still unburnt.
    let page = request.reload_page().await?;
    let request = &PageRequest { page: &page, ..*request };
    let app = &request.dispatcher.app;
    match access::decide(&page.access_rules, Passes::ALL, app.now()) {
        Access::Reveal if app.verify_pass(GatePassKind::Preview, &page.site, pass) => {}
        Access::Gone(code) => return Err(Error::plain(code)),
        _ => return Err(nothing_here()),
    }
    // In a top-level window it would not be marked as a preview.
    if request.header("sec-fetch-dest") == Some("document") {
        return Err(nothing_here());
    }
    let bundle = page.bundle.as_ref().ok_or_else(|| Error::internal("live page without a bundle"))?;
    let file = match resolve_path(bundle, tail) {
        ResolvedPath::File(file) => file,
        ResolvedPath::Nested(file) => return redirect_to_nested(request.head, file),
        ResolvedPath::Folder | ResolvedPath::Missing => return Err(nothing_here()),
    };
    if page.site.e2e && request.visitor.navigation && file.path.starts_with("payload") {
        let mut response = encrypted::viewer(request, file).await?;
        headers::preview(response.headers_mut(), &page, !is_pdf(file));
        return Ok(response);
    }
    send(request, &page, file).await
}

async fn send(
    request: &PageRequest<'_>,
    page: &PageView,
    file: &ServedFile,
) -> Result<Response<OutBody>, Error> {
    let mut response = empty(StatusCode::OK);
    headers::preview(response.headers_mut(), page, !is_pdf(file));
    response.headers_mut().insert(header::CONTENT_TYPE, super::file::ready(&file.mime));
    let part = sending::stream(request, file, None).await?;
    response.headers_mut().insert(header::CONTENT_LENGTH, part.bytes.into());
    if request.head.method != Method::HEAD {
        *response.body_mut() = OutBody::Boxed(Body::from_stream(part.stream));
    }
    Ok(response)
}

/// A PDF cannot run code in our origin, and browsers do not show a PDF in a sandbox.
fn is_pdf(file: &ServedFile) -> bool {
    file.mime == "application/pdf"
}

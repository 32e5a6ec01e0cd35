//! Serves pages. This is the hot path: one lookup for the row, a pure access decision, one lookup for the bytes.

mod burn;
mod cookies;
mod disposition;
mod email_gate;
mod encrypted;
mod feedback;
mod file;
mod find;
mod form;
mod frame;
mod gates;
mod headers;
mod look;
mod negotiate;
mod ours;
mod owner;
mod place;
mod report;
mod risky;
mod root_cookie;
mod scene;
pub(super) mod sending;
mod share;
mod toolbar;

pub(super) use headers::HSTS;
pub(super) use look::{LOOK, answer as look};
pub(super) use negotiate::matches;
pub(super) use place::Place;
pub(super) use root_cookie::place as root_place;

use super::error::{self, Wants};
use super::{Door, OutBody, empty};
use crate::connection::Connection;
use dropleaf_app::{ContentCoding, ServedBundle};
use dropleaf_core::access::{self, Access};
use dropleaf_core::site::Visibility;
use dropleaf_core::visitor::{Visitor, VisitorHeaders};
use dropleaf_core::{Code, Error};
use find::{Found, find, to_inside};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use hyper::body::Incoming;
use scene::Scene;
use std::sync::Arc;
use tokio::time::Instant;

/// The content coding to send, by `Accept-Encoding`.
pub(super) fn coding(accept: Option<&str>) -> ContentCoding {
    negotiate::coding(accept)
}

/// Answers a request for a page. Only forms, below `_dropleaf/` or posted to the page's root, read the body.
pub(super) async fn answer(
    door: &Door,
    head: &Parts,
    body: Incoming,
    connection: &Arc<Connection>,
    place: Place<'_>,
) -> Response<OutBody> {
    let mut met = None;
    match try_answer(door, head, body, connection, place, &mut met).await {
        Ok(response) => response,
        // Until the page's row is found and the cookie verified, the response must not reveal whether there is a page.
        Err(error)
            if error.code == Code::NotFound && met.is_none() && matches!(place, Place::Root { .. }) =>
        {
            root_cookie::refused(head)
        }
        Err(error) => {
            // A page that exists can be reported even if it cannot be shown; one that is gone needs no report.
            let there = met.as_deref().filter(|_| error::status(error.code) != StatusCode::GONE);
            let report = there.map(|page| report::link(&scene::root(place, page)));
            failed(head, &error, report.as_deref())
        }
    }
}

/// Paths of page hosts that belong to no page. Crawlers are allowed, because only then do they see `noindex`.
pub(super) fn other(head: &Parts, is_own_host: bool) -> Response<OutBody> {
    if head.uri.path() == "/robots.txt" {
        let mut response = Response::new(OutBody::from(String::from("User-agent: *\nAllow: /\n")));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers::common(headers);
        return response;
    }
    if is_own_host {
        return root_cookie::refused(head);
    }
    failed(head, &Error::not_found("page"), None)
}

fn failed(head: &Parts, error: &Error, report: Option<&str>) -> Response<OutBody> {
    let mut response = error::respond_with(error, wants(&head.headers), report);
    if error.code == Code::MethodNotAllowed {
        let forms = head.uri.path().contains(OURS);
        let allow = HeaderValue::from_static(if forms { "GET, HEAD, POST" } else { "GET, HEAD" });
        response.headers_mut().insert(header::ALLOW, allow);
    }
    if head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// A browser gets an HTML page even if its `Accept` header does not ask for one.
fn wants(headers: &HeaderMap) -> Wants {
    match Wants::of(headers) {
        Wants::Text if visitor(headers).navigation => Wants::Page,
        wants => wants,
    }
}

fn without_body(response: &mut Response<OutBody>) {
    if let OutBody::Ready(Some(bytes)) = response.body() {
        let length = bytes.len();
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    }
    *response.body_mut() = OutBody::empty();
}

async fn try_answer(
    door: &Door,
    head: &Parts,
    body: Incoming,
    connection: &Arc<Connection>,
    place: Place<'_>,
    met: &mut Option<Arc<dropleaf_app::PageView>>,
) -> Result<Response<OutBody>, Error> {
    let since = Instant::now();
    let missing = || Error::new(Code::NotFound, "There is no page at this address.");
    if head.headers.contains_key(SERVICE_WORKER) {
        return Err(Error::plain(Code::ServiceWorkerRefused));
    }
    if matches!(place, Place::Slug { rest: "robots.txt", .. }) {
        return Ok(other(head, false));
    }
    let (key, tail) = place.split().ok_or_else(missing)?;
    let ours = tail.and_then(|tail| tail.strip_prefix(OURS));
    // A form without an `action` is posted to the page's root; OPTIONS must not distinguish a burn page.
    let rare = matches!(head.method, Method::POST | Method::OPTIONS) && tail == Some("");
    if ours.is_none() && !rare && !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    let page = door.in_time(head, since, door.app.open_page(&key)).await??.ok_or_else(missing)?;
    if place.own_label().is_some_and(|label| !page.site.host_label.eq_ignore_ascii_case(label)) {
        return Err(missing());
    }
    if let Place::Root { pass, .. } = place
        && !root_cookie::admits(&door.app, &page, pass)
    {
        return Err(missing());
    }
    let page = &**met.insert(page);
    let scene = Scene {
        door,
        head,
        connection,
        place,
        page,
        visitor: visitor(&head.headers),
        in_sandboxed_frame: false,
    };
    let answer = respond(&scene, tail, ours, rare, body);
    if page.door.visibility == Visibility::Burn {
        // No time limit: the one view may already be claimed, and a dropped response would lose the page.
        return Box::pin(answer).await;
    }
    door.in_time(head, since, answer).await?
}

/// The response for a page that was found.
async fn respond(
    scene: &Scene<'_>,
    tail: Option<&str>,
    ours: Option<&str>,
    rare: bool,
    body: Incoming,
) -> Result<Response<OutBody>, Error> {
    let Scene { door, head, page, .. } = *scene;
    if let Some(name) = ours {
        // Boxed: forms are rare, and the future of a view should not be larger because of them.
        return Box::pin(ours::answer(scene, name, body)).await;
    }
    if rare {
        return Box::pin(ours::at_root(scene, body)).await;
    }
    check_requester(scene, tail)?;
    // The redirect to the page's own host comes before its gates, whose cookies belong to that host. A page that is
    // gone says so without a redirect.
    if let Access::Gone(code) = access::decide(&page.door, access::Passes::ALL, door.app.now()) {
        return Box::pin(burn::gone(scene, tail, code)).await;
    }
    let burns = page.door.visibility == Visibility::Burn;
    if burns && !page.door.is_gated() && burn::is_ahead_of_time(scene) {
        return Ok(burn::not_now());
    }
    if let Some(target) = isolated_target(scene).filter(|_| !burns || !burn::is_robot(scene)) {
        return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
    }
    let Some(tail) = tail else {
        return redirect(StatusCode::PERMANENT_REDIRECT, &with_query(head, &format!("{}/", head.uri.path())));
    };
    if let Some(detour) = scene.detour(tail).await? {
        return Ok(detour);
    }
    match show(scene, tail).await {
        // Another process may have erased the content while the cached row is still considered valid.
        Err(error) if error.code == Code::Internal => Box::pin(burn::decide_anew(scene, tail, error)).await,
        answer => answer,
    }
}

/// Refuses to be loaded as a script, style or data by our own pages where they share the address with published ones,
/// so that code injected into the dashboard finds nothing to load. A published page has no origin at this address, so
/// what it loads itself is cross-site. PDF viewers continue reading from the same origin; PDFs are not sandboxed, but
/// cannot run code.
fn check_requester(scene: &Scene<'_>, tail: Option<&str>) -> Result<(), Error> {
    let shared = scene.place.is_shared();
    if !shared || scene.header(FETCH_SITE.as_str()) != Some("same-origin") || scene.visitor.navigation {
        return Ok(());
    }
    let bundle = scene.page.bundle.as_ref();
    let is_pdf = tail.zip(bundle).is_some_and(
        |(tail, bundle)| matches!(find(bundle, tail), Found::File(file) if file.mime == "application/pdf"),
    );
    if is_pdf { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

/// Serves the file for a path to a viewer who has access.
async fn show(scene: &Scene<'_>, tail: &str) -> Result<Response<OutBody>, Error> {
    let bundle = scene.page.bundle.as_ref().ok_or_else(|| Error::internal("live page without a bundle"))?;
    if let Some(response) = root_cookie::lead(scene, tail)? {
        return Ok(response);
    }
    if let Some(response) = frame::lead(scene, tail)? {
        return Ok(response);
    }
    let mut response = show_file(scene, bundle, tail).await?;
    root_cookie::offer(scene, &mut response);
    Ok(response)
}

async fn show_file(scene: &Scene<'_>, bundle: &ServedBundle, tail: &str) -> Result<Response<OutBody>, Error> {
    match find(bundle, tail) {
        Found::Inside(file) if may_follow(scene) => to_inside(scene.head, file),
        Found::File(file) | Found::Inside(file) => {
            if scene.page.site.e2e && scene.visitor.navigation && file.path.starts_with("payload") {
                return encrypted::viewer(scene, file).await;
            }
            if file.is_program {
                return Box::pin(risky::send(scene, file)).await;
            }
            file::send(scene, file, StatusCode::OK).await
        }
        Found::Folder => redirect(
            StatusCode::PERMANENT_REDIRECT,
            &with_query(scene.head, &format!("{}/", scene.head.uri.path())),
        ),
        Found::Nothing if is_route(scene, bundle) => {
            let index = bundle.find("index.html").ok_or_else(no_file)?;
            let mut response = file::send(scene, index, StatusCode::OK).await?;
            headers::route(response.headers_mut());
            Ok(response)
        }
        Found::Nothing => match bundle.find("404.html") {
            Some(file) => {
                let mut response = file::send(scene, file, StatusCode::NOT_FOUND).await?;
                if bundle.addressing.spa {
                    headers::route(response.headers_mut());
                }
                Ok(response)
            }
            None => Err(no_file()),
        },
    }
}

/// Whether this client can be redirected. The only response of a burn page must be the page itself.
fn may_follow(scene: &Scene<'_>) -> bool {
    let is_plain = matches!(scene.head.method, Method::GET | Method::HEAD);
    is_plain && (scene.page.site.visibility != Visibility::Burn || scene.visitor.navigation)
}

fn no_file() -> Error {
    Error::new(Code::NotFound, "This page does not contain this file.")
}

/// Whether a path without a file may be a client-side route: the request is for a document, not a subresource.
fn is_route(scene: &Scene<'_>, bundle: &ServedBundle) -> bool {
    bundle.addressing.spa && scene::fills_frame(&scene.head.headers)
}

/// Reserved prefix below a site's root. Decisions §1.4.
const OURS: &str = "_dropleaf/";

const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
const SERVICE_WORKER: HeaderName = HeaderName::from_static("service-worker");

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

/// The page's own host, where browsers are redirected so that no two pages share an origin.
fn isolated_target(scene: &Scene<'_>) -> Option<String> {
    let hosts = &scene.door.resolved.hosts;
    let deaf = scene.visitor.safari && hosts.site.is_loopback();
    let plain = matches!(scene.head.method, Method::GET | Method::HEAD);
    if !matches!(scene.place, Place::Shared { .. })
        || !hosts.isolated
        || !scene.visitor.navigation
        || deaf
        || !plain
    {
        return None;
    }
    let origin = hosts.isolated_origin(&scene.page.site.host_label);
    Some(with_query(scene.head, &format!("{origin}{}", scene.head.uri.path())))
}

fn with_query(head: &Parts, target: &str) -> String {
    match head.uri.query() {
        Some(query) => format!("{target}?{query}"),
        None => target.to_owned(),
    }
}

fn redirect(status: StatusCode, target: &str) -> Result<Response<OutBody>, Error> {
    let mut response = empty(status);
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_str(target).map_err(Error::internal)?);
    headers::redirect(headers);
    Ok(response)
}

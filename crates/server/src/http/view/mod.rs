//! Serves pages. This is the hot path: one lookup for the row, a pure access decision, one lookup for the bytes.

mod admission;
mod burn;
mod changes;
mod cookies;
mod disposition;
mod email_gate;
mod encrypted;
mod executable;
mod fast;
mod feedback;
mod file;
mod file_traits;
mod form;
mod frame;
mod gates;
mod headers;
mod live;
mod negotiate;
mod own_script;
mod owner;
mod page_address;
mod page_request;
mod redirects;
mod report;
mod reserved;
mod resolve;
mod root_cookie;
mod safe_preview;
pub(super) mod sending;
mod share;
mod toolbar;
mod visitor;
mod warning;

pub(super) use disposition::attachment;
pub(super) use fast::answer as answer_fast;
pub(super) use file_traits::PlainHeads;
pub(super) use headers::HSTS;
pub(super) use negotiate::matches;
pub(super) use page_address::PageAddress;
pub(super) use root_cookie::find_address as find_root_address;
pub(super) use safe_preview::{SAFE_PREVIEW_PATH, answer as answer_safe_preview};

use super::error::{self, Wants};
use super::{Dispatcher, OutBody};
use crate::connection::Connection;
use admission::Admission;
use dropleaf_app::{ContentCoding, OpenedPage, Staleness};
use dropleaf_core::access::{self, Access};
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use hyper::body::Incoming;
use page_address::RESERVED_PREFIX;
use page_request::PageRequest;
use redirects::{isolated_target, redirect, with_query};
use resolve::{ResolvedPath, resolve_path, show_file};
use std::sync::Arc;
use tokio::time::Instant;
use visitor::{FETCH_SITE, visitor};

/// The content coding to send, by `Accept-Encoding`.
pub(super) fn coding(accept: Option<&str>) -> ContentCoding {
    negotiate::coding(accept)
}

/// Answers a request for a page. Only forms, below `_dropleaf/` or posted to the page's root, read the body.
pub(super) async fn answer(
    dispatcher: &Dispatcher,
    head: &Parts,
    body: Incoming,
    connection: &Arc<Connection>,
    address: PageAddress<'_>,
) -> Response<OutBody> {
    let mut found_page = None;
    match try_answer(dispatcher, head, body, connection, address, &mut found_page).await {
        Ok(response) => response,
        // Until the page's row is found and the cookie verified, the response must not reveal whether there is a page.
        Err(error)
            if error.code == Code::NotFound
                && found_page.is_none()
                && matches!(address, PageAddress::Root { .. }) =>
        {
            root_cookie::refused(head)
        }
        Err(error) => {
            // A page that exists can be reported even if it cannot be shown; one that is gone needs no report.
            let there = found_page.as_deref().filter(|_| error::status(error.code) != StatusCode::GONE);
            let report = there.map(|page| report::link(&page_request::root(address, page)));
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
        let forms = head.uri.path().contains(RESERVED_PREFIX);
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
    dispatcher: &Dispatcher,
    head: &Parts,
    body: Incoming,
    connection: &Arc<Connection>,
    address: PageAddress<'_>,
    found_page: &mut Option<Arc<dropleaf_app::PageView>>,
) -> Result<Response<OutBody>, Error> {
    let since = Instant::now();
    let missing = || Error::new(Code::NotFound, "There is no page at this address.");
    if head.headers.contains_key("service-worker") {
        return Err(Error::plain(Code::ServiceWorkerRefused));
    }
    if let PageAddress::Slug { rest: "robots.txt", .. } | PageAddress::Domain { rest: "robots.txt", .. } =
        address
    {
        return Ok(other(head, false));
    }
    let (key, tail) = address.split().ok_or_else(missing)?;
    let reserved_name = tail.and_then(|tail| tail.strip_prefix(RESERVED_PREFIX));
    // A form without an `action` is posted to the page's root; OPTIONS must not distinguish a burn page.
    let is_root_form = matches!(head.method, Method::POST | Method::OPTIONS) && tail == Some("");
    if reserved_name.is_none() && !is_root_form && !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    // Forms and what belongs to them always need the current row.
    let staleness = match address {
        _ if reserved_name.is_some() || is_root_form => Staleness::Refused,
        PageAddress::Domain { .. } => Staleness::AcceptedForDomain,
        _ => Staleness::Accepted,
    };
    let opened = dispatcher.in_time(head, since, dispatcher.app.view_page(&key, staleness)).await??;
    let OpenedPage { page, stale_for } = opened.ok_or_else(missing)?;
    if !is_at(dispatcher, address, &page) {
        return Err(missing());
    }
    let page = &**found_page.insert(page);
    let request = PageRequest {
        dispatcher,
        head,
        connection,
        address,
        page,
        visitor: visitor(&head.headers),
        in_sandboxed_frame: false,
    };
    let answer = respond(&request, tail, reserved_name, is_root_form, body);
    if page.access_rules.visibility == Visibility::Burn {
        // The one view may already be claimed, and a dropped response would lose the page.
        return dispatcher.in_long_time(since, Box::pin(answer)).await?;
    }
    let mut answer = dispatcher.in_time(head, since, answer).await?;
    if let (Some(age), Ok(response)) = (stale_for, &mut answer) {
        headers::stale(response.headers_mut(), age);
        dispatcher.metrics.stale_views.inc();
    }
    answer
}

/// Whether the page may be shown at this address: a page's own host shows no other page, and its root only with the cookie.
fn is_at(dispatcher: &Dispatcher, address: PageAddress<'_>, page: &dropleaf_app::PageView) -> bool {
    let is_own = is_on_host(address, page);
    match address {
        PageAddress::Root { pass, .. } => is_own && root_cookie::admits(&dispatcher.app, page, pass),
        _ => is_own,
    }
}

fn is_on_host(address: PageAddress<'_>, page: &dropleaf_app::PageView) -> bool {
    address.own_label().is_none_or(|label| page.site.host_label.eq_ignore_ascii_case(label))
}

/// The response for a page that was found.
async fn respond(
    request: &PageRequest<'_>,
    tail: Option<&str>,
    reserved_name: Option<&str>,
    is_root_form: bool,
    body: Incoming,
) -> Result<Response<OutBody>, Error> {
    let PageRequest { dispatcher, head, page, .. } = *request;
    if let Some(name) = reserved_name {
        // Boxed: forms are rare, and the future of a view should not be larger because of them.
        return Box::pin(reserved::answer(request, name, body)).await;
    }
    if is_root_form {
        return Box::pin(reserved::answer_at_root(request, body)).await;
    }
    check_requester(request, tail)?;
    // The redirect to the page's own host comes before its gates, whose cookies belong to that host. A page that is
    // gone says so without a redirect.
    if let Access::Gone(code) = access::decide(&page.access_rules, access::Passes::ALL, dispatcher.app.now())
    {
        return Box::pin(burn::gone(request, tail, code)).await;
    }
    let burns = page.access_rules.visibility == Visibility::Burn;
    if burns && !page.access_rules.is_gated() && burn::is_prefetch(request) {
        return Ok(burn::not_now());
    }
    if let Some(target) = isolated_target(request).filter(|_| !burns || !burn::is_robot(request)) {
        return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
    }
    let Some(tail) = tail else {
        return redirect(StatusCode::PERMANENT_REDIRECT, &with_query(head, &format!("{}/", head.uri.path())));
    };
    match admission::admit(request, tail).await? {
        Admission::Serve => {}
        Admission::Reveal => return Box::pin(burn::serve(request, tail)).await,
        Admission::Instead(response) => return Ok(response),
    }
    match show(request, tail).await {
        // Another process may have erased the content while the cached row is still considered valid.
        Err(error) if error.code == Code::Internal => {
            Box::pin(burn::decide_again(request, tail, error)).await
        }
        answer => answer,
    }
}

/// Refuses to be loaded as a script, style or data by our own pages where they share the address with published ones,
/// so that code injected into the dashboard finds nothing to load. A published page has no origin at this address, so
/// what it loads itself is cross-site. PDF viewers continue reading from the same origin; PDFs are not sandboxed, but
/// cannot run code.
fn check_requester(request: &PageRequest<'_>, tail: Option<&str>) -> Result<(), Error> {
    let shared = request.address.is_shared();
    if !shared || request.header(FETCH_SITE.as_str()) != Some("same-origin") || request.visitor.navigation {
        return Ok(());
    }
    let bundle = request.page.bundle.as_ref();
    let is_pdf = tail.zip(bundle).is_some_and(
        |(tail, bundle)| matches!(resolve_path(bundle, tail), ResolvedPath::File(file) if file.mime == "application/pdf"),
    );
    if is_pdf { Ok(()) } else { Err(Error::plain(Code::CrossSite)) }
}

/// Serves the file for a path to a viewer who has access.
async fn show(request: &PageRequest<'_>, tail: &str) -> Result<Response<OutBody>, Error> {
    let bundle = request.page.bundle.as_ref().ok_or_else(|| Error::internal("live page without a bundle"))?;
    if let Some(response) = root_cookie::lead(request, tail)? {
        return Ok(response);
    }
    if let Some(response) = frame::lead(request, tail)? {
        return Ok(response);
    }
    let mut response = show_file(request, bundle, tail).await?;
    root_cookie::offer(request, &mut response);
    Ok(response)
}

fn nothing_here() -> Error {
    Error::new(Code::NotFound, "There is nothing at this address.")
}

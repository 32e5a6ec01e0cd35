//! Answers a view on the fast path, if it is of a kind for which every step of `super::respond` has nothing to add: an open
//! page without gates, cookies, redirects or scripts of ours, whose row and file are in memory. Otherwise nothing has been
//! counted or charged, and the request is answered the other way.

use super::file::{is_view, ready};
use super::file_traits::FileTraits;
use super::headers::HSTS_TEXT;
use super::page_address::{PageAddress, RESERVED_PREFIX};
use super::resolve::{ResolvedPath, resolve_path};
use super::{is_on_host, negotiate, sending, toolbar};
use crate::connection::Connection;
use crate::fast_path::{FastHead, FastRequest, FastResponse, Missing};
use crate::http::Dispatcher;
use bytes::Bytes;
use dropleaf_app::{App, ContentCoding, PageView};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::visitor::{Visitor, VisitorHeaders};
use http::HeaderValue;
use std::sync::Arc;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";
const NOT_MODIFIED: &[u8] = b"HTTP/1.1 304 Not Modified\r\n";

/// The status of the response that was prepared. None if this request is not such a view.
pub(in crate::http) fn answer(
    dispatcher: &Dispatcher,
    request: &FastRequest<'_>,
    connection: &Connection,
    address: PageAddress<'_>,
    response: &mut FastResponse,
) -> Option<u16> {
    let (key, tail) = address.split()?;
    let tail = tail.filter(|tail| *tail != "robots.txt" && !tail.starts_with(RESERVED_PREFIX))?;
    // The root of a page's own host opens only with its cookie.
    if matches!(address, PageAddress::Root { .. }) {
        return None;
    }
    let app = &dispatcher.app;
    let Some(page) = app.cached_page(&key) else {
        response.set_missing(Missing::Row(key));
        return None;
    };
    let now = app.now();
    let visitor = visitor(request);
    if !is_on_host(address, &page)
        || !is_open(app, &page, now)
        || is_redirected(dispatcher, request, address, visitor)
    {
        return None;
    }
    let ResolvedPath::File(file) = resolve_path(page.bundle.as_ref()?, tail) else { return None };
    if file.is_program || !file.is_small() || toolbar::belongs(&page, address, file) {
        return None;
    }
    let traits = FileTraits::of(address, &page, file, visitor.any_browser);
    let lines = dispatcher.plain_heads.find(traits)?;
    let coding = if file.is_compressible {
        negotiate::coding(request.accept_encoding)
    } else {
        ContentCoding::Identity
    };
    let etag = file.etag(coding);
    let is_known = request.if_none_match.is_some_and(|condition| negotiate::matches(condition, etag));
    let body = if is_known {
        Bytes::new()
    } else {
        let Some(body) = app.cached_body(file, coding) else {
            response.set_missing(Missing::Body(Arc::clone(file), coding));
            return None;
        };
        sending::charge_whole(connection, &body.bytes)?
    };
    // From here on the request is answered.
    if is_view(&page, file, visitor) {
        app.count_view(&page.site);
    }
    let mime = (!is_known).then(|| ready(&file.mime));
    let head = FastHead {
        status_line: if is_known { NOT_MODIFIED } else { OK },
        lines,
        etag,
        content_type: mime.as_ref().map(HeaderValue::as_bytes),
        content_encoding: coding.name().filter(|_| !is_known),
        transport_security: dispatcher.is_secure().then_some(HSTS_TEXT.as_bytes()),
        now,
    };
    response.set(&head, body);
    Some(if is_known { 304 } else { 200 })
}

fn visitor(request: &FastRequest<'_>) -> Visitor {
    let has_fetch_metadata =
        request.fetch_mode.is_some() || request.fetch_site.is_some() || request.fetch_dest.is_some();
    Visitor::of(VisitorHeaders {
        user_agent: request.user_agent,
        fetch_mode: request.fetch_mode,
        has_fetch_metadata,
        purpose: request.purpose.filter(|_| has_fetch_metadata),
    })
}

/// Whether any viewer gets the page's files as they are, at this time.
fn is_open(app: &App, page: &PageView, now: i64) -> bool {
    let addressing = page.bundle.as_ref().map(|bundle| bundle.addressing);
    access::decide(&page.access_rules, Passes::default(), now) == Access::Serve
        && !page.site.e2e
        && !app.warns_before(&page.site)
        && addressing.is_some_and(|it| !it.root_paths && !it.client_routes && !it.spa)
}

/// Whether this viewer is sent to the page's own host, or refused because one of our own pages wants to load the file.
fn is_redirected(
    dispatcher: &Dispatcher,
    request: &FastRequest<'_>,
    address: PageAddress<'_>,
    visitor: Visitor,
) -> bool {
    if !address.is_shared() {
        return false;
    }
    if visitor.navigation {
        dispatcher.resolved.hosts.isolated
    } else {
        request.fetch_site == Some("same-origin")
    }
}

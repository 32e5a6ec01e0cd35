//! Serving pages: the hot path. One lookup for the row, a pure decision, one lookup for the bytes.

mod file;
mod headers;
mod negotiate;

pub(super) use headers::HSTS;

use super::error::{self, Wants};
use super::{Door, OutBody, empty};
use dropleaf_app::{LiveBundle, LiveFile, Page, PageKey};
use dropleaf_core::access::{self, Access, Gate};
use dropleaf_core::visitor::{Signs, Visitor};
use dropleaf_core::{Code, Error, path};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use std::sync::Arc;

/// Where a page was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// `{site_url}/p/<token>/…`; `rest` begins with the token.
    Shared { rest: &'a str },
    /// `{site_url}/s/<slug>/…`, where sites cannot have hosts of their own.
    SharedSlug { rest: &'a str },
    /// `s-….<site_host>/p/<token>/…`
    Isolated { label: &'a str, rest: &'a str },
    /// `<slug>.<site_host>/…`; `rest` is the path below the root.
    Slug { slug: &'a str, rest: &'a str },
}

impl Place<'_> {
    /// Whether other sites live at the same address.
    const fn is_shared(self) -> bool {
        matches!(self, Self::Shared { .. } | Self::SharedSlug { .. })
    }

    /// The page that is meant, and the path below its root. No path at all when the closing slash is missing.
    fn split(&self) -> Option<(PageKey, Option<&str>)> {
        let below = |rest: &str| rest.find('/').map(|at| at + 1);
        match self {
            Self::Shared { rest } | Self::Isolated { rest, .. } => {
                let token = rest.get(..22)?;
                let tail = match rest.get(22..)? {
                    "" => None,
                    tail => Some(tail.strip_prefix('/')?),
                };
                Some((PageKey::token(token)?, tail))
            }
            Self::SharedSlug { rest } => match below(rest) {
                Some(at) => Some((PageKey::slug(&rest[..at - 1])?, Some(&rest[at..]))),
                None => Some((PageKey::slug(rest)?, None)),
            },
            Self::Slug { slug, rest } => Some((PageKey::slug(slug)?, Some(rest))),
        }
    }
}

pub(super) async fn answer<B>(door: &Door, request: &Request<B>, place: Place<'_>) -> Response<OutBody> {
    match try_answer(door, request, place).await {
        Ok(response) => response,
        Err(error) => failed(request, &error),
    }
}

/// Paths of page hosts that belong to no page. Crawlers are let in: only so do they read that they may not index.
pub(super) fn other<B>(request: &Request<B>) -> Response<OutBody> {
    if request.uri().path() == "/robots.txt" {
        let mut response = Response::new(OutBody::from(String::from("User-agent: *\nAllow: /\n")));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers::common(headers);
        return response;
    }
    failed(request, &Error::not_found("page"))
}

fn failed<B>(request: &Request<B>, error: &Error) -> Response<OutBody> {
    let mut response = error::respond(error, wants(request.headers()));
    if error.code == Code::MethodNotAllowed {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    if request.method() == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// A viewer's browser gets a designed page even if it does not say what it accepts.
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

async fn try_answer<B>(
    door: &Door,
    request: &Request<B>,
    place: Place<'_>,
) -> Result<Response<OutBody>, Error> {
    let missing = || Error::new(Code::NotFound, "There is no page at this address.");
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    if request.headers().contains_key(SERVICE_WORKER) {
        return Err(Error::plain(Code::ServiceWorkerRefused));
    }
    if matches!(place, Place::Slug { rest: "robots.txt", .. }) {
        return Ok(other(request));
    }
    let (key, tail) = place.split().ok_or_else(missing)?;
    let page = door.app.open_page(&key).await?.ok_or_else(missing)?;
    if let Place::Isolated { label, .. } = place
        && !page.site.host_label.eq_ignore_ascii_case(label)
    {
        return Err(missing());
    }
    match access::decide(&page.door, door.app.now()) {
        Access::Serve => {}
        Access::Gone(code) => return Err(Error::plain(code)),
        Access::Protected(gate) => return Err(Error::new(Code::Protected, protected(gate))),
    }
    let visitor = visitor(request.headers());
    if let Some(target) = isolated_target(door, request, place, &page, visitor) {
        return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
    }
    let Some(tail) = tail else {
        return redirect(
            StatusCode::PERMANENT_REDIRECT,
            &with_query(request, &format!("{}/", request.uri().path())),
        );
    };
    let bundle = page.bundle.as_ref().ok_or_else(|| Error::internal("a live page has no content"))?;
    let scene = file::Scene { door, place, page: &page, visitor };
    match find(bundle, tail) {
        Found::File(file) => {
            if page.site.e2e && visitor.navigation && file.path.starts_with("payload") {
                return Err(Error::new(
                    Code::Protected,
                    "The page is end-to-end encrypted, and this server cannot open it in a browser yet.",
                ));
            }
            file::send(&scene, request, file, StatusCode::OK).await
        }
        Found::Folder => redirect(
            StatusCode::PERMANENT_REDIRECT,
            &with_query(request, &format!("{}/", request.uri().path())),
        ),
        Found::Nothing => match bundle.find("404.html") {
            Some(file) => file::send(&scene, request, file, StatusCode::NOT_FOUND).await,
            None => Err(Error::new(Code::NotFound, "This page has no such file.")),
        },
    }
}

const fn protected(gate: Gate) -> &'static str {
    match gate {
        Gate::Password => "The page is protected by a password, and this server cannot ask for it yet.",
        Gate::Email => "The page is open to one e-mail domain, and this server cannot check addresses yet.",
        Gate::Burn => "The page is deleted after its first view, and this server cannot reveal it yet.",
    }
}

enum Found<'a> {
    File(&'a Arc<LiveFile>),
    Folder,
    Nothing,
}

/// The file a path names: exactly, or the index of a folder. What lies below `_dropleaf/` is not for viewers.
fn find<'a>(bundle: &'a LiveBundle, raw: &str) -> Found<'a> {
    if raw.is_empty() {
        return bundle.entry().map_or(Found::Nothing, Found::File);
    }
    let Some(name) = path::decode(raw) else { return Found::Nothing };
    if name.starts_with("_dropleaf/") {
        return Found::Nothing;
    }
    if let Some(file) = bundle.find(&name) {
        return Found::File(file);
    }
    if name.ends_with('/') {
        return bundle.find(&format!("{name}index.html")).map_or(Found::Nothing, Found::File);
    }
    if bundle.find(&format!("{name}/index.html")).is_some() { Found::Folder } else { Found::Nothing }
}

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
    // Only browsers that send fetch metadata say so when they load a page nobody has asked for yet.
    let purpose = if has_fetch_metadata { text(&PURPOSE) } else { None };
    Visitor::of(Signs { user_agent: text(&header::USER_AGENT), fetch_mode, has_fetch_metadata, purpose })
}

/// Where a browser goes instead: to the page's own host, so that no two pages share an origin.
fn isolated_target<B>(
    door: &Door,
    request: &Request<B>,
    place: Place<'_>,
    page: &Page,
    visitor: Visitor,
) -> Option<String> {
    let hosts = &door.resolved.hosts;
    let deaf = visitor.safari && hosts.site.is_loopback();
    if !matches!(place, Place::Shared { .. }) || !hosts.isolated || !visitor.navigation || deaf {
        return None;
    }
    let origin = hosts.isolated_origin(&page.site.host_label);
    Some(with_query(request, &format!("{origin}{}", request.uri().path())))
}

fn with_query<B>(request: &Request<B>, target: &str) -> String {
    match request.uri().query() {
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

//! Pages that are deleted after their first view: shows the reveal page, decides which requests burn at once, and
//! erases the content afterwards.
//!
//! Revealing redirects to the page instead of returning it: a reload is then an ordinary GET, a lost response can be
//! repeated by pressing the button again, and relative file addresses work. The cookie set by the reveal page admits
//! exactly this viewer while the window lasts. The table is in docs/security.md.

use super::admission::{self, Admission};
use super::cookies::Cookie;
use super::page_request::PageRequest;
use super::{form, headers, isolated_target, redirect, report, show, without_body};
use crate::http::{OutBody, empty, error};
use dropleaf_app::ViewClaim;
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error, burn, visitor};
use dropleaf_pages::{self as pages, Reveal};
use futures_util::future::BoxFuture;
use http::{Method, Response, StatusCode, header};
use hyper::body::Incoming;

/// Lifetime of the cookie of the reveal page: an older tab has lost it when its button is pressed.
const COOKIE_SECONDS: i64 = 86_400;
const TRIES: usize = 5;

type Answer<'a> = BoxFuture<'a, Result<Response<OutBody>, Error>>;

/// Serves a live burn page, according to the cached row.
pub(super) async fn serve(request: &PageRequest<'_>, tail: &str) -> Result<Response<OutBody>, Error> {
    if is_prefetch(request) {
        return Ok(not_now());
    }
    // Only the database decides whether it is still unburnt; the cache of a node may be slightly behind.
    let page = request.reload_page().await?;
    if page.site.updated_at != request.page.site.updated_at {
        return retry(request, tail).await;
    }
    if !tail.is_empty() {
        return Err(Error::new(Code::NotFound, "This page does not contain this file."));
    }
    let agent = request.header("user-agent").unwrap_or_default();
    if request.head.method != Method::GET || !request.visitor.burns_by_requesting(agent) {
        return Ok(ask_first(request));
    }
    // Prepared first, so that a page whose bytes cannot be read now is not lost.
    let ready = show(request, tail).await;
    if ready.is_err() && request.reload_page().await?.site.updated_at == page.site.updated_at {
        return ready;
    }
    match (ready, request.dispatcher.app.claim_view(&page, None).await?) {
        (Ok(ready), ViewClaim::Won) => Ok(only_answer(request, ready)),
        _ => retry(request, tail).await,
    }
}

/// Serves a page that is gone; the viewer who has just burnt it may view it again for a short time.
pub(super) async fn gone(
    request: &PageRequest<'_>,
    tail: Option<&str>,
    code: Code,
) -> Result<Response<OutBody>, Error> {
    if code == Code::Burnt && request.page.bundle.is_some() {
        if may_view_again(request).await? {
            return match tail {
                Some(tail) => show(request, tail).await,
                None => redirect(StatusCode::PERMANENT_REDIRECT, &request.root()),
            };
        }
        // The cookie belongs to the page's own host.
        if let Some(target) = isolated_target(request)
            && request.dispatcher.app.has_open_view_window(&request.page.site.id).await?
        {
            return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
        }
    }
    Err(Error::plain(code))
}

/// Handles the button of the reveal page.
pub(super) async fn reveal(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    match request.head.method {
        Method::POST => {}
        Method::GET | Method::HEAD => return redirect(StatusCode::SEE_OTHER, &request.root()),
        _ => return Err(Error::plain(Code::MethodNotAllowed)),
    }
    form::require_same_origin(request)?;
    let fields = form::fields(body).await?;
    // At a page's root several forms share an address: a gate's form, sent again, must not burn the page.
    if ["password", "email", "code"].iter().any(|name| form::field(&fields, name).is_some()) {
        return redirect(StatusCode::SEE_OTHER, &request.root());
    }
    for _ in 0..TRIES {
        let page = request.reload_page().await?;
        let request = PageRequest { page: &page, ..*request };
        if let Access::Gone(code) =
            access::decide(&page.access_rules, Passes::ALL, request.dispatcher.app.now())
        {
            // A second press, or a press whose response was lost.
            return if code == Code::Burnt && may_view_again(&request).await? {
                redirect(StatusCode::SEE_OTHER, &request.root())
            } else {
                Err(Error::plain(code))
            };
        }
        admission::require_inside(&request).await?;
        if page.site.visibility != Visibility::Burn {
            return redirect(StatusCode::SEE_OTHER, &request.root());
        }
        let secret = Cookie::View.read(&request).filter(|secret| burn::is_secret(secret));
        // A client without the cookie cannot come back, so it gets the page at once.
        let ready = match secret {
            Some(_) => redirect(StatusCode::SEE_OTHER, &request.root())?,
            None => show(&request, "").await?,
        };
        match (request.dispatcher.app.claim_view(&page, secret).await?, secret) {
            (ViewClaim::Won, Some(_)) => {
                request.dispatcher.app.count_view(&page.site);
                return Ok(ready);
            }
            (ViewClaim::Won, None) => return Ok(only_answer(&request, ready)),
            (ViewClaim::Changed, _) => {}
        }
    }
    Err(Error::plain(Code::Overloaded).retry_after(1))
}

/// The row changed during the request: repeats every decision, starting with the gates.
fn retry<'a>(request: &'a PageRequest<'a>, tail: &'a str) -> Answer<'a> {
    Box::pin(async move {
        let page = request.reload_page().await?;
        let request = PageRequest { page: &page, ..*request };
        if let Access::Gone(code) =
            access::decide(&page.access_rules, Passes::ALL, request.dispatcher.app.now())
        {
            return gone(&request, Some(tail), code).await;
        }
        match admission::admit(&request, tail).await? {
            Admission::Serve => show(&request, tail).await,
            Admission::Reveal => serve(&request, tail).await,
            Admission::Instead(response) => Ok(response),
        }
    })
}

/// The content could not be read: if the row has changed since, decides again; otherwise returns the failure.
pub(super) async fn decide_again(
    request: &PageRequest<'_>,
    tail: &str,
    failure: Error,
) -> Result<Response<OutBody>, Error> {
    if request.reload_page().await?.site.updated_at == request.page.site.updated_at {
        return Err(failure);
    }
    retry(request, tail).await
}

async fn may_view_again(request: &PageRequest<'_>) -> Result<bool, Error> {
    match Cookie::View.read(request) {
        Some(secret) => request.dispatcher.app.may_view_again(&request.page.site.id, secret).await,
        None => Ok(false),
    }
}

/// Makes this the only response with the content: once it has been sent, the bytes are erased.
fn only_answer(request: &PageRequest<'_>, mut response: Response<OutBody>) -> Response<OutBody> {
    let app = &request.dispatcher.app;
    app.count_view(&request.page.site);
    let body = std::mem::replace(response.body_mut(), OutBody::empty());
    *response.body_mut() = body.keeping(app.erase_on_drop(&request.page.site));
    response
}

fn ask_first(request: &PageRequest<'_>) -> Response<OutBody> {
    let root = request.root();
    let files = request.page.bundle.as_ref().map_or(1, |bundle| bundle.file_count());
    let page = pages::reveal(&Reveal {
        // The key of an encrypted page is in the fragment, which only survives on the page's own address.
        action: (!request.page.site.e2e).then(|| format!("{root}_dropleaf/reveal")).as_deref(),
        window_seconds: burn::window_seconds(files),
        report: Some(&report::link(&root)),
    });
    let mut response = error::designed(StatusCode::OK, page);
    headers::interstitial(response.headers_mut());
    // An existing cookie is kept, so that a second tab does not lock out the first. Not where a page on a sibling host
    // could have planted it.
    let is_tied = request.takes_secure_cookies();
    let known = is_tied && Cookie::View.read(request).is_some_and(burn::is_secret);
    if request.visitor.navigation && request.head.method == Method::GET && !known {
        let cookie = Cookie::View.set(request, &request.dispatcher.app.view_secret(), COOKIE_SECONDS);
        response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    }
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// Whether the request is a prefetch or prerender, without a person having asked for the page.
pub(super) fn is_prefetch(request: &PageRequest<'_>) -> bool {
    ["sec-purpose", "purpose", "x-moz"]
        .iter()
        .any(|name| request.header(name).is_some_and(visitor::is_prefetch))
}

/// Crawlers are answered without a redirect; many do not follow to another host, and some retry with another user
/// agent.
pub(super) fn is_robot(request: &PageRequest<'_>) -> bool {
    request.header("user-agent").is_some_and(visitor::is_bot)
}

pub(super) fn not_now() -> Response<OutBody> {
    let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
    headers::common(response.headers_mut());
    headers::interstitial(response.headers_mut());
    response
}

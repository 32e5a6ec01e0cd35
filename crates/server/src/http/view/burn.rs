//! Pages that are deleted after their first view: shows the reveal page, decides which requests burn at once, and
//! erases the content afterwards.
//!
//! Revealing redirects to the page instead of returning it: a reload is then an ordinary GET, a lost response can be
//! repeated by pressing the button again, and relative file addresses work. The cookie set by the reveal page admits
//! exactly this viewer while the window lasts. The table is in docs/security.md.

use super::cookies::Cookie;
use super::scene::Scene;
use super::{form, headers, isolated_target, redirect, report, show, without_body};
use crate::http::{OutBody, empty, error};
use crate::pages::{self, Reveal};
use dropleaf_app::{PageView, ViewClaim};
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error, burn, visitor};
use futures_util::future::BoxFuture;
use http::{Method, Response, StatusCode, header};
use hyper::body::Incoming;
use std::sync::Arc;

/// Lifetime of the cookie of the reveal page: an older tab has lost it when its button is pressed.
const COOKIE_SECONDS: i64 = 86_400;
const TRIES: usize = 5;

type Answer<'a> = BoxFuture<'a, Result<Response<OutBody>, Error>>;

/// Serves a live burn page, according to the cached row.
pub(super) async fn meet(scene: &Scene<'_>, tail: &str) -> Result<Response<OutBody>, Error> {
    if is_ahead_of_time(scene) {
        return Ok(not_now());
    }
    // Only the database decides whether it is still unburnt; the cache of a node may be slightly behind.
    let page = reopen(scene).await?;
    if page.site.updated_at != scene.page.site.updated_at {
        return anew(scene, tail).await;
    }
    if !tail.is_empty() {
        return Err(Error::new(Code::NotFound, "This page does not contain this file."));
    }
    let agent = scene.header("user-agent").unwrap_or_default();
    if scene.head.method != Method::GET || !scene.visitor.burns_by_requesting(agent) {
        return Ok(ask_first(scene));
    }
    // Prepared first, so that a page whose bytes cannot be read now is not lost.
    let ready = show(scene, tail).await;
    if ready.is_err() && reopen(scene).await?.site.updated_at == page.site.updated_at {
        return ready;
    }
    match (ready, scene.door.app.claim_view(&page, None).await?) {
        (Ok(ready), ViewClaim::Won) => Ok(only_answer(scene, ready)),
        _ => anew(scene, tail).await,
    }
}

/// Serves a page that is gone; the viewer who has just burnt it may view it again for a short time.
pub(super) async fn gone(
    scene: &Scene<'_>,
    tail: Option<&str>,
    code: Code,
) -> Result<Response<OutBody>, Error> {
    if code == Code::Burnt && scene.page.bundle.is_some() {
        if may_look_again(scene).await? {
            return match tail {
                Some(tail) => show(scene, tail).await,
                None => redirect(StatusCode::PERMANENT_REDIRECT, &scene.root()),
            };
        }
        // The cookie belongs to the page's own host.
        if let Some(target) = isolated_target(scene)
            && scene.door.app.has_open_view_window(&scene.page.site.id).await?
        {
            return redirect(StatusCode::TEMPORARY_REDIRECT, &target);
        }
    }
    Err(Error::plain(code))
}

/// Handles the button of the reveal page.
pub(super) async fn reveal(scene: &Scene<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    match scene.head.method {
        Method::POST => {}
        Method::GET | Method::HEAD => return redirect(StatusCode::SEE_OTHER, &scene.root()),
        _ => return Err(Error::plain(Code::MethodNotAllowed)),
    }
    form::require_same_origin(scene)?;
    let fields = form::fields(body).await?;
    // At a page's root several forms share an address: a gate's form, sent again, must not burn the page.
    if ["password", "email", "code"].iter().any(|name| form::field(&fields, name).is_some()) {
        return redirect(StatusCode::SEE_OTHER, &scene.root());
    }
    for _ in 0..TRIES {
        let page = reopen(scene).await?;
        let scene = Scene { page: &page, ..*scene };
        if let Access::Gone(code) = access::decide(&page.door, Passes::ALL, scene.door.app.now()) {
            // A second press, or a press whose response was lost.
            return if code == Code::Burnt && may_look_again(&scene).await? {
                redirect(StatusCode::SEE_OTHER, &scene.root())
            } else {
                Err(Error::plain(code))
            };
        }
        scene.require_inside().await?;
        if page.site.visibility != Visibility::Burn {
            return redirect(StatusCode::SEE_OTHER, &scene.root());
        }
        let secret = Cookie::View.read(&scene).filter(|secret| burn::is_secret(secret));
        // A client without the cookie cannot come back, so it gets the page at once.
        let ready = match secret {
            Some(_) => redirect(StatusCode::SEE_OTHER, &scene.root())?,
            None => show(&scene, "").await?,
        };
        match (scene.door.app.claim_view(&page, secret).await?, secret) {
            (ViewClaim::Won, Some(_)) => {
                scene.door.app.count_view(&page.site);
                return Ok(ready);
            }
            (ViewClaim::Won, None) => return Ok(only_answer(&scene, ready)),
            (ViewClaim::Changed, _) => {}
        }
    }
    Err(Error::plain(Code::Overloaded).retry_after(1))
}

/// The current row from the database.
pub(super) async fn reopen(scene: &Scene<'_>) -> Result<Arc<PageView>, Error> {
    let missing = || Error::new(Code::NotFound, "There is no page at this address.");
    let (key, _) = scene.place.split().ok_or_else(missing)?;
    scene.door.app.open_page_uncached(&key).await?.ok_or_else(missing)
}

/// The row changed during the request: repeats every decision, starting with the gates.
fn anew<'a>(scene: &'a Scene<'a>, tail: &'a str) -> Answer<'a> {
    Box::pin(async move {
        let page = reopen(scene).await?;
        let scene = Scene { page: &page, ..*scene };
        if let Access::Gone(code) = access::decide(&page.door, Passes::ALL, scene.door.app.now()) {
            return gone(&scene, Some(tail), code).await;
        }
        match scene.detour(tail).await? {
            Some(response) => Ok(response),
            None => show(&scene, tail).await,
        }
    })
}

/// The content could not be read: if the row has changed since, decides again; otherwise returns the failure.
pub(super) async fn decide_anew(
    scene: &Scene<'_>,
    tail: &str,
    failure: Error,
) -> Result<Response<OutBody>, Error> {
    if reopen(scene).await?.site.updated_at == scene.page.site.updated_at {
        return Err(failure);
    }
    anew(scene, tail).await
}

async fn may_look_again(scene: &Scene<'_>) -> Result<bool, Error> {
    match Cookie::View.read(scene) {
        Some(secret) => scene.door.app.may_view_again(&scene.page.site.id, secret).await,
        None => Ok(false),
    }
}

/// Makes this the only response with the content: once it has been sent, the bytes are erased.
fn only_answer(scene: &Scene<'_>, mut response: Response<OutBody>) -> Response<OutBody> {
    let app = &scene.door.app;
    app.count_view(&scene.page.site);
    let body = std::mem::replace(response.body_mut(), OutBody::empty());
    *response.body_mut() = body.keeping(app.erase_on_drop(&scene.page.site));
    response
}

fn ask_first(scene: &Scene<'_>) -> Response<OutBody> {
    let root = scene.root();
    let files = scene.page.bundle.as_ref().map_or(1, |bundle| bundle.file_count());
    let page = pages::reveal(&Reveal {
        // The key of an encrypted page is in the fragment, which only survives on the page's own address.
        action: (!scene.page.site.e2e).then(|| format!("{root}_dropleaf/reveal")).as_deref(),
        window_seconds: burn::window_seconds(files),
        report: Some(&report::link(&root)),
    });
    let mut response = error::designed(StatusCode::OK, page);
    headers::unburnt(response.headers_mut());
    // An existing cookie is kept, so that a second tab does not lock out the first. Not where a page on a sibling host
    // could have planted it.
    let is_tied = scene.door.resolved.hosts.site.takes_secure_cookies();
    let known = is_tied && Cookie::View.read(scene).is_some_and(burn::is_secret);
    if scene.visitor.navigation && scene.head.method == Method::GET && !known {
        let cookie = Cookie::View.set(scene, &scene.door.app.view_secret(), COOKIE_SECONDS);
        response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    }
    if scene.head.method == Method::HEAD {
        without_body(&mut response);
    }
    response
}

/// Whether the request is a prefetch or prerender, without a person having asked for the page.
pub(super) fn is_ahead_of_time(scene: &Scene<'_>) -> bool {
    ["sec-purpose", "purpose", "x-moz"]
        .iter()
        .any(|name| scene.header(name).is_some_and(visitor::is_ahead_of_time))
}

/// Crawlers are answered without a redirect; many do not follow to another host, and some retry with another user
/// agent.
pub(super) fn is_robot(scene: &Scene<'_>) -> bool {
    scene.header("user-agent").is_some_and(visitor::is_bot)
}

pub(super) fn not_now() -> Response<OutBody> {
    let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
    headers::common(response.headers_mut());
    headers::unburnt(response.headers_mut());
    response
}

//! Share links: `?t=` opens the password gate and is removed from the address at once. The browser gets a cookie that
//! names the token; whether the token is still valid is looked up on every request.

use super::cookies::Cookie;
use super::page_request::PageRequest;
use super::{OutBody, redirect};
use dropleaf_core::share_token::{self, QuerySecret, ShareToken};
use dropleaf_core::{Error, visitor};
use http::{Method, Response, StatusCode, header};

/// The effect of a share link on this request.
pub(super) enum ShareLink {
    /// There is none, or it is not valid.
    No,
    Opens {
        email_gate: bool,
    },
    /// To the same address without the token.
    Redirect(Response<OutBody>),
}

/// For pages with gates.
pub(super) async fn check(request: &PageRequest<'_>) -> Result<ShareLink, Error> {
    if let Some(found) = share_token::in_query(request.head.uri.query()).filter(|_| is_by_person(request)) {
        // HEAD does not use up the link.
        let counts = request.head.method != Method::HEAD;
        let token = request.dispatcher.app.use_share_token(&request.page.site, found.token, counts).await?;
        if request.visitor.navigation {
            // The same response for a valid and an invalid token; the page or its gate follows.
            return clean(request, &found, token.filter(|_| counts).as_ref()).map(ShareLink::Redirect);
        }
        if let Some(token) = token {
            return Ok(opens(&token));
        }
    }
    let Some(pass) = Cookie::Share.read(request) else { return Ok(ShareLink::No) };
    let token = request.dispatcher.app.verify_share_pass(&request.page.site, pass).await?;
    Ok(token.as_ref().map_or(ShareLink::No, opens))
}

/// For pages without gates: the token opens nothing, but should not stay in the browser's address bar and history.
pub(super) fn strip(request: &PageRequest<'_>) -> Result<Option<Response<OutBody>>, Error> {
    match share_token::in_query(request.head.uri.query()).filter(|_| request.visitor.navigation) {
        Some(found) => clean(request, &found, None).map(Some),
        None => Ok(None),
    }
}

/// Whether a person requests the page. A link preview or a prefetch must not use up a link.
pub(super) fn is_by_person(request: &PageRequest<'_>) -> bool {
    !request.visitor.prefetch && !request.header("user-agent").is_some_and(visitor::is_bot)
}

const fn opens(token: &ShareToken) -> ShareLink {
    ShareLink::Opens { email_gate: token.bypass_email_gate }
}

fn clean(
    request: &PageRequest<'_>,
    found: &QuerySecret<'_>,
    token: Option<&ShareToken>,
) -> Result<Response<OutBody>, Error> {
    let mut response = without_secret(request, found)?;
    if let Some(token) = token {
        let pass = request.dispatcher.app.share_pass(token);
        if let Some(cookie) = Cookie::Share.set(request, &pass.value, pass.seconds) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
    Ok(response)
}

/// Redirects to the same address without the secret.
pub(super) fn without_secret(
    request: &PageRequest<'_>,
    found: &QuerySecret<'_>,
) -> Result<Response<OutBody>, Error> {
    // Two slashes at the start would name another host.
    let path = request.head.uri.path();
    let path = if path[1..].starts_with(['/', '\\']) { format!("/.{path}") } else { path.to_owned() };
    let target = found.rest.as_ref().map_or_else(|| path.clone(), |rest| format!("{path}?{rest}"));
    redirect(StatusCode::SEE_OTHER, &target)
}

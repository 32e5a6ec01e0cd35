//! Dispatches the addresses below `_dropleaf/` of a page: gates, reveal, warning, feedback, changes, live updates,
//! reports.

use super::page_request::PageRequest;
use super::{
    admission, burn, changes, email_gate, feedback, frame, gates, live, nothing_here, owner, redirect,
    report, warning,
};
use crate::http::OutBody;
use dropleaf_core::site::Visibility;
use dropleaf_core::{Code, Error};
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;

pub(super) async fn answer(
    request: &PageRequest<'_>,
    name: &str,
    body: Incoming,
) -> Result<Response<OutBody>, Error> {
    if let Some(rest) = name.strip_prefix(owner::NAME) {
        return owner::preview_file(request, rest).await;
    }
    if let Some(rest) = name.strip_prefix(frame::NAME) {
        return frame::file(request, rest).await;
    }
    if let Some(id) = name.strip_prefix("feedback/").and_then(|rest| rest.strip_suffix("/replies")) {
        return feedback::answer(request, Some(id), body).await;
    }
    match name {
        "gate" => gates::submit(request, body).await,
        "code" => email_gate::submit(request, body).await,
        "reveal" => burn::reveal(request, body).await,
        warning::NAME => warning::submit(request, body).await,
        "feedback" => feedback::answer(request, None, body).await,
        "toolbar.js" => feedback::toolbar(request),
        changes::NAME => changes::answer(request).await,
        "live" => live::answer(request).await,
        "live.js" => live::script(request),
        "report" => report::answer(request, body).await,
        _ => Err(nothing_here()),
    }
}

/// Handles forms posted to a page's root, which keeps the fragment of its address: a gate's form, the reveal button or the
/// button of the warning. A burn page answers OPTIONS like HEAD.
pub(super) async fn answer_at_root(
    request: &PageRequest<'_>,
    body: Incoming,
) -> Result<Response<OutBody>, Error> {
    let rules = &request.page.access_rules;
    let burns = rules.visibility == Visibility::Burn;
    let inside = admission::require_inside(request).await.map_err(|refusal| refusal.code);
    match (&request.head.method, inside) {
        (&Method::POST, Err(Code::PasswordRequired)) => gates::submit(request, body).await,
        (&Method::POST, Err(Code::EmailRequired)) => email_gate::submit(request, body).await,
        (&Method::POST, _) if burns => burn::reveal(request, body).await,
        (&Method::POST, Ok(())) if warning::is_on(request) => warning::submit(request, body).await,
        // The gate was passed in another tab in the meantime.
        (&Method::POST, Ok(())) if rules.is_gated() => redirect(StatusCode::SEE_OTHER, &request.root()),
        (&Method::POST, Err(code)) if rules.is_gated() => Err(Error::plain(code)),
        (&Method::OPTIONS, Ok(())) if burns => burn::serve(request, "").await,
        (&Method::OPTIONS, Err(code)) if burns => Err(Error::plain(code)),
        _ => Err(Error::plain(Code::MethodNotAllowed)),
    }
}

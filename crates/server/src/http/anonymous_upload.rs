//! Publishes a file that a visitor drops on the front page: without an account, with the quota and the checks of
//! `POST /sites`. The session cookie is not read, so another site can publish nothing in a person's name. A script gets
//! JSON, a plain form a page.

use super::api::{SiteJson, designed_headers, publish};
use super::dashboard::{may_appeal, words};
use super::error::{self, Wants, scripted_policy, status};
use super::extract::{Incoming, idempotency_key, idempotent_request, parse_options};
use super::layer::Exchange;
use super::state::ApiState;
use super::web::{OwnVisitor, see_other};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_app::{Caller, CreatedSite, IdempotentResult};
use dropleaf_core::error::Fact;
use dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pages::{self as pages, Moment, PublishedPage, Rendered, UploadLimits, UploadProblem};
use http::{HeaderMap, StatusCode};

/// The front page has the form.
pub(super) async fn read() -> Response {
    see_other("/#drop")
}

pub(super) async fn create(
    State(state): State<ApiState>,
    OwnVisitor(ip): OwnVisitor,
    Extension(exchange): Extension<Exchange>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let caller = Caller { account: None, grant_id: None, ip, maker: None };
    let incoming = Incoming { state: &state, headers: &headers, body };
    let wants_json = Wants::of(&headers) == Wants::Json;
    let standing = async {
        state.app.require_anonymous_publishing()?;
        state.app.check_anonymous(&caller, idempotency_key(&headers).is_some()).await
    };
    match standing.await {
        Ok(standing) => standing.into_iter().for_each(|standing| exchange.note_standing(standing)),
        Err(error) => {
            incoming.refuse(&error);
            return refused(&state, &error, wants_json);
        }
    }
    let outcome = if wants_json {
        create_json(&state, &caller, &headers, incoming).await
    } else {
        create_page(&state, &caller, incoming).await
    };
    outcome.unwrap_or_else(|error| refused(&state, &error, wants_json))
}

/// For the script: the response of `POST /sites`.
async fn create_json(
    state: &ApiState,
    caller: &Caller,
    headers: &HeaderMap,
    incoming: Incoming<'_>,
) -> Result<Response> {
    let form = incoming.form().await?;
    let options = parse_options(&form.fields)?;
    let once = idempotent_request(state, idempotency_key(headers), caller, form.hash);
    let created = publish(state, caller, form.upload, options, once.as_ref()).await?;
    Ok(created.into_response())
}

/// For a plain form: a page with the link.
async fn create_page(state: &ApiState, caller: &Caller, incoming: Incoming<'_>) -> Result<Response> {
    let form = incoming.form().await?;
    let options = parse_options(&form.fields)?;
    let created = state.app.create_site(caller, form.upload, options, None, |_| Vec::new()).await?;
    match created {
        IdempotentResult::New(created) => Ok(published(state, &created)),
        // Only a request with a key is repeated.
        IdempotentResult::Replayed { .. } => Ok(see_other("/")),
    }
}

fn published(state: &ApiState, created: &CreatedSite) -> Response {
    let json = SiteJson::created(&state.app, created);
    let page = PublishedPage {
        title: &created.site.title,
        url: &state.app.canonical_url(&created.site),
        claim_url: json.claim_url(),
        expires_at: Moment(created.site.expires_at.unwrap_or_default()),
        warnings: &created.warnings,
    };
    designed(StatusCode::CREATED, pages::upload_published(page, limits(state)))
}

fn refused(state: &ApiState, error: &Error, wants_json: bool) -> Response {
    let mut worded = Error {
        detail: visitor_words(error),
        facts: error.facts.clone(),
        retry_after: error.retry_after,
        rate_limit: error.rate_limit.clone(),
        ..Error::plain(error.code)
    };
    let code = status(error.code);
    if wants_json {
        if code.is_server_error() && error.code != Code::AnonymousStorageFull {
            return error::respond(error, Wants::Json).map(Body::new);
        }
        if may_appeal(error) {
            worded.facts.push(("appeal", Fact::Text("Was it refused by mistake?".into())));
            worded.facts.push(("appeal_page", Fact::Text(pages::REVIEW.into())));
        }
        return error::respond(&worded, Wants::Json).map(Body::new);
    }
    if code.is_server_error() && error.code != Code::AnonymousStorageFull {
        return error::respond(error, Wants::Page).map(Body::new);
    }
    let problem = UploadProblem {
        message: &worded.detail,
        reasons: error.reasons(),
        may_appeal: may_appeal(error),
        may_retry: error.retry_after.is_none() && error.code != Code::AuthRequired,
    };
    let mut response = designed(code, pages::upload_refused(problem, limits(state)));
    error::note(response.headers_mut(), &worded);
    response
}

/// The refusal in words for a person without an account.
fn visitor_words(error: &Error) -> String {
    match error.code {
        Code::RateLimited => {
            let wait = wait_words(error.retry_after.unwrap_or(60));
            format!(
                "Too many files were published from your network without an account. Try again in {wait}, or sign in to publish now."
            )
        }
        Code::AnonymousStorageFull => {
            "There is no space left for pages without an account. Try again later, or sign in to publish now."
                .into()
        }
        Code::AuthRequired => error.detail.clone(),
        _ => words(error),
    }
}

/// A waiting time, rounded up so that it is never too short.
fn wait_words(seconds: i64) -> String {
    let (n, unit) = match seconds {
        ..=90 => return "a minute".into(),
        91..=5400 => ((seconds + 59) / 60, "minutes"),
        _ => (seconds.saturating_add(3599) / 3600, "hours"),
    };
    format!("{n} {unit}")
}

fn limits(state: &ApiState) -> UploadLimits {
    UploadLimits {
        anonymous_hours: ANONYMOUS_LIFE_SECONDS / 3600,
        max_upload_bytes: i64::try_from(state.resolved.config.limits.upload_bytes).unwrap_or(i64::MAX),
    }
}

fn designed(status: StatusCode, page: Rendered) -> Response {
    (status, designed_headers(scripted_policy(page.style_source)), page.html).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_are_rounded_up() {
        for (seconds, words) in [
            (1, "a minute"),
            (90, "a minute"),
            (91, "2 minutes"),
            (1830, "31 minutes"),
            (3600, "60 minutes"),
            (5400, "90 minutes"),
            (5401, "2 hours"),
            (86_399, "24 hours"),
        ] {
            assert_eq!(wait_words(seconds), words, "{seconds}");
        }
    }
}

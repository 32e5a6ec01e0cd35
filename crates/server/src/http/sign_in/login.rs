//! Serves `/login`: takes an email address and sends a code. The response and its timing do not depend on whether the
//! address has an account.

use super::Client;
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{
    Fields, LateForm, MaybePerson, Query, Visit, VisitForm, WebError, page_with_status, see_other,
};
use axum::extract::State;
use axum::response::Response;
use dropleaf_core::{Code, Error, return_to};
use dropleaf_pages::dashboard::{Login, login};
use http::StatusCode;
use http::header::SET_COOKIE;
use std::sync::Arc;

/// Where to go after signing in without a `next` address.
const HOME: &str = "/dashboard";

const NO_MAIL: &str = "This server cannot send email yet, so it cannot send you a code. The operator can set up email, or \
                       create a sign-in link for you with the command: dropleaf account link EMAIL.";

const OPEN_TOO_LONG: &str = "This page was open for too long. Nothing was sent. Submit the form again.";

/// `GET /login`. With `again`, a signed-in person has to prove their identity again.
pub(super) async fn show(
    State(state): State<ApiState>,
    MaybePerson(person): MaybePerson,
    visit: Visit,
    query: Query,
) -> Response {
    let next = query.find("next").and_then(return_to::local).unwrap_or(HOME);
    if person.is_some() && query.find("again").is_none() {
        return see_other(next);
    }
    let email = person.as_ref().and_then(|person| person.account.email.as_deref()).unwrap_or_default();
    let again = person.is_some();
    let problem = (!state.app.has_mail()).then_some(NO_MAIL);
    let status = if problem.is_some() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    ask(&state, &visit, status, &Login { email, next, again, problem, ..Login::default() })
}

/// `POST /login`.
pub(super) async fn submit(
    State(state): State<ApiState>,
    Client(browser): Client,
    form: LateForm,
) -> Result<Response, WebError> {
    let VisitForm { visit, fields } = match form {
        LateForm::Ours(form) => form,
        LateForm::Forgotten(VisitForm { visit, fields }) => {
            let (email, next) = (fields.text("email"), next(&fields));
            let page = Login { email, next, problem: Some(OPEN_TOO_LONG), ..Login::default() };
            return Ok(ask(&state, &visit, StatusCode::BAD_REQUEST, &page));
        }
    };
    let (email, next) = (fields.text("email"), next(&fields));
    let letter = match state.app.request_sign_in(&visit.name, email, next, browser.ip).await {
        Ok(letter) => letter,
        Err(error) => return try_again(&state, &visit, &fields, error),
    };
    // A task is spawned in both cases, so that timing reveals nothing.
    let app = Arc::clone(&state.app);
    state.tasks.spawn(async move {
        if let Some(letter) = letter {
            app.send_email_logged(letter).await;
        }
    });
    Ok(see_other("/login/code"))
}

fn next(fields: &Fields) -> &str {
    return_to::local(fields.text("next")).unwrap_or(HOME)
}

/// The form again, with the error and what was typed.
fn try_again(state: &ApiState, visit: &Visit, fields: &Fields, error: Error) -> Result<Response, WebError> {
    let problem = match error.code {
        Code::InvalidField => "This is not a valid email address. Check it and try again.",
        Code::RateLimited => "Too many codes were requested. Wait a while, then try again.",
        Code::MailNotConfigured => NO_MAIL,
        _ => return Err(error.into()),
    };
    let page =
        Login { email: fields.text("email"), next: next(fields), problem: Some(problem), ..Login::default() };
    let mut response = ask(state, visit, error::status(error.code), &page);
    error::note_wait(response.headers_mut(), &error);
    Ok(response)
}

fn ask(state: &ApiState, visit: &Visit, status: StatusCode, page: &Login<'_>) -> Response {
    let passkeys = super::passkeys(state).is_ok().then_some(state.resolved.hosts.base.host.as_str());
    let page = Login { is_open: state.app.allows_sign_up(), passkeys, ..*page };
    let mut response = page_with_status(status, login(&page, &visit.form_token), None);
    if let Some(cookie) = visit.cookie(state) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

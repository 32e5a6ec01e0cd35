//! Serves `/login/code`: signs in with the code from the email, in the browser that requested it.

use super::{Client, welcome};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Visit, VisitForm, WebError, page_with_status, see_other};
use axum::extract::State;
use axum::response::Response;
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{EnterCode, enter_code};
use http::StatusCode;

const WRONG: &str = "The code is wrong or has expired. Check it or request a new one.";
const USED_UP: &str = "Too many attempts. Request a new code.";
const TOO_FAST: &str = "Too many requests. Wait a moment, then try again.";

/// `GET /login/code`.
pub(super) async fn show(State(state): State<ApiState>, visit: Visit) -> Result<Response, WebError> {
    ask(&state, &visit, StatusCode::OK, None).await
}

/// `POST /login/code`.
pub(super) async fn submit(
    State(state): State<ApiState>,
    Client(browser): Client,
    form: VisitForm,
) -> Result<Response, WebError> {
    let VisitForm { visit, fields } = form;
    match state.app.sign_in_by_code(&visit.name, fields.text("code"), &browser).await {
        Ok(signed_in) => Ok(welcome(&state, &signed_in)),
        Err(error) => refuse(&state, &visit, error).await,
    }
}

async fn refuse(state: &ApiState, visit: &Visit, error: Error) -> Result<Response, WebError> {
    let (status, problem) = match error.code {
        Code::InvalidCode => (StatusCode::BAD_REQUEST, WRONG),
        Code::RateLimited => (StatusCode::TOO_MANY_REQUESTS, TOO_FAST),
        _ => return Err(error.into()),
    };
    let mut response = ask(state, visit, status, Some(problem)).await?;
    error::note_wait(response.headers_mut(), &error);
    Ok(response)
}

/// The form for the sign-in that this browser has open; without one, redirects to `/login`.
async fn ask(
    state: &ApiState,
    visit: &Visit,
    status: StatusCode,
    problem: Option<&str>,
) -> Result<Response, WebError> {
    let Some(open) = state.app.find_sign_in(&visit.name).await? else { return Ok(see_other("/login")) };
    let problem = if open.tries_left > 0 { problem } else { Some(USED_UP) };
    let page = EnterCode {
        email: &open.email,
        next: &open.return_to,
        is_sent: state.app.allows_sign_up(),
        is_open: open.tries_left > 0,
        problem,
    };
    Ok(page_with_status(status, enter_code(&page, &visit.form_token), None))
}

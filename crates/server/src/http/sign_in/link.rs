//! Serves `/login/link`: signs in with the link from the email. Opening it only shows a confirmation, because mail
//! scanners open links too. It works in any browser, so the page names the account.

use super::{Client, welcome};
use crate::http::state::ApiState;
use crate::http::web::{MaybePerson, Query, Visit, VisitForm, WebError, page_with_status};
use axum::extract::State;
use axum::response::Response;
use dropleaf_pages::dashboard::{ConfirmLink, confirm_link};
use http::StatusCode;
use http::header::SET_COOKIE;

/// `GET /login/link`.
pub(super) async fn show(
    State(state): State<ApiState>,
    MaybePerson(person): MaybePerson,
    visit: Visit,
    query: Query,
) -> Result<Response, WebError> {
    let token = query.text("token");
    let Some(open) = state.app.find_sign_in_by_link(token).await? else {
        return Ok(ended(&visit));
    };
    let other = person.as_ref().and_then(|person| person.account.email.as_deref());
    let page = ConfirmLink {
        email: Some(&open.email),
        token,
        instead_of: other.filter(|other| *other != open.email),
    };
    let mut response = page_with_status(StatusCode::OK, confirm_link(&page, &visit.form_token), None);
    if let Some(cookie) = visit.cookie(&state) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// `POST /login/link`.
pub(super) async fn submit(
    State(state): State<ApiState>,
    Client(browser): Client,
    form: VisitForm,
) -> Result<Response, WebError> {
    let VisitForm { visit, fields } = form;
    match state.app.sign_in_by_link(fields.text("token"), &visit.name, &browser).await? {
        Some(signed_in) => Ok(welcome(&state, &signed_in)),
        None => Ok(ended(&visit)),
    }
}

fn ended(visit: &Visit) -> Response {
    let page = ConfirmLink { email: None, token: "", instead_of: None };
    page_with_status(StatusCode::GONE, confirm_link(&page, &visit.form_token), None)
}

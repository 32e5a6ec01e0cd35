//! Signing in and out. No response reveals whether an address has an account, and every action needs a form that was
//! sent from one of our pages.

mod code;
mod link;
mod login;
mod passkey;

pub(super) use passkey::passkeys;

use super::extract::client_ip;
use super::web::{Cookie, RemovalForm, WebError, see_other};
use crate::http::state::ApiState;
use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_app::{Browser, SignedIn};
use dropleaf_core::session;
use http::header::{SET_COOKIE, USER_AGENT};
use http::request::Parts;
use std::convert::Infallible;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/login", get(login::show).post(login::submit))
        .route("/login/code", get(code::show).post(code::submit))
        .route("/login/link", get(link::show).post(link::submit))
        .route("/login/passkey/begin", post(passkey::begin))
        .route("/login/passkey/finish", post(passkey::finish))
        .route("/logout", post(sign_out))
}

/// The maximum lifetime of a cookie in browsers. The server ends an unused session earlier.
const COOKIE_SECONDS: i64 = 400 * 86_400;

/// What a sign-in records about the browser.
struct Client(Browser);

impl FromRequestParts<ApiState> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Infallible> {
        let agent = parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(Self(Browser {
            ip: client_ip(parts, state),
            device: session::device(agent),
            old_session: Cookie::Session.read(parts, state),
        }))
    }
}

/// Sets the session cookie and redirects to where the person was going.
fn welcome(state: &ApiState, signed_in: &SignedIn) -> Response {
    let to = dropleaf_core::return_to::local(&signed_in.return_to).unwrap_or("/dashboard");
    let mut response = see_other(to);
    let cookie = Cookie::Session.set(state, &signed_in.secret, COOKIE_SECONDS);
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

/// `POST /logout`: ends this session on the server and deletes the cookie.
async fn sign_out(State(state): State<ApiState>, form: RemovalForm) -> Result<Response, WebError> {
    state.app.end_session(&form.person.account, &form.person.session.id).await?;
    let mut response = see_other("/");
    response.headers_mut().append(SET_COOKIE, Cookie::Session.set(&state, "", 0));
    Ok(response)
}

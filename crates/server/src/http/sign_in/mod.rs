//! Signing in and out. No answer here tells whether an address has an account, and nothing is done before a form of
//! ours was sent from a page of ours.

mod code;
mod link;
mod login;
mod passkey;

pub(super) use passkey::passkeys;

use super::api::ApiState;
use super::extract::client_ip;
use super::web::{Cookie, RemovalForm, WebError, see_other};
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

/// As long as browsers keep a cookie. The session ends earlier unless it is used, and the server decides that.
const COOKIE_SECONDS: i64 = 400 * 86_400;

/// The browser behind a request, as far as a sign-in wants to know it.
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

/// Hands the browser its session and sends it where it was going.
fn welcome(state: &ApiState, signed_in: &SignedIn) -> Response {
    let to = dropleaf_core::return_to::local(&signed_in.return_to).unwrap_or("/dashboard");
    let mut response = see_other(to);
    let cookie = Cookie::Session.set(state, &signed_in.secret, COOKIE_SECONDS);
    response.headers_mut().append(SET_COOKIE, cookie);
    response
}

/// `POST /logout`: ends this session here and on the server.
async fn sign_out(State(state): State<ApiState>, form: RemovalForm) -> Result<Response, WebError> {
    state.app.end_session(&form.person.account, &form.person.session.id).await?;
    let mut response = see_other("/");
    response.headers_mut().append(SET_COOKIE, Cookie::Session.set(&state, "", 0));
    Ok(response)
}

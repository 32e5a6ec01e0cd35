//! Serves `/login/passkey/…`: signs in with a passkey. The device names the account only in its response, so these
//! endpoints reveal nothing about accounts. The page's script calls them with JSON.

use super::{Client, welcome};
use crate::http::state::ApiState;
use crate::http::web::{VisitJson, WebError};
use crate::passkey::Passkeys;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_app::ChallengeBinding;
use dropleaf_core::{Code, Error, return_to};
use http::StatusCode;
use http::header::{LOCATION, SET_COOKIE};
use serde_json::json;

/// `POST /login/passkey/begin`: returns the options for the browser's authenticator.
pub(super) async fn begin(
    State(state): State<ApiState>,
    Client(browser): Client,
    sent: VisitJson,
) -> Result<Response, WebError> {
    state.app.take_ceremony_attempt(browser.ip).await?;
    let question = passkeys(&state)?.ask_any().map_err(Error::internal)?;
    state.app.store_ceremony(ChallengeBinding::Visit(&sent.visit.name), question.state).await?;
    Ok(Json(question.options).into_response())
}

/// `POST /login/passkey/finish`: verifies the browser's response and creates the session.
pub(super) async fn finish(
    State(state): State<ApiState>,
    Client(browser): Client,
    sent: VisitJson,
) -> Result<Response, WebError> {
    let (passkeys, answer) = (passkeys(&state)?, &sent.body["credential"]);
    let ceremony = state.app.take_ceremony(ChallengeBinding::Visit(&sent.visit.name)).await?;
    // Every failure gets the same error.
    let unknown = || Error::plain(Code::InvalidPasskey);
    let (credential_id, user) = passkeys.named(answer).map_err(|_| unknown())?;
    let passkey = state.app.find_passkey(&credential_id).await?.ok_or_else(unknown)?;
    let credential = passkeys.check_use(&ceremony, answer, &passkey.credential).map_err(|error| {
        tracing::info!(%error, passkey = passkey.id, "passkey sign-in refused");
        unknown()
    })?;
    if passkey.user_handle != user {
        return Err(unknown().into());
    }
    let next = sent.body["next"].as_str().and_then(return_to::local).unwrap_or("/dashboard");
    let signed_in = state.app.sign_in_by_passkey(&passkey, &credential, next, &browser).await?;
    // The script navigates itself, so the target is in the JSON instead of a redirect.
    let sent_on = welcome(&state, &signed_in);
    let to = sent_on.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("/dashboard");
    let mut response = (StatusCode::OK, Json(json!({"to": to}))).into_response();
    if let Some(cookie) = sent_on.headers().get(SET_COOKIE) {
        response.headers_mut().insert(SET_COOKIE, cookie.clone());
    }
    Ok(response)
}

/// The passkey library for this server's address; 404 where passkeys cannot work.
pub(in crate::http) fn passkeys(state: &ApiState) -> Result<Passkeys, Error> {
    Passkeys::at(&state.resolved.hosts.base).ok_or_else(|| Error::plain(Code::NotFound))
}

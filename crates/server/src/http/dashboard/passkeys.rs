//! Adds passkeys to an account, called by the page's script, and removes them with a form.

use super::account::{HERE, address, done};
use crate::http::sign_in::passkeys;
use crate::http::state::ApiState;
use crate::http::web::{Person, SignedForm, SignedJson, WebError};
use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use dropleaf_app::ChallengeBinding;
use dropleaf_core::passkey::name;
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::Done;
use serde_json::json;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/dashboard/account/passkeys/begin", post(begin))
        .route("/dashboard/account/passkeys/finish", post(finish))
        .route("/dashboard/account/passkeys/{id}/remove", post(remove))
}

/// Starts a registration: returns the options with which the browser creates a passkey.
async fn begin(State(state): State<ApiState>, sent: SignedJson) -> Result<Response, WebError> {
    // A passkey gives permanent access to the account.
    sent.person.require_recent(&state, HERE)?;
    let Person { account, session, .. } = &sent.person;
    let known = state.app.list_passkeys(account).await?;
    let user = state.app.user_handle(&known);
    let known = known.into_iter().map(|passkey| passkey.credential_id);
    let name = account.email.as_deref().unwrap_or(&account.id);
    let question = passkeys(&state)?.ask_new(user, name, known.collect()).map_err(Error::internal)?;
    state.app.store_ceremony(ChallengeBinding::Session(session), question.state).await?;
    Ok(Json(question.options).into_response())
}

/// Completes a registration with the browser's response.
async fn finish(State(state): State<ApiState>, sent: SignedJson) -> Result<Response, WebError> {
    sent.person.require_recent(&state, HERE)?;
    let SignedJson { person: Person { account, session, .. }, body } = &sent;
    let ceremony = state.app.take_ceremony(ChallengeBinding::Session(session)).await?;
    let checked = passkeys(&state)?.check_new(&ceremony, &body["credential"]).map_err(|error| {
        tracing::info!(%error, account = account.id, "passkey registration refused");
        Error::plain(Code::InvalidPasskey)
    })?;
    let name = name(body["name"].as_str().unwrap_or_default(), &session.device);
    state.app.add_passkey(account, checked, name).await?;
    Ok(Json(json!({"to": address(Done::PasskeyAdded)})).into_response())
}

async fn remove(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    state.app.remove_passkey(&form.person.account, &id).await?;
    Ok(done(Done::PasskeyRemoved))
}

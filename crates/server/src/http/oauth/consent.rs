//! Serves `POST /oauth/consent`: the person's answer, accepted once and only in the session that was asked.

use super::authorize::{refuse, stop};
use crate::http::api::ApiState;
use crate::http::web::{SignedForm, WebError, see_other};
use axum::extract::State;
use axum::response::Response;
use dropleaf_app::ConsentAnswer;
use dropleaf_core::oauth::{OAuthCode, OAuthError, redirect};

pub(super) async fn answer(State(state): State<ApiState>, form: SignedForm) -> Result<Response, WebError> {
    let SignedForm { person, fields } = form;
    // Anything but `allow` denies access.
    let allow = fields.text("answer") == "allow";
    let answered =
        state.app.answer_consent(&person.account, &person.session, fields.text("request"), allow).await?;
    let Some(ConsentAnswer { redirect_uri, state: client_state, code }) = answered else {
        return Ok(stop("The request was already answered or has expired.", "Start again in the app."));
    };
    let issuer = state.resolved.hosts.base.url();
    let Some(code) = code else {
        let denied = OAuthError::new(OAuthCode::AccessDenied, "The user denied the request.");
        return Ok(refuse(&redirect_uri, client_state.as_deref(), &issuer, &denied));
    };
    let pairs =
        [("code", Some(code.as_str())), ("state", client_state.as_deref()), ("iss", Some(issuer.as_str()))];
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name, value?)));
    // With a GET: the form's fields must not be forwarded.
    Ok(see_other(&redirect::with_query(&redirect_uri, pairs)))
}

//! Serves `/dashboard/appeal`: sends a refused file to the operator for review. The decision is shown at the address of
//! the appeal.

use super::problem::refused;
use super::shell;
use super::upload::receive;
use crate::http::api::AppealForm;
use crate::http::error::status;
use crate::http::extract::{Fields, client_ip};
use crate::http::state::ApiState;
use crate::http::web::{Person, Sender, WebError, page_with_status, see_other};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use dropleaf_app::{AppealOutcome, Caller};
use dropleaf_core::{Code, appeal};
use dropleaf_pages::dashboard::{self as pages, AppealView, Attempt};
use http::StatusCode;
use http::request::Parts;

pub(super) async fn read(State(state): State<ApiState>, person: Person) -> Response {
    form_page(&state, &person, StatusCode::OK, Attempt::default(), false)
}

fn form_page(
    state: &ApiState,
    person: &Person,
    status: StatusCode,
    attempt: Attempt,
    is_fine: bool,
) -> Response {
    let html = pages::appeal(&AppealView {
        shell: shell(person, None),
        email: person.account.email.as_deref().unwrap_or_default(),
        max_upload_bytes: state.resolved.config.limits.upload_bytes,
        attempt,
        is_fine,
    });
    page_with_status(status, html, None)
}

pub(super) async fn create(
    State(state): State<ApiState>,
    sender: Sender,
    parts: Parts,
    body: Body,
) -> Result<Response, WebError> {
    let person = &sender.person;
    let ip = client_ip(&parts, &state);
    let caller = Caller { account: Some(person.account.clone()), grant_id: None, ip, maker: None };
    let mut typed = Vec::new();
    let outcome = async {
        state.app.check_appeal_rate(&caller).await?;
        let form = receive(&state, &sender, &parts.headers, body).await?;
        typed.clone_from(&form.fields);
        let AppealForm { comment, contact, .. } = Fields::of_form(form.fields).take()?;
        let plea = appeal::checked(comment, contact)?;
        state.app.submit_appeal(&caller, form.upload, plea).await
    };
    match outcome.await {
        Ok(AppealOutcome::Open { token, .. }) => Ok(see_other(&format!("/appeals/{token}"))),
        Ok(AppealOutcome::Accepted { .. }) => {
            Ok(form_page(&state, person, StatusCode::OK, Attempt::default(), true))
        }
        Err(error) if status(error.code).is_server_error() || error.code == Code::CrossSite => {
            Err(error.into())
        }
        Err(error) => {
            let attempt = refused("appeal", &error, typed);
            Ok(form_page(&state, person, status(error.code), attempt, false))
        }
    }
}

//! Serves `/dashboard/webhooks/{id}`: one endpoint with its deliveries, and the forms that change it.

use super::problem::words;
use super::webhooks::HERE;
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, SignedForm, WebError, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::{DeliveryQuery, WebhookChange};
use dropleaf_core::webhook::Endpoint;
use dropleaf_core::{Code, Error, Result, number};
use dropleaf_pages::dashboard::{Attempt, Done, RefusedForm, Section, WebhookPage, webhook as render};
use http::StatusCode;

/// What a page of an endpoint shows besides the endpoint itself.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) secret: Option<String>,
    pub(super) done: Option<Done>,
    pub(super) before: Option<i64>,
    pub(super) refusal: Option<Error>,
}

pub(super) async fn read(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    person: Person,
    query: Query,
) -> Result<Response, WebError> {
    let endpoint = state.app.get_webhook(&person.account, None, &id).await?;
    let before = query.find("before").and_then(number::integer);
    show(&state, &person, &endpoint, Shown { done: query.done(), before, ..Shown::default() }).await
}

pub(super) async fn test(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, .. }: SignedForm,
) -> Result<Response, WebError> {
    let outcome = state.app.test_webhook(&person.account, None, &id).await;
    settle(&state, &person, &id, outcome.map(|_| Done::WebhookTested)).await
}

pub(super) async fn enabled(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let enables = fields.text("enabled") == "yes";
    let change = WebhookChange { enabled: Some(enables), ..WebhookChange::default() };
    let outcome = state.app.change_webhook(&person.account, None, &id, change).await;
    let done = if enables { Done::WebhookEnabled } else { Done::WebhookPaused };
    settle(&state, &person, &id, outcome.map(|_| done)).await
}

pub(super) async fn rotate(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, .. }: SignedForm,
) -> Result<Response, WebError> {
    person.require_recent(&state, HERE)?;
    match state.app.rotate_webhook(&person.account, None, &id).await {
        Ok(made) => {
            // The response itself carries the secret: it is in no URL.
            let shown = Shown { secret: Some(made.secret.reveal()), ..Shown::default() };
            show(&state, &person, &made.endpoint, shown).await
        }
        Err(error) => settle(&state, &person, &id, Err(error)).await,
    }
}

pub(super) async fn delete(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, .. }: SignedForm,
) -> Result<Response, WebError> {
    match state.app.delete_webhook(&person.account, None, &id).await {
        Ok(()) => Ok(see_other(&Done::WebhookDeleted.address(HERE))),
        Err(error) => settle(&state, &person, &id, Err(error)).await,
    }
}

pub(super) async fn retry(
    State(state): State<ApiState>,
    Path((id, delivery)): Path<(String, String)>,
    SignedForm { person, .. }: SignedForm,
) -> Result<Response, WebError> {
    let outcome = state.app.retry_webhook_delivery(&person.account, None, &id, &delivery).await;
    settle(&state, &person, &id, outcome.map(|_| Done::DeliveryRetried)).await
}

/// Ends a form on the page of the endpoint, with a confirmation or the error.
async fn settle(
    state: &ApiState,
    person: &Person,
    id: &str,
    outcome: Result<Done>,
) -> Result<Response, WebError> {
    let error = match outcome {
        Ok(done) => return Ok(see_other(&done.address(&format!("{HERE}/{id}")))),
        Err(error) => error,
    };
    if error::status(error.code).is_server_error() {
        return Err(error.into());
    }
    // If the endpoint itself is not there, that is the response.
    let endpoint = state.app.get_webhook(&person.account, None, id).await?;
    show(state, person, &endpoint, Shown { refusal: Some(error), ..Shown::default() }).await
}

pub(super) async fn show(
    state: &ApiState,
    person: &Person,
    endpoint: &Endpoint,
    shown: Shown,
) -> Result<Response, WebError> {
    let query = DeliveryQuery { before: shown.before, ..DeliveryQuery::default() };
    let list = state.app.list_webhook_deliveries(&person.account, None, &endpoint.id, query).await?;
    let status = shown.refusal.as_ref().map_or(StatusCode::OK, |error| error::status(error.code));
    let html = render(&WebhookPage {
        shell: person.shell(Section::Webhooks, shown.done),
        webhook: endpoint,
        secret: shown.secret.as_deref(),
        deliveries: &list.deliveries,
        more: list.next_before.map(|before| format!("{HERE}/{}?before={before}", endpoint.id)),
        is_recent: person.session.is_recent(state.app.now()),
        attempt: Attempt(shown.refusal.as_ref().map(refused)),
    });
    Ok(page_with_status(status, html, None))
}

fn refused(error: &Error) -> RefusedForm {
    // The general words for a conflict are about a page.
    let message = if error.code == Code::Conflict { error.detail.clone() } else { words(error) };
    RefusedForm { form: "webhook", field: "", message, reasons: Vec::new(), appeal: None, typed: Vec::new() }
}

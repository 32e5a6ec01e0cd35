//! Serves `/dashboard/webhooks/{id}`: one endpoint with its deliveries, and the forms that change it.

use super::domains::{choices, page_of};
use super::problem::{self, words};
use super::webhooks::HERE;
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{
    Fields, Person, Query, RemovalForm, SignedForm, WebError, page_with_status, see_other,
};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::{DeliveryQuery, WebhookChange};
use dropleaf_core::site_change::Field;
use dropleaf_core::webhook::{Endpoint, WebhookUrl};
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
    /// The refused form that changes the endpoint, with what was typed.
    pub(super) change: Option<(Attempt, Vec<String>)>,
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

/// The events that are checked in a form; `None` if none is, which means all of them, as the form says.
pub(super) fn checked_events(fields: &Fields) -> Option<Vec<String>> {
    Some(fields.all("event").into_iter().map(str::to_owned).collect())
        .filter(|names: &Vec<_>| !names.is_empty())
}

pub(super) async fn change(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let before = state.app.get_webhook(&person.account, None, &id).await?;
    let events = checked_events(&fields);
    let change = WebhookChange {
        url: fields.find("url").map(|url| url.trim().to_owned()),
        site: match fields.find("site") {
            None => Field::Absent,
            Some("") => Field::Null,
            // Also if the page has ended and could not be chosen again.
            Some(same) if before.site_id.as_deref() == Some(same) => Field::Absent,
            Some(other) => Field::Value(other.to_owned()),
        },
        description: Some(fields.text("description").to_owned()),
        events: Some(events.clone().unwrap_or_else(|| vec!["*".to_owned()])),
        enabled: None,
    };
    let leads_elsewhere =
        change.url.as_deref().is_some_and(|url| before.url.as_ref().map(WebhookUrl::as_str) != Some(url));
    if leads_elsewhere {
        person.require_recent(&state, HERE)?;
    }
    match state.app.change_webhook(&person.account, None, &id, change).await {
        Err(error) if error.code == Code::InvalidField => {
            let attempt = problem::refused("change", &error, fields.typed());
            let change = Some((attempt, events.unwrap_or_default()));
            show(&state, &person, &before, Shown { change, ..Shown::default() }).await
        }
        outcome => settle(&state, &person, &id, outcome.map(|_| Done::WebhookChanged)).await,
    }
}

pub(super) async fn enabled(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let enables = fields.text("enabled") == "yes";
    if enables {
        person.require_recent(&state, HERE)?;
    }
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
    RemovalForm { person, .. }: RemovalForm,
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
    let (attempt, checked, status) = match (&shown.refusal, shown.change) {
        (Some(error), _) => (Attempt(Some(refused(error))), None, error::status(error.code)),
        (None, Some((attempt, checked))) => (attempt, Some(checked), error::status(Code::InvalidField)),
        (None, None) => (Attempt::default(), None, StatusCode::OK),
    };
    let checked: Vec<&str> = match &checked {
        Some(typed) => typed.iter().map(String::as_str).collect(),
        None => endpoint.events.names(),
    };
    let site_id = endpoint.site_id.as_deref().unwrap_or_default();
    let mut pages = choices(state, &person.account, site_id).await?;
    // A page that has ended stays selected: no other page takes its place unasked.
    if !site_id.is_empty() && pages.iter().all(|page| page.id != site_id) {
        pages.extend(page_of(state, &person.account, &[], site_id).await?);
    }
    let html = render(&WebhookPage {
        shell: person.shell(Section::Webhooks, shown.done),
        webhook: endpoint,
        secret: shown.secret.as_deref(),
        deliveries: &list.deliveries,
        more: list.next_before.map(|before| format!("{HERE}/{}?before={before}", endpoint.id)),
        is_recent: person.session.is_recent(state.app.now()),
        pages: &pages,
        checked,
        attempt,
    });
    Ok(page_with_status(status, html, None))
}

fn refused(error: &Error) -> RefusedForm {
    // The general words for a conflict are about a page.
    let message = if error.code == Code::Conflict { error.detail.clone() } else { words(error) };
    RefusedForm { form: "webhook", field: "", message, reasons: Vec::new(), appeal: None, typed: Vec::new() }
}

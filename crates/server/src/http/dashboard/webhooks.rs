//! Serves `/dashboard/webhooks`: the endpoints of the account, and the form that adds one.

use super::domains::choices;
use super::problem::refused;
use super::webhook::{self, Shown};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, SignedForm, WebError, page_with_status};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_app::{IdempotentResult, NewWebhook};
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{Attempt, Done, Section, WebhooksPage, webhooks as render};
use http::StatusCode;

pub(super) const HERE: &str = "/dashboard/webhooks";

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route(HERE, get(list).post(add))
        .route("/dashboard/webhooks/{id}", get(webhook::read))
        .route("/dashboard/webhooks/{id}/test", post(webhook::test))
        .route("/dashboard/webhooks/{id}/change", post(webhook::change))
        .route("/dashboard/webhooks/{id}/enabled", post(webhook::enabled))
        .route("/dashboard/webhooks/{id}/rotate", post(webhook::rotate))
        .route("/dashboard/webhooks/{id}/delete", post(webhook::delete))
        .route("/dashboard/webhooks/{id}/deliveries/{delivery}/retry", post(webhook::retry))
}

async fn list(State(state): State<ApiState>, person: Person, query: Query) -> Result<Response, WebError> {
    show(&state, &person, query.done(), StatusCode::OK, Vec::new(), Attempt::default()).await
}

async fn add(State(state): State<ApiState>, form: SignedForm) -> Result<Response, WebError> {
    let SignedForm { person, fields } = form;
    person.require_recent(&state, HERE)?;
    let filled = |name: &str| Some(fields.text(name).trim().to_owned()).filter(|text| !text.is_empty());
    let checked = fields.all("event");
    let new = NewWebhook {
        url: Some(fields.text("url").trim().to_owned()),
        site: filled("site"),
        events: webhook::checked_events(&fields),
        description: filled("description"),
    };
    match state.app.create_webhook(&person.account, None, new, None, |_| Vec::new()).await {
        Ok(IdempotentResult::New(made)) => {
            // The response itself carries the secret: it is in no URL and stored nowhere in this form.
            let shown = Shown { secret: Some(made.secret.reveal()), ..Shown::default() };
            webhook::show(&state, &person, &made.endpoint, shown).await
        }
        Ok(IdempotentResult::Replayed { .. }) => Err(Error::plain(Code::Internal).into()),
        Err(error) => {
            let status = error::status(error.code);
            if status.is_server_error() {
                return Err(error.into());
            }
            let attempt = refused("add", &error, fields.typed());
            show(&state, &person, None, status, checked, attempt).await
        }
    }
}

async fn show(
    state: &ApiState,
    person: &Person,
    done: Option<Done>,
    status: StatusCode,
    checked: Vec<&str>,
    attempt: Attempt,
) -> Result<Response, WebError> {
    let all = state.app.list_webhooks(&person.account, None).await?;
    let pages = choices(state, &person.account, "").await?;
    let html = render(&WebhooksPage {
        shell: person.shell(Section::Webhooks, done),
        webhooks: &all,
        pages: &pages,
        is_recent: person.session.is_recent(state.app.now()),
        checked,
        attempt,
    });
    Ok(page_with_status(status, html, None))
}

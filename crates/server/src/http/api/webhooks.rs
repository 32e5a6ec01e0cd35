//! Serves `/webhooks`: where an account's events are sent, and their signing secrets. Deliveries are in
//! `webhook_deliveries.rs`.

use super::api_keys::OkJson;
use super::idempotent_response::IdempotentResponse;
use super::webhook_json::{WebhookJson, WebhooksJson, event_type};
use crate::http::api_error::ApiError;
use crate::http::extract::{
    Incoming, KeyReader, Maker, Remover, idempotency_key, idempotent_request, nullable,
};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{Caller, NewWebhook, WebhookChange, WebhookWithSecret};
use dropleaf_core::Error;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::site_change::Field;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder};

const BODY_BYTES: u64 = 64 * 1024;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"url": "https://hooks.example.com/dropleaf", "events": ["feedback.created"], "description": "build bot"}))]
pub(super) struct WebhookBody {
    /// A public https address that accepts POST requests.
    #[schema(nullable = false, format = "uri")]
    url: Option<String>,
    /// Instead of `url`: the events are fetched with `POST /webhooks/{id}/receive`.
    #[schema(nullable = false)]
    listen: Option<bool>,
    /// Send only events of this page: its ID, slug or token.
    #[schema(nullable = false)]
    site_id: Option<String>,
    /// The event types to send, at least one; all by default.
    #[schema(schema_with = event_types, required = false)]
    events: Option<Vec<String>>,
    /// For your own reference, up to 100 characters.
    #[schema(nullable = false)]
    description: Option<String>,
}

/// What to change; fields that are not sent keep their value.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"events": ["*"], "enabled": true}))]
pub(super) struct WebhookChangeBody {
    #[schema(nullable = false, format = "uri")]
    url: Option<String>,
    /// Send only events of this page; null for all pages.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    site_id: Field<String>,
    /// At least one event type; `*` for all.
    #[schema(schema_with = event_types, required = false)]
    events: Option<Vec<String>>,
    #[schema(nullable = false)]
    description: Option<String>,
    /// False pauses it: no new events are written for it, and those that wait are kept.
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

fn event_types() -> Array {
    ArrayBuilder::new().items(event_type()).min_items(Some(1)).build()
}

/// List your webhooks
///
/// An app that a user authorized with OAuth sees only the webhooks it created.
#[utoipa::path(
    get, path = "/webhooks", tag = "Webhooks", operation_id = "listWebhooks",
    responses((status = 200, description = "The webhooks, oldest first", body = WebhooksJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    KeyReader(known): KeyReader,
) -> Result<Json<WebhooksJson>, ApiError> {
    let all = state.app.list_webhooks(&known.account, known.grant_id.as_deref()).await?;
    Ok(Json(WebhooksJson::new(all)))
}

/// Create a webhook
///
/// Events are sent as POST requests, signed as Standard Webhooks describes. The response is the only place where the
/// secret is shown. A webhook created by an app ends when the user revokes the app's access.
#[utoipa::path(
    post, path = "/webhooks", tag = "Webhooks", operation_id = "createWebhook",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours.")),
    request_body(content = WebhookBody, content_type = "application/json"),
    responses((status = 201, description = "The webhook with its secret, shown once", body = WebhookJson)),
    security(("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Maker(known): Maker,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(BODY_BYTES).await?;
    let WebhookBody { url, listen, site_id, events, description } = fields.take()?;
    let warnings = fields.unknown()?;
    let listens = listen.unwrap_or_default();
    if url.is_some() == listens {
        return Err(Error::field("url", "is required, or `listen: true` instead of it").into());
    }
    let new = NewWebhook { url, site: site_id, events, description };
    let request_hash = RequestHash::new("webhooks")
        .option("url", new.url.as_deref())
        .option("site", new.site.as_deref())
        .option("events", new.events.as_ref().map(|names| names.join(",")).as_deref())
        .option("description", new.description.as_deref())
        .finish();
    let caller = Caller { account: Some(known.account), grant_id: known.grant_id, ip: None, maker: None };
    let once = idempotent_request(&state, idempotency_key(&headers), &caller, Some(request_hash));
    let render = |made: &WebhookWithSecret| WebhookJson::revealed(made).warned(warnings.clone()).written();
    let (account, grant) = (caller.account()?, caller.grant_id.as_deref());
    let done = state.app.create_webhook(account, grant, new, once.as_ref(), render).await?;
    Ok(IdempotentResponse::of(done, StatusCode::CREATED, render))
}

/// Read a webhook
#[utoipa::path(
    get, path = "/webhooks/{id}", tag = "Webhooks", operation_id = "getWebhook",
    params(("id" = String, Path, description = "The webhook's ID.")),
    responses((status = 200, description = "The webhook", body = WebhookJson)),
    security(("api_key" = [])),
)]
pub(super) async fn read(
    State(state): State<ApiState>,
    KeyReader(known): KeyReader,
    Path(id): Path<String>,
) -> Result<Json<WebhookJson>, ApiError> {
    let found = state.app.get_webhook(&known.account, known.grant_id.as_deref(), &id).await?;
    Ok(Json(WebhookJson::new(found)))
}

/// Change a webhook
///
/// `enabled: true` also enables a webhook again that the server disabled; its dead deliveries can then be retried.
#[utoipa::path(
    patch, path = "/webhooks/{id}", tag = "Webhooks", operation_id = "changeWebhook",
    params(("id" = String, Path, description = "The webhook's ID.")),
    request_body(content = WebhookChangeBody, content_type = "application/json"),
    responses((status = 200, description = "The changed webhook", body = WebhookJson)),
    security(("api_key" = [])),
)]
pub(super) async fn change(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<WebhookJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(BODY_BYTES).await?;
    let WebhookChangeBody { url, site_id, events, description, enabled } = fields.take()?;
    let warnings = fields.unknown()?;
    let change = WebhookChange { url, site: site_id, events, description, enabled };
    let changed = state.app.change_webhook(&known.account, known.grant_id.as_deref(), &id, change).await?;
    Ok(Json(WebhookJson::new(changed).warned(warnings)))
}

/// Delete a webhook
///
/// Nothing is sent to it any more, not even what waits. A suspended account can do this too.
#[utoipa::path(
    delete, path = "/webhooks/{id}", tag = "Webhooks", operation_id = "deleteWebhook",
    params(("id" = String, Path, description = "The webhook's ID.")),
    responses((status = 200, description = "Deleted with its deliveries", body = OkJson)),
    security(("api_key" = [])),
)]
pub(super) async fn delete(
    State(state): State<ApiState>,
    Remover(known): Remover,
    Path(id): Path<String>,
) -> Result<Json<OkJson>, ApiError> {
    state.app.delete_webhook(&known.account, known.grant_id.as_deref(), &id).await?;
    Ok(Json(OkJson::yes()))
}

/// Rotate the secret of a webhook
///
/// For 24 hours messages are signed with both secrets, so that you can change the receiver at any time in between.
#[utoipa::path(
    post, path = "/webhooks/{id}/rotate", tag = "Webhooks", operation_id = "rotateWebhook",
    params(("id" = String, Path, description = "The webhook's ID.")),
    responses((status = 200, description = "The webhook with its new secret, shown once", body = WebhookJson)),
    security(("api_key" = [])),
)]
pub(super) async fn rotate(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path(id): Path<String>,
) -> Result<Json<WebhookJson>, ApiError> {
    let made = state.app.rotate_webhook(&known.account, known.grant_id.as_deref(), &id).await?;
    Ok(Json(WebhookJson::revealed(&made)))
}

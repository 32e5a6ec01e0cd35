//! Serves `/webhooks/{id}/deliveries`, `/test` and `/receive`: what became of an endpoint's events, and events for programs
//! that fetch them.

use super::webhook_json::{DeliveriesJson, DeliveryJson, ReceivedEventsJson};
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, KeyReader, Maker};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use dropleaf_app::DeliveryQuery;
use dropleaf_core::webhook::DeliveryState;
use dropleaf_core::{Error, Result, number};
use http::HeaderMap;
use serde::Deserialize;
use std::time::Duration;
use utoipa::ToSchema;

/// The longest wait for an event, below the time limit of a request.
const WAIT_MOST: i64 = 25;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"received": 7, "wait_seconds": 20}))]
pub(super) struct ReceiveBody {
    /// The `seq` of the last event that you have processed. It and those before it are not sent again.
    #[schema(nullable = false)]
    received: Option<i64>,
    /// How long to wait for an event if there is none, 0 to 25; 0 by default.
    #[schema(nullable = false)]
    wait_seconds: Option<i64>,
}

/// Reads state, limit and position from a query string.
fn list_query(query: &str) -> Result<DeliveryQuery> {
    let mut list = DeliveryQuery::default();
    let integer = |name: &str, value: &str| {
        number::integer(value).map(Some).ok_or_else(|| Error::field(name, "must be an integer"))
    };
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match name {
            "limit" => list.limit = integer(name, value)?,
            "before" => list.before = integer(name, value)?,
            "state" => {
                let state = DeliveryState::parse(value);
                let wrong = || Error::field(name, "must be `waiting`, `delivered` or `dead`");
                list.state = Some(state.ok_or_else(wrong)?);
            }
            _ => {}
        }
    }
    Ok(list)
}

/// List the deliveries of a webhook
///
/// `state=dead` lists those that were given up. Finished deliveries are kept for 30 days, unless the operator of the server
/// chose otherwise.
#[utoipa::path(
    get, path = "/webhooks/{id}/deliveries", tag = "Webhooks", operation_id = "listWebhookDeliveries",
    params(
        ("id" = String, Path, description = "The webhook's ID."),
        ("state" = Option<String>, Query, description = "Only `waiting`, `delivered` or `dead` ones."),
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 200, description = "Page size, 1 to 200; 50 by default."),
        ("before" = Option<i64>, Query, description = "`next_before` of the previous response."),
    ),
    responses((status = 200, description = "The deliveries, newest first", body = DeliveriesJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    KeyReader(known): KeyReader,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<DeliveriesJson>, ApiError> {
    let query = list_query(query.as_deref().unwrap_or_default())?;
    let grant = known.grant_id.as_deref();
    let found = state.app.list_webhook_deliveries(&known.account, grant, &id, query).await?;
    Ok(Json(DeliveriesJson::new(found)))
}

/// Retry a delivery
///
/// A finished delivery is sent again, after those that wait for the same page. A waiting one is sent now.
#[utoipa::path(
    post, path = "/webhooks/{id}/deliveries/{deliveryId}/retry", tag = "Webhooks", operation_id = "retryWebhookDelivery",
    params(
        ("id" = String, Path, description = "The webhook's ID."),
        ("deliveryId" = String, Path, description = "The delivery's ID."),
    ),
    responses((status = 200, description = "The delivery, which waits", body = DeliveryJson)),
    security(("api_key" = [])),
)]
pub(super) async fn retry(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path((id, delivery)): Path<(String, String)>,
) -> Result<Json<DeliveryJson>, ApiError> {
    let grant = known.grant_id.as_deref();
    let found = state.app.retry_webhook_delivery(&known.account, grant, &id, &delivery).await?;
    Ok(Json(DeliveryJson::new(found)))
}

/// Send a test event
///
/// Sends `webhook.test` to this webhook, whatever events it wants. The list of deliveries shows what became of it.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", tag = "Webhooks", operation_id = "testWebhook",
    params(("id" = String, Path, description = "The webhook's ID.")),
    responses((status = 200, description = "The delivery, which waits", body = DeliveryJson)),
    security(("api_key" = [])),
)]
pub(super) async fn test(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path(id): Path<String>,
) -> Result<Json<DeliveryJson>, ApiError> {
    let sent = state.app.test_webhook(&known.account, known.grant_id.as_deref(), &id).await?;
    Ok(Json(DeliveryJson::new(sent)))
}

/// Fetch events
///
/// For a webhook that was created with `listen: true`. Returns the events that wait, signed, and waits for one if there is
/// none. An event is returned until it is acknowledged with `received`. The webhook ends ten minutes after the last fetch.
#[utoipa::path(
    post, path = "/webhooks/{id}/receive", tag = "Webhooks", operation_id = "receiveWebhookEvents",
    params(("id" = String, Path, description = "The webhook's ID.")),
    request_body(content = ReceiveBody, content_type = "application/json"),
    responses((status = 200, description = "The events, oldest first; possibly none", body = ReceivedEventsJson)),
    security(("api_key" = [])),
)]
pub(super) async fn receive(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ReceivedEventsJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(4096).await?;
    let ReceiveBody { received, wait_seconds } = fields.take()?;
    let wait = wait_seconds.unwrap_or_default();
    if !(0..=WAIT_MOST).contains(&wait) {
        return Err(Error::field("wait_seconds", format!("must be 0 to {WAIT_MOST}")).into());
    }
    let (grant, patience) = (known.grant_id.as_deref(), Duration::from_secs(wait.unsigned_abs()));
    let events = state.app.listen_to_webhook(&known.account, grant, &id, received, patience).await?;
    Ok(Json(ReceivedEventsJson::new(events)))
}

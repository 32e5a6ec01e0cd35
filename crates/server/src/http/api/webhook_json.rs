//! The JSON of webhooks, their deliveries and the events that a listening program fetches.

use crate::http::string_enum::words;
use dropleaf_app::{DeliveryList, ListenedEvent, WebhookWithSecret};
use dropleaf_core::webhook::{
    Delivery, DeliveryState, Endpoint, EndpointKind, EndpointState, EventType, NEVER, WebhookUrl,
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "whk_k3v5q7x2m4n6p2r3t4w5", "kind": "url", "url": "https://hooks.example.com/dropleaf",
    "description": "build bot", "site_id": null, "events": ["feedback.created", "feedback.resolved"], "state": "enabled",
    "waiting": 0, "missed": 0, "failing_since": null, "last_success_at": 1_794_706_860, "previous_secret_until": null,
    "created_at": 1_794_700_000, "expires_at": null
}))]
pub(in crate::http) struct WebhookJson {
    id: String,
    #[schema(schema_with = kind)]
    kind: &'static str,
    /// Where events are sent; null if a program fetches them.
    #[schema(format = "uri")]
    url: Option<String>,
    description: String,
    /// Only events of this page are sent; null for all pages.
    site_id: Option<String>,
    /// The event types, or `*` for all.
    events: Vec<&'static str>,
    #[schema(schema_with = endpoint_state)]
    state: &'static str,
    /// Deliveries that wait.
    waiting: i64,
    /// Events that were left out because too many deliveries waited.
    missed: i64,
    /// Since when every attempt fails.
    failing_since: Option<i64>,
    last_success_at: Option<i64>,
    /// Until when messages are signed with the previous secret too.
    previous_secret_until: Option<i64>,
    created_at: i64,
    /// When a webhook whose events are fetched ends; each fetch postpones it.
    expires_at: Option<i64>,
    /// The signing secret; only in the response that creates or rotates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    secret: Option<String>,
    /// What was ignored; only in the response to a change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WebhooksJson {
    webhooks: Vec<WebhookJson>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "evt_0d7i8l2q5k3n1v9c4t6s", "webhook_id": "whk_k3v5q7x2m4n6p2r3t4w5", "site_id": "site_k3v5q7x2m4n6p8r1t9w0",
    "type": "feedback.created", "state": "waiting", "attempts": 2, "next_attempt_at": 1_794_707_165,
    "last_attempt_at": 1_794_706_865, "status": 503, "error": "the receiver answered with status 503",
    "created_at": 1_794_706_860,
    "payload": "{\"type\":\"feedback.created\",\"timestamp\":\"2026-11-15T01:41:00Z\",\"data\":{}}"
}))]
pub(super) struct DeliveryJson {
    /// The `webhook-id` of the message; the same at every attempt.
    id: String,
    webhook_id: String,
    site_id: Option<String>,
    #[serde(rename = "type")]
    event_type: String,
    #[schema(schema_with = delivery_state)]
    state: &'static str,
    attempts: i64,
    /// When it is sent next; null if it is finished, or waits for an earlier delivery of the same page.
    next_attempt_at: Option<i64>,
    last_attempt_at: Option<i64>,
    /// The last HTTP status of the receiver.
    status: Option<i64>,
    /// Why the last attempt failed.
    error: Option<String>,
    created_at: i64,
    /// The body of the message.
    payload: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DeliveriesJson {
    /// Newest first.
    deliveries: Vec<DeliveryJson>,
    /// Whether there are more.
    #[schema(example = false)]
    has_more: bool,
    /// Send as `before` to get the next ones.
    next_before: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "seq": 7, "webhook_id": "evt_0d7i8l2q5k3n1v9c4t6s", "webhook_timestamp": 1_794_706_860,
    "webhook_signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    "payload": "{\"type\":\"webhook.test\",\"timestamp\":\"2026-11-15T01:41:00Z\",\"data\":{}}"
}))]
struct ReceivedEventJson {
    /// Send the last one as `received` with the next request.
    seq: i64,
    /// The header `webhook-id`.
    webhook_id: String,
    /// The header `webhook-timestamp`.
    webhook_timestamp: i64,
    /// The header `webhook-signature`.
    webhook_signature: String,
    /// The body, exactly as it was signed.
    payload: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReceivedEventsJson {
    /// Oldest first.
    events: Vec<ReceivedEventJson>,
}

fn kind() -> Object {
    let kinds = [EndpointKind::Url, EndpointKind::Listen].map(EndpointKind::as_str);
    words(kinds, Some("`url`: events are sent to `url`. `listen`: a program fetches them."))
}

fn endpoint_state() -> Object {
    let meaning = "`failed`: disabled by the server, because deliveries failed for five days or the receiver answered 410. \
                   `restored`: paused because the server was restored from a backup.";
    words(EndpointState::ALL.map(EndpointState::as_str), Some(meaning))
}

fn delivery_state() -> Object {
    let states = [DeliveryState::Waiting, DeliveryState::Delivered, DeliveryState::Dead];
    words(states.map(DeliveryState::as_str), Some("`dead`: given up; it can be retried."))
}

/// The schema of one event type, or all.
pub(super) fn event_type() -> Object {
    let names = EventType::ALL.iter().map(|event| event.as_str());
    words(names.chain(["*"]), Some("An event type, or `*` for all."))
}

impl WebhookJson {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            id: endpoint.id,
            kind: endpoint.kind.as_str(),
            url: endpoint.url.as_ref().map(WebhookUrl::as_str).map(str::to_owned),
            description: endpoint.description,
            site_id: endpoint.site_id,
            events: endpoint.events.names(),
            state: endpoint.state.as_str(),
            waiting: endpoint.waiting,
            missed: endpoint.missed,
            failing_since: endpoint.failing_since,
            last_success_at: endpoint.last_success_at,
            previous_secret_until: endpoint.previous_until,
            created_at: endpoint.created_at,
            expires_at: endpoint.expires_at,
            secret: None,
            warnings: Vec::new(),
        }
    }

    /// With its new secret.
    pub(super) fn revealed(made: &WebhookWithSecret) -> Self {
        Self { secret: Some(made.secret.reveal()), ..Self::new(made.endpoint.clone()) }
    }

    pub(super) fn warned(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    pub(super) fn written(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl WebhooksJson {
    pub(super) fn new(all: Vec<Endpoint>) -> Self {
        Self { webhooks: all.into_iter().map(WebhookJson::new).collect() }
    }
}

impl DeliveryJson {
    pub(super) fn new(delivery: Delivery) -> Self {
        let is_due = delivery.state == DeliveryState::Waiting && delivery.next_attempt_at != NEVER;
        Self {
            id: delivery.id,
            webhook_id: delivery.endpoint_id,
            site_id: Some(delivery.site_id).filter(|id| !id.is_empty()),
            event_type: delivery.event_type,
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            next_attempt_at: is_due.then_some(delivery.next_attempt_at),
            last_attempt_at: delivery.last_attempt_at,
            status: delivery.status,
            error: delivery.error,
            created_at: delivery.created_at,
            payload: delivery.body,
        }
    }
}

impl DeliveriesJson {
    pub(super) fn new(list: DeliveryList) -> Self {
        let next_before = list.next_before;
        let deliveries = list.deliveries.into_iter().map(DeliveryJson::new).collect();
        Self { deliveries, has_more: next_before.is_some(), next_before }
    }
}

impl ReceivedEventsJson {
    pub(super) fn new(events: Vec<ListenedEvent>) -> Self {
        let json = |event: ListenedEvent| ReceivedEventJson {
            seq: event.seq,
            webhook_id: event.id,
            webhook_timestamp: event.timestamp,
            webhook_signature: event.signature,
            payload: event.body,
        };
        Self { events: events.into_iter().map(json).collect() }
    }
}

//! Events for the webhook: complete bodies that the caller signs with [`sign`](crate::stripe::sign) and sends.

use std::fmt;

use serde_json::{Value, json};

use crate::stripe::API_VERSION;

/// An event to send.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookEvent {
    pub id: String,
    pub kind: &'static str,
    /// The body; sign and send exactly these bytes, also when it is sent again.
    pub body: String,
}

pub(super) fn new(id: String, kind: &'static str, object: &Value, now: i64) -> WebhookEvent {
    let body = json!({
        "id": id,
        "object": "event",
        "api_version": API_VERSION,
        "created": now,
        "data": { "object": object },
        "livemode": false,
        "pending_webhooks": 1,
        "request": { "id": null, "idempotency_key": null },
        "type": kind,
    });
    WebhookEvent { id, kind, body: body.to_string() }
}

/// Keeps tokens out of logs: events about a token name it.
impl fmt::Debug for WebhookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookEvent").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

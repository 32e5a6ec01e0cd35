//! Serves `POST /webhooks/stripe`, where the card processor reports what happened to payments.

use crate::http::api_error::ApiError;
use crate::http::small_body;
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::State;
use dropleaf_core::{Code, Error};
use http::{HeaderMap, StatusCode};

/// Events are a few kilobytes long.
const BODY_BYTES: usize = 256 * 1024;

/// Receive an event of the card processor
///
/// Only the card processor calls it. The header `Stripe-Signature` signs the raw body.
#[utoipa::path(
    post, path = "/webhooks/stripe", tag = "Payments", operation_id = "receiveCardEvent",
    params(("Stripe-Signature" = String, Header, description = "`t=<time>,v1=<signature>`")),
    request_body(
        content = Object, content_type = "application/json", description = "An event of the card processor.",
        example = json!({"id": "evt_1", "object": "event", "type": "checkout.session.completed", "data": {"object": {}}}),
    ),
    responses((status = 204, description = "Received")),
    security(()),
)]
pub(super) async fn receive(
    State(state): State<ApiState>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let signature = headers.get("stripe-signature").and_then(|value| value.to_str().ok());
    let signature = signature.ok_or_else(|| Error::plain(Code::InvalidWebhook))?;
    // The signature is over the bytes as they were sent.
    let bytes = small_body::read(body, BODY_BYTES).await?;
    state.app.receive_card_event(&bytes, signature).await?;
    Ok(StatusCode::NO_CONTENT)
}

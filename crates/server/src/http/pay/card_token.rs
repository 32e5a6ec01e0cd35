//! Sells an API key for a shared payment token in the body of `/provision` (ACP). The end of the request is the same for a
//! mandate that names such a token.

use super::provision::ProvisionJson;
use super::purchase::{PaidCall, RETRY_SECONDS};
use crate::http::api_error::ApiError;
use crate::http::extract::idempotency_key;
use axum::Json;
use axum::response::{IntoResponse, Response};
use dropleaf_app::{PayError, PurchaseResult, TokenRequest};
use dropleaf_core::error::Fact;
use dropleaf_core::{Code, Error};
use dropleaf_pay::stripe::SharedPaymentToken;
use http::header;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The name of the field.
pub(super) const FIELD: &str = "acp_shared_payment_token";

/// Charges the token. Nothing is charged for a token that is malformed, or refused by the card processor.
pub(super) async fn provision(
    call: PaidCall<'_>,
    text: &str,
    request_hash: [u8; 32],
    warnings: Vec<String>,
) -> Result<Response, ApiError> {
    let state = call.state;
    let malformed = || Error::field(FIELD, "must be `spt_` and 1 to 255 letters, digits or underscores");
    let token = SharedPaymentToken::parse(text).ok_or_else(malformed)?;
    if !state.app.accepts_cards() {
        let sentence = "This server has no card processor, so it cannot charge a shared payment token. Nothing was charged. GET \
                        /provision lists the available protocols.";
        return call.not_live(sentence);
    }
    let idempotency_key = idempotency_key(call.headers);
    let request = TokenRequest { token, request_hash, idempotency_key, ip: call.ip };
    let app = Arc::clone(&state.app);
    complete(call, async move { app.provision_with_token(request).await }, warnings).await
}

/// Runs a purchase that was not paid in a header, in a task of its own, and answers with the key or with why there is none.
pub(super) async fn complete(
    call: PaidCall<'_>,
    purchase: impl Future<Output = Result<PurchaseResult, PayError>> + Send + 'static,
    warnings: Vec<String>,
) -> Result<Response, ApiError> {
    let (sender, receiver) = oneshot::channel();
    call.state.tasks.spawn(async move {
        // The client may be gone; the payment is completed anyway.
        let _ = sender.send(purchase.await);
    });
    let Ok(outcome) = receiver.await else {
        // The task ended early; the payment's row says how far it got.
        return Err(Error::plain(Code::SettlementUnknown).retry_after(RETRY_SECONDS).into());
    };
    match outcome {
        Ok(bought) => {
            let answer = ProvisionJson::new(&bought, warnings)?;
            Ok(([(header::CACHE_CONTROL, "private, no-store")], Json(answer)).into_response())
        }
        Err(error) => answer_error(&call, error),
    }
}

/// The response to a payment in the body that bought nothing.
pub(super) fn answer_error(call: &PaidCall<'_>, error: PayError) -> Result<Response, ApiError> {
    match error {
        PayError::Failed(error) if error.code == Code::RailNotLive => call.not_live(&error.detail),
        PayError::Refused(refused) if call.state.app.listing(call.item).is_err() => {
            // There are no terms to repeat: only cards are accepted.
            let code = if refused.malformed { Code::InvalidPayment } else { Code::PaymentRefused };
            let reason = Fact::Text(refused.reason);
            Err(Error::new(code, refused.sentence).with_fact("reason", reason).into())
        }
        error => call.refusal(error),
    }
}

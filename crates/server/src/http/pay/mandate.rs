//! Sells an API key for a mandate in the body of `/provision` (AP2), and shows what a mandate must say.

use super::card_token::complete;
use super::purchase::PaidCall;
use crate::http::api_error::ApiError;
use crate::http::extract::idempotency_key;
use crate::http::state::ApiState;
use axum::response::Response;
use dropleaf_app::{MandatePurchase, MandateTerms, PayError};
use dropleaf_pay::ap2::{InstrumentKind, Mandate, MandateVersion};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;

/// The name of the field.
pub(super) const FIELD: &str = "ap2_mandate";
/// The member of the terms.
const TERMS: &str = "ap2";

/// What a mandate (AP2) must say. The transaction can be paid once, until it expires.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "aud": "http://localhost:8080", "transaction_id": "ap2_AAAAAGr5…", "nonce": "bWF5…",
    "payee": {"id": "http://localhost:8080", "name": "localhost"}, "amount": {"amount": 100, "currency": "USD"},
    "versions": ["0.1", "0.2"], "instruments": ["stripe_spt"], "expires_at": 1_794_746_400
}))]
pub(super) struct MandateTermsJson {
    /// The audience of the last token.
    aud: String,
    transaction_id: String,
    /// The nonce of the last token.
    nonce: String,
    payee: PayeeJson,
    /// The exact amount.
    amount: MinorAmountJson,
    /// The accepted versions of AP2.
    versions: Vec<String>,
    /// The accepted types of payment instruments: `stripe_spt` is a shared payment token.
    instruments: Vec<String>,
    /// Unix seconds.
    expires_at: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PayeeJson {
    id: String,
    name: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MinorAmountJson {
    /// In minor units: cents.
    amount: u64,
    currency: String,
}

impl MandateTermsJson {
    /// Terms of a new transaction; `None` if mandates are not accepted.
    pub(super) fn new(state: &ApiState) -> Option<Self> {
        state.app.mandate_terms().map(Self::from)
    }

    /// The same as a member of a 402 body.
    pub(super) fn member(state: &ApiState) -> Map<String, Value> {
        let terms = Self::new(state).and_then(|terms| serde_json::to_value(terms).ok());
        terms.into_iter().map(|terms| (TERMS.to_owned(), terms)).collect()
    }
}

impl From<MandateTerms> for MandateTermsJson {
    fn from(terms: MandateTerms) -> Self {
        Self {
            aud: terms.audience,
            transaction_id: terms.transaction_id,
            nonce: terms.nonce,
            payee: PayeeJson { id: terms.payee_id, name: terms.payee_name },
            amount: MinorAmountJson { amount: terms.amount_minor, currency: terms.currency.to_owned() },
            versions: [MandateVersion::V01, MandateVersion::V02].map(|it| it.as_str().to_owned()).to_vec(),
            instruments: vec![InstrumentKind::StripeSharedPaymentToken.as_str().to_owned()],
            expires_at: terms.expires_at,
        }
    }
}

/// Verifies the mandate and charges the token that it names. Nothing is charged for a mandate that is refused.
pub(super) async fn provision(
    call: PaidCall<'_>,
    sent: &Value,
    warnings: Vec<String>,
) -> Result<Response, ApiError> {
    let state = call.state;
    let mandate = match Mandate::parse(sent) {
        Ok(mandate) => mandate,
        Err(refusal) => {
            let not_live = state.app.require_mandates().err().map(PayError::Failed);
            return call.refusal(not_live.unwrap_or_else(|| refusal.into()));
        }
    };
    let purchase = MandatePurchase { mandate, idempotency_key: idempotency_key(call.headers), ip: call.ip };
    let app = Arc::clone(&state.app);
    complete(call, async move { app.provision_with_mandate(purchase).await }, warnings).await
}

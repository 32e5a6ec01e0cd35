//! Serves the menu of payment rails at `GET /provision`, and describes it for every other place that shows it: the 402 bodies, the
//! service record and `/llms.txt`. What is on the menu is decided by `App::rails`.

use super::mandate::MandateTermsJson;
use crate::http::api_error::ApiError;
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_app::RailStatus;
use dropleaf_core::ledger::dollars;
use dropleaf_core::payment::Item;
use dropleaf_core::{Code, Result};
use http::{StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The member that holds the menu in other documents.
pub(super) const RAILS: &str = "rails";

/// The payment protocols for a key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "price": "1.00", "amount": "1000000", "currency": "USD", "sandbox": true, "rails": example()
}))]
pub(super) struct RailsJson {
    /// In US dollars.
    price: String,
    /// In the smallest unit of a token with 6 decimals.
    amount: String,
    currency: String,
    /// True if no money moves.
    sandbox: bool,
    #[schema(value_type = Vec<RailJson>)]
    rails: Vec<RailStatus>,
    /// What a mandate (AP2) must say, where mandates are accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ap2: Option<MandateTermsJson>,
}

/// A payment protocol, or the prepaid balance.
#[derive(Debug, ToSchema)]
#[schema(example = json!(example()[0]))]
#[expect(dead_code, reason = "describes `RailStatus`")]
pub(super) struct RailJson {
    /// `x402`, `mpp`, `acp`, `ap2`, `card` or `balance`.
    protocol: String,
    versions: Vec<i64>,
    networks: Vec<String>,
    /// What it can pay for now: `publish`, `provision`, `unlock`, `topup`.
    pays_for: Vec<String>,
    /// Whether it can be used now. If not, a payment with it is refused with 402 `rail_not_live`.
    live: bool,
    /// Why it cannot be used.
    #[schema(nullable = false)]
    why: Option<String>,
    how: String,
}

/// The menu of a sandbox with its default settings.
pub(super) fn example() -> Value {
    const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
    json!(RailStatus::sandbox_example("eip155:8453", SOLANA))
}

/// The response to a payment by a rail that is not live, where there are no terms either.
pub(super) fn not_live(state: &ApiState, sentence: &str) -> Response {
    let body = json!({
        "error": Code::RailNotLive.as_str(), "error_description": sentence, RAILS: state.app.rails(),
    });
    (StatusCode::PAYMENT_REQUIRED, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// List the payment protocols
///
/// Every payment protocol that this server knows, and which of them are live. The 402 responses and the service record contain the
/// same list. `ap2` names a new transaction each time.
#[utoipa::path(
    get, path = "/provision", tag = "Payments", operation_id = "listRails",
    responses((status = 200, description = "The payment protocols", body = RailsJson)),
    security(()),
)]
pub(super) async fn list(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let payments = state.app.require_payments()?;
    let amount = payments.prices.of(Item::Provision);
    let menu = RailsJson {
        price: dollars(amount),
        amount: amount.to_string(),
        currency: "USD".to_owned(),
        sandbox: payments.is_sandbox(),
        rails: state.app.provision_rails(),
        ap2: state.app.check_provision_allowed().ok().and_then(|()| MandateTermsJson::new(&state)),
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(menu)).into_response())
}

//! Serves `/unlock`: lifts limits of an account's plan for money. The prepaid balance is used first. Spec §4 Payment.

use super::balance::{BALANCE, balance_members, bought_response, once};
use super::purchase::{PaidCall, Sale, has_proof};
use super::receipt::paid_response;
use super::terms::TermsJson;
use crate::http::api::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::extract::{Owner, client_ip};
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use dropleaf_app::{App, Caller, CatalogueEntry, Order, PurchaseResult, PurchasedItem, UnlockResult};
use dropleaf_core::account::Account;
use dropleaf_core::payment::Item;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Error, Result};
use dropleaf_pay::mpp::CredentialField;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// The unlocks for sale.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UnlocksJson {
    /// True if no money moves.
    #[schema(example = true)]
    sandbox: bool,
    unlocks: Vec<UnlockJson>,
}

// Its schema name differs from that of the unlocks in `GET /me`, which would otherwise replace it.
/// An unlock for sale.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UnlockForSaleJson, example = json!({
    "sku": "make_permanent", "title": "Permanent pages", "description": "Current and future pages of the account are no longer \
                                                                         limited to the plan's maximum lifetime. One-time \
                                                                         purchase, no expiry.",
    "price": "2.00", "amount": "2000000", "amount_minor": 200, "currency": "USD", "period_days": null,
    "networks": ["eip155:8453"], "available": true
}))]
pub(super) struct UnlockJson {
    /// Send it as `feature`.
    sku: String,
    title: String,
    description: String,
    /// In US dollars.
    price: String,
    /// In the smallest unit of a token with 6 decimals.
    amount: String,
    /// In cents, as drawn from a balance.
    amount_minor: i64,
    currency: String,
    /// How long it lasts; null if it does not expire.
    period_days: Option<i64>,
    /// Networks it can be paid on; a balance needs none.
    networks: Vec<String>,
    /// Whether it is on sale: always true.
    available: bool,
}

/// An unlock that is active.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "ok": true, "sku": "higher_limits", "active_until": 1_797_298_860, "paid_with": "x402", "balance_minor": 0,
    "transaction": "0x…", "sandbox": true
}))]
pub(super) struct UnlockedJson {
    ok: bool,
    sku: String,
    /// Epoch seconds; null if it does not expire.
    active_until: Option<i64>,
    /// `x402`, `mpp`, `balance`, or `nothing` if it was already active permanently.
    paid_with: String,
    /// The remaining balance, in cents.
    balance_minor: i64,
    /// The transaction that settled the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transaction: Option<String>,
    /// True if no money moved.
    sandbox: bool,
}

/// List the unlocks for sale
#[utoipa::path(
    get, path = "/unlock", tag = "Payments", operation_id = "listUnlocks",
    responses((status = 200, description = "The catalog", body = UnlocksJson)),
    security(()),
)]
pub(super) async fn catalogue(State(state): State<ApiState>) -> Result<Json<UnlocksJson>, ApiError> {
    let sandbox = state.app.require_payments()?.is_sandbox();
    let entry = |entry: CatalogueEntry| UnlockJson {
        sku: entry.sku.as_str().to_owned(),
        title: entry.sku.title().to_owned(),
        description: entry.sku.description().to_owned(),
        price: entry.price,
        amount: entry.amount,
        amount_minor: entry.amount_minor,
        currency: entry.currency.to_owned(),
        period_days: entry.period_days,
        networks: entry.networks,
        available: true,
    };
    Ok(Json(UnlocksJson { sandbox, unlocks: state.app.unlock_catalogue().into_iter().map(entry).collect() }))
}

/// Lift a limit of your plan
///
/// Paid from the prepaid balance if it suffices; otherwise 402 with the terms and the balance, to be paid on the EVM
/// network with `PAYMENT-SIGNATURE` (x402 v2), `X-PAYMENT` (v1) or `Payment-Authorization` (MPP). An unlock with a period extends the time that is
/// left.
#[utoipa::path(
    post, path = "/unlock", tag = "Payments", operation_id = "unlockFeature",
    params(
        ("feature" = String, Query, description = "A `sku` from the catalog."),
        ("PAYMENT-SIGNATURE" = Option<String>, Header, description = "Proof of payment, x402 v2."),
        ("X-PAYMENT" = Option<String>, Header, description = "Proof of payment, x402 v1."),
        ("Payment-Authorization" = Option<String>, Header, description = "`Payment <credential>`: proof of payment by MPP."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours; a second payment from the \
                                                                    same wallet with the same key buys nothing."),
    ),
    responses(
        (
            status = 200, description = "Unlocked", body = UnlockedJson,
            headers(
                ("PAYMENT-RESPONSE" = String, description = "The receipt of a payment; `X-PAYMENT-RESPONSE` for x402 v1."),
                ("Payment-Receipt" = String, description = "The receipt of a payment by MPP."),
            ),
        ),
        (
            status = 402, description = "`payment_required`, `payment_refused`, `rail_not_live`: the terms, or `pay` and `rails` where \
                                         only cards are accepted; nothing was changed", content((TermsJson = "application/json"), (TermsJson = "application/problem+json")),
            headers(
                ("PAYMENT-REQUIRED" = String, description = "The terms for x402 v2, base64 of JSON."),
                ("WWW-Authenticate" = String, description = "A challenge for MPP: `Payment id=…`."),
            ),
        ),
    ),
    security(("api_key" = [])),
)]
pub(super) async fn unlock(
    State(state): State<ApiState>,
    Owner(account): Owner,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, _) = request.into_parts();
    let headers = &parts.headers;
    let sku = feature(parts.uri.query().unwrap_or_default())?;
    state.app.require_payments()?;
    if has_proof(headers) {
        state.app.take_paid_attempt(client_ip(&parts, &state)).await?;
    }
    let request_hash =
        RequestHash::new("unlock").field("account", &account.id).field("sku", sku.as_str()).finish();
    // A proof pays for what it was signed for: repeating it must not draw on the balance instead.
    if !has_proof(headers)
        && let Some(unlocked) = from_balance(&state, &account, sku, request_hash, headers).await?
    {
        return Ok(bought_response(unlocked));
    }
    let more = balance_members(&state, &account.id, Item::Unlock(sku)).await?;
    let order = Order::Unlock { account, sku };
    let call = PaidCall {
        state: &state,
        headers,
        ip: None,
        item: Item::Unlock(sku),
        // `Authorization` holds the API key.
        field: CredentialField::PaymentAuthorization,
        // The query says everything; a body is not read.
        digest: None,
        more,
    };
    match call.sell((order, request_hash), ()).await? {
        Sale::Answer(answer) => Ok(answer),
        Sale::Sold { bought, receipt } => {
            let answer = UnlockedJson::new(&state.app, &bought)?;
            Ok(paid_response(StatusCode::OK, &answer, &bought, &receipt))
        }
    }
}

/// The requested unlock.
fn feature(query: &str) -> Result<Sku> {
    let sent = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "feature");
    let (_, text) = sent.ok_or_else(|| {
        Error::field("feature", "is required in the query: ?feature=…; GET /unlock lists the features")
    })?;
    Sku::parse(&text).ok_or_else(|| {
        let all = Sku::ALL.map(Sku::as_str).join(", ");
        Error::field("feature", format!("must be one of {all}"))
    })
}

/// Pays from the prepaid balance; None if it does not suffice.
async fn from_balance(
    state: &ApiState,
    account: &Account,
    sku: Sku,
    request_hash: [u8; 32],
    headers: &HeaderMap,
) -> Result<Option<IdempotentResponse>> {
    let caller = Caller { account: Some(account.clone()), grant_id: None, ip: None, maker: None };
    let once = once(state, headers, &caller, request_hash);
    let sandbox = state.app.require_payments()?.is_sandbox();
    let render = |unlocked: &UnlockResult| UnlockedJson::drawn(&state.app, unlocked, sandbox).to_bytes();
    let done = state.app.unlock_with_balance(account, sku, once.as_ref(), render).await?;
    Ok(done.map(|done| IdempotentResponse::of(done, StatusCode::OK, render)))
}

impl UnlockedJson {
    fn drawn(app: &App, unlocked: &UnlockResult, sandbox: bool) -> Self {
        Self {
            ok: true,
            sku: unlocked.sku.as_str().to_owned(),
            active_until: unlocked.until,
            paid_with: if unlocked.already { "nothing" } else { BALANCE }.to_owned(),
            balance_minor: app.spendable_balance(&unlocked.account),
            transaction: None,
            sandbox,
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn new(app: &App, bought: &PurchaseResult) -> Result<Self> {
        let PurchasedItem::Unlock { account, sku, until } = &bought.item else {
            return Err(Error::internal("payment for an unlock bought a different item"));
        };
        Ok(Self {
            ok: true,
            sku: sku.as_str().to_owned(),
            active_until: *until,
            paid_with: bought.payment.rail.as_str().to_owned(),
            balance_minor: app.spendable_balance(account),
            transaction: bought.payment.transaction.clone(),
            sandbox: bought.payment.sandbox,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_must_be_one_of_the_catalogue() {
        assert_eq!(feature("x=1&feature=make%5Fpermanent").unwrap(), Sku::MakePermanent);
        for bad in ["", "feature=", "feature=topup", "features=make_permanent"] {
            assert!(feature(bad).is_err(), "{bad}");
        }
        assert!(feature("").unwrap_err().detail.contains("?feature="), "it says where it goes");
    }
}

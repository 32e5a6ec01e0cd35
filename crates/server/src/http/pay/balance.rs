//! Paying from the prepaid balance: whose balance it is, and the response. Spec §5 rule 5.

use super::purchase::{has_proof, is_foreign_question};
use crate::http::api::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::extract::{Maker, bearer_text, client_ip, idempotency_key, idempotent_request};
use crate::http::state::ApiState;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use dropleaf_app::{Caller, IdempotentRequest};
use dropleaf_core::payment::Item;
use dropleaf_core::{Code, Result};
use http::request::Parts;
use http::{HeaderMap, header};
use serde_json::{Map, Value};

/// The protocol of a purchase from a balance, beside those of payments.
pub(super) const BALANCE: &str = "balance";

/// The account whose balance pays: the owner of the key or access token, which needs the scope `sites:write`. None for a
/// request with a proof: the proof pays, and the key is not even checked, so that no request is charged to both. None
/// also for a web page of another origin, which gets the terms.
#[derive(Debug)]
pub(super) struct Payer(pub(super) Option<Caller>);

impl FromRequestParts<ApiState> for Payer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let has_key = bearer_text(parts).is_some();
        if !has_key || has_proof(&parts.headers) || is_foreign_question(parts) {
            return Ok(Self(None));
        }
        // An invalid key is refused, not ignored: its sender would sign a payment without need.
        let Maker(known) = Maker::from_request_parts(parts, state).await?;
        let ip = client_ip(parts, state);
        Ok(Self(Some(Caller::of(known, ip))))
    }
}

impl Payer {
    /// The members that a 402 has for this caller: the balance, which does not suffice.
    pub(super) async fn terms(&self, state: &ApiState, item: Item) -> Result<Map<String, Value>> {
        let Some(caller) = &self.0 else { return Ok(Map::new()) };
        balance_members(state, &caller.account()?.id, item).await
    }
}

/// The balance of an account and what is missing for an item, as members of a 402.
pub(super) async fn balance_members(
    state: &ApiState,
    account_id: &str,
    item: Item,
) -> Result<Map<String, Value>> {
    let account = state.app.get_account(account_id).await?;
    let balance = state.app.spendable_balance(&account);
    let price = state.app.require_payments()?.prices.cents_of(item);
    let mut members = Map::new();
    members.insert("balance_minor".to_owned(), balance.into());
    members.insert("missing_minor".to_owned(), price.saturating_sub(balance).max(0).into());
    if let Some(why) = state.app.unspendable_credit(&account) {
        let text = format!("{} {why}", Code::PaymentRequired.meaning());
        members.insert("error_description".to_owned(), text.into());
    }
    Ok(members)
}

/// The idempotency record of a purchase from a balance, if the request has a key for it.
pub(super) fn once(
    state: &ApiState,
    headers: &HeaderMap,
    caller: &Caller,
    request_hash: [u8; 32],
) -> Option<IdempotentRequest> {
    idempotent_request(state, idempotency_key(headers), caller, Some(request_hash))
}

/// The response to a purchase. It may contain a secret and is for its buyer only.
pub(super) fn bought_response(response: IdempotentResponse) -> Response {
    ([(header::CACHE_CONTROL, "private, no-store")], response).into_response()
}

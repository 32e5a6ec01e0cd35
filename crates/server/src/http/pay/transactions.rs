//! Serves `GET /me/transactions`: the movements of the account's prepaid balance.

use crate::http::api_error::ApiError;
use crate::http::extract::Reader;
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::{RawQuery, State};
use dropleaf_app::{Movement, MovementList, MovementQuery};
use dropleaf_core::ledger::MovementKind;
use dropleaf_core::payment::Item;
use dropleaf_core::{Error, Result, number};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "transactions": [{
        "id": "txn_01m8k3v5q7x2m4n6p8r1", "created_at": 1_794_706_860, "kind": "purchase", "amount_minor": -50,
        "item": "publish", "payment_id": null, "note": null
    }],
    "balance_minor": 950, "has_more": false, "next_before": null, "next_before_id": null
}))]
pub(super) struct TransactionsJson {
    transactions: Vec<TransactionJson>,
    /// The balance that can be spent now, in US cents.
    balance_minor: i64,
    /// Whether there are more transactions.
    has_more: bool,
    /// Send as `before` to get them.
    next_before: Option<i64>,
    /// Send as `before_id` to get them.
    next_before_id: Option<String>,
}

/// A movement of the prepaid balance.
#[derive(Debug, Serialize, ToSchema)]
struct TransactionJson {
    id: String,
    /// Epoch seconds.
    created_at: i64,
    /// `topup`: a card payment was credited in full. `credit`: the part of a card payment above the price. `purchase`:
    /// something was bought from the balance. `grant`: the operator added credit or took it back. `refund`, `dispute`:
    /// credit went back with its card payment; a positive `refund` is one that failed. `reinstatement`: a dispute was won.
    kind: &'static str,
    /// In US cents; negative if the balance became smaller.
    amount_minor: i64,
    /// What was bought or refunded: `publish`, `provision` or the `sku` of an unlock. Null if only the balance is concerned.
    item: Option<&'static str>,
    /// The card payment that it belongs to.
    payment_id: Option<String>,
    /// The operator's reason for a grant.
    note: Option<String>,
}

/// List the movements of your prepaid balance, newest first
///
/// In sandbox mode these are the movements of sandbox money alone, otherwise those of real money alone.
#[utoipa::path(
    get, path = "/me/transactions", tag = "Payments", operation_id = "listTransactions",
    params(
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 200, description = "Page size, 1 to 200; default 50."),
        ("before" = Option<i64>, Query, description = "`next_before` of the previous response."),
        ("before_id" = Option<String>, Query, description = "`next_before_id` of the previous response."),
    ),
    responses((status = 200, description = "The transactions", body = TransactionsJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    Reader(account): Reader,
    RawQuery(query): RawQuery,
) -> Result<Json<TransactionsJson>, ApiError> {
    let query = movement_query(query.as_deref().unwrap_or_default())?;
    Ok(Json(TransactionsJson::new(state.app.list_movements(&account, query).await?)))
}

fn movement_query(text: &str) -> Result<MovementQuery> {
    let mut query = MovementQuery::default();
    for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        let int = || number::integer(value).ok_or_else(|| Error::field(name, "must be an integer"));
        match name {
            "limit" => query.limit = int()?,
            "before" => query.before = Some(int()?),
            "before_id" => query.before_id = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(query)
}

impl TransactionsJson {
    fn new(found: MovementList) -> Self {
        let MovementList { movements, has_more, balance_minor } = found;
        let last = movements.last().filter(|_| has_more).map(|last| (last.created_at, last.id.clone()));
        let (next_before, next_before_id) = last.unzip();
        let transactions = movements.into_iter().map(TransactionJson::from).collect();
        Self { transactions, balance_minor, has_more, next_before, next_before_id }
    }
}

impl From<Movement> for TransactionJson {
    fn from(movement: Movement) -> Self {
        Self {
            kind: MovementKind::of(movement.cause, movement.item).as_str(),
            id: movement.id,
            created_at: movement.created_at,
            amount_minor: movement.amount_minor,
            item: movement.item.map(Item::as_str),
            payment_id: movement.payment_id,
            note: movement.note,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_and_limit_are_read_and_numbers_must_be_numbers() {
        let query = movement_query("limit=3&before=9&before_id=txn_1&other=x").unwrap();
        assert_eq!((query.limit, query.before, query.before_id.as_deref()), (3, Some(9), Some("txn_1")));
        assert_eq!(movement_query("").unwrap().limit, 50);
        assert!(movement_query("limit=many").is_err() && movement_query("before=").is_err());
    }
}

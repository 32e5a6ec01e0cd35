//! Rows of `payments` as the operator looks at them: without what is secret, and with the one change that only a person
//! can decide on. How a payment moves on by itself is in `payments`.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::ledger::Unit;
use dropleaf_core::payment::{Item, PaymentState};

/// Somebody else decided on it first, or it is decided already.
pub const DECIDED: &str = "payment_decided";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentLine {
    pub id: String,
    pub item: Item,
    pub state: PaymentState,
    pub generation: i64,
    pub network: String,
    pub payer: String,
    pub pay_to: String,
    pub amount: i64,
    pub sandbox: bool,
    pub transaction: Option<String>,
    pub reason: Option<String>,
    pub attempts: i64,
    pub site_id: Option<String>,
    pub account_id: Option<String>,
    pub valid_until: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub fulfilled_at: Option<i64>,
    pub delivered_at: Option<i64>,
    pub key: String,
}

impl PaymentLine {
    pub const fn unit(&self) -> Unit {
        if self.sandbox { Unit::Play6 } else { Unit::Usdc6 }
    }
}

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, item, state, generation, network, payer, pay_to, amount, sandbox, tx_hash, reason, attempts, \
             site_id, account_id, valid_until, created_at, updated_at, fulfilled_at, delivered_at, payment_key \
             FROM payments ",
            $tail
        )
    };
}

fn row(row: &Row<'_>) -> Result<PaymentLine, DbError> {
    let broken = |what: &str| DbError::internal(format!("a payment has an unknown {what}"));
    Ok(PaymentLine {
        id: row.text(0)?.to_owned(),
        item: Item::parse(row.text(1)?).ok_or_else(|| broken("item"))?,
        state: PaymentState::parse(row.text(2)?).ok_or_else(|| broken("state"))?,
        generation: row.int(3)?,
        network: row.text(4)?.to_owned(),
        payer: row.text(5)?.to_owned(),
        pay_to: row.text(6)?.to_owned(),
        amount: row.int(7)?,
        sandbox: row.flag(8)?,
        transaction: row.opt_text(9)?.map(str::to_owned),
        reason: row.opt_text(10)?.map(str::to_owned),
        attempts: row.int(11)?,
        site_id: row.opt_text(12)?.map(str::to_owned),
        account_id: row.opt_text(13)?.map(str::to_owned),
        valid_until: row.int(14)?,
        created_at: row.int(15)?,
        updated_at: row.int(16)?,
        fulfilled_at: row.opt_int(17)?,
        delivered_at: row.opt_int(18)?,
        key: row.text(19)?.to_owned(),
    })
}

impl Store {
    pub async fn find_payment_line(&self, id: &str) -> Result<Option<PaymentLine>, DbError> {
        self.db.get(select!("WHERE id = $1"), &[id.into()], row).await
    }

    /// The newest, in one state or in any.
    pub async fn list_payment_lines(
        &self,
        state: Option<PaymentState>,
        limit: i64,
    ) -> Result<Vec<PaymentLine>, DbError> {
        let state = state.map_or("", PaymentState::as_str);
        self.db
            .list(
                select!(
                    "WHERE CAST($1 AS TEXT) = '' OR state = $1 ORDER BY created_at DESC, id DESC LIMIT $2"
                ),
                vec![state.into(), limit.into()],
                row,
            )
            .await
    }

    /// Those that are not decided, the oldest first.
    pub async fn list_open_payments(&self, limit: i64) -> Result<Vec<PaymentLine>, DbError> {
        self.db
            .list(
                select!(
                    "WHERE state IN ('verified', 'settling', 'settled', 'unknown') ORDER BY created_at, id LIMIT $1"
                ),
                vec![limit.into()],
                row,
            )
            .await
    }
}

/// The money moved, by this transaction: what it buys is made by whoever drives payments on.
pub fn decide_settled(id: &str, transaction: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET state = 'settled', tx_hash = $1, reason = NULL, held_until = 0, updated_at = $2 \
         WHERE id = $3 AND state = 'unknown'",
        vec![transaction.into(), now.into(), id.into()],
    )
    .one(DECIDED)
}

/// The money did not move: what waited for it is let go.
pub fn decide_refused(id: &str, reason: &str, now: i64) -> [Stmt; 2] {
    let release = Stmt::new(
        "UPDATE bundles SET refs = refs - 1, touched_at = $1 WHERE id = (SELECT bundle_id FROM payments \
         WHERE id = $2 AND state = 'unknown')",
        vec![now.into(), id.into()],
    );
    let refuse = Stmt::new(
        "UPDATE payments SET state = 'refused', reason = $1, ask = NULL, draft = NULL, bundle_id = NULL, held_until = 0, \
         updated_at = $2 WHERE id = $3 AND state = 'unknown'",
        vec![reason.into(), now.into(), id.into()],
    )
    .one(DECIDED);
    [release, refuse]
}

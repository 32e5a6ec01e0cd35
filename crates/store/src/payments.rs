//! SQL for `payments`. A payment is reserved under a unique key, moves from state to state by guarded statements, and is kept
//! forever unless refused. A worker holds it until `held_until`; each update is guarded by the state and hold that it was
//! read with, so of two workers that believe they hold it only one succeeds.

use crate::db::{DbError, Row, Stmt, Val, columns};
use crate::store::Store;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;

/// The key belongs to a payment that was reserved before.
pub const TAKEN: &str = "payment_taken";
/// The account already has this permanent unlock, or is about to.
pub const BOUGHT: &str = "payment_bought";
/// Another worker has updated the payment, or holds it.
pub const MOVED: &str = "payment_moved";

/// Too many payments have an unknown outcome.
pub const TOO_MANY_UNKNOWN: &str = "payment_crowded";

columns! {
    PaymentColumns, payment_columns:
    id, payment_key, item, protocol, generation, network, asset, payer, pay_to, amount, payer_is_eoa, sandbox,
    request_hash, client, once_hash, state, ask, fee_payer, draft, bundle_id, site_id, account_id, tx_hash, reason,
    attempts, held_until, valid_until, created_at, updated_at, fulfilled_at, delivered_at, credit_minor,
    refunded_minor, disputed_minor,
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", payment_columns!(), " FROM payments ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<Payment, DbError> {
    const COLUMN: PaymentColumns = PaymentColumns::starting_at(0);
    let strange = |what: &str| DbError::internal(format!("payment row has an unknown {what}"));
    Ok(Payment {
        id: row.string(COLUMN.id)?,
        key: row.string(COLUMN.payment_key)?,
        item: Item::parse(row.text(COLUMN.item)?).ok_or_else(|| strange("item"))?,
        rail: Rail::parse(row.text(COLUMN.protocol)?).ok_or_else(|| strange("protocol"))?,
        generation: row.int(COLUMN.generation)?,
        network: row.string(COLUMN.network)?,
        asset: row.string(COLUMN.asset)?,
        payer: row.string(COLUMN.payer)?,
        pay_to: row.string(COLUMN.pay_to)?,
        amount: row.int(COLUMN.amount)?,
        payer_is_eoa: row.flag(COLUMN.payer_is_eoa)?,
        sandbox: row.flag(COLUMN.sandbox)?,
        request_hash: row.hash(COLUMN.request_hash)?,
        client: row.string(COLUMN.client)?,
        once_hashes: row.opt_bytes(COLUMN.once_hash)?.unwrap_or_default().as_chunks().0.to_vec(),
        state: PaymentState::parse(row.text(COLUMN.state)?).ok_or_else(|| strange("state"))?,
        ask: row.opt_string(COLUMN.ask)?,
        fee_payer: row.opt_string(COLUMN.fee_payer)?,
        draft: row.opt_bytes(COLUMN.draft)?.map(<[u8]>::to_vec),
        bundle_id: row.opt_string(COLUMN.bundle_id)?,
        site_id: row.opt_string(COLUMN.site_id)?,
        account_id: row.opt_string(COLUMN.account_id)?,
        transaction: row.opt_string(COLUMN.tx_hash)?,
        reason: row.opt_string(COLUMN.reason)?,
        attempts: row.int(COLUMN.attempts)?,
        held_until: row.int(COLUMN.held_until)?,
        valid_until: row.int(COLUMN.valid_until)?,
        created_at: row.int(COLUMN.created_at)?,
        updated_at: row.int(COLUMN.updated_at)?,
        fulfilled_at: row.opt_int(COLUMN.fulfilled_at)?,
        delivered_at: row.opt_int(COLUMN.delivered_at)?,
        credit_minor: row.int(COLUMN.credit_minor)?,
        refunded_minor: row.int(COLUMN.refunded_minor)?,
        disputed_minor: row.int(COLUMN.disputed_minor)?,
    })
}

fn args(payment: &Payment) -> Vec<Val> {
    vec![
        payment.id.as_str().into(),
        payment.key.as_str().into(),
        payment.item.as_str().into(),
        payment.rail.as_str().into(),
        payment.generation.into(),
        payment.network.as_str().into(),
        payment.asset.as_str().into(),
        payment.payer.as_str().into(),
        payment.pay_to.as_str().into(),
        payment.amount.into(),
        payment.payer_is_eoa.into(),
        payment.sandbox.into(),
        payment.request_hash.into(),
        payment.client.as_str().into(),
        Some(payment.once_hashes.as_flattened()).filter(|hashes| !hashes.is_empty()).into(),
        payment.state.as_str().into(),
        payment.ask.as_deref().into(),
        payment.fee_payer.as_deref().into(),
        payment.draft.as_deref().into(),
        payment.bundle_id.as_deref().into(),
        payment.site_id.as_deref().into(),
        payment.account_id.as_deref().into(),
        payment.transaction.as_deref().into(),
        payment.reason.as_deref().into(),
        payment.attempts.into(),
        payment.held_until.into(),
        payment.valid_until.into(),
        payment.created_at.into(),
        payment.updated_at.into(),
        payment.fulfilled_at.into(),
        payment.delivered_at.into(),
        payment.credit_minor.into(),
        payment.refunded_minor.into(),
        payment.disputed_minor.into(),
    ]
}

impl Store {
    pub async fn find_payment(&self, id: &str) -> Result<Option<Payment>, DbError> {
        self.db.get(select!("WHERE id = $1"), &[id.into()], row).await
    }

    /// The same for an answer that says what was paid for: it must be durable.
    pub async fn find_durable_payment(&self, id: &str) -> Result<Option<Payment>, DbError> {
        self.db.get_durable(select!("WHERE id = $1"), &[id.into()], row).await
    }

    pub async fn find_payment_by_key(&self, key: &str) -> Result<Option<Payment>, DbError> {
        self.db.get(select!("WHERE payment_key = $1"), &[key.into()], row).await
    }

    /// Undecided payments that no worker holds: settled ones first, then by how long their hold has been over. Those that
    /// need an answer of the facilitator or the chain are included only if they match `sandbox`; with `None`, none of them. A
    /// settled payment that could not be fulfilled waits as long as it had been open at the last attempt, at most an hour; a
    /// settled one that has lost its content waits for its payer.
    pub async fn list_resumable_payments(
        &self,
        sandbox: Option<bool>,
        now: i64,
        limit: i64,
    ) -> Result<Vec<Payment>, DbError> {
        let sql = select!(
            "WHERE state IN ('verified', 'settling', 'settled', 'unknown') AND held_until <= $1 \
             AND (state = 'settled' OR sandbox = $2) \
             AND (state <> 'settled' OR draft IS NOT NULL OR item NOT IN ('publish', 'provision')) \
             AND (state <> 'settled' OR held_until + CASE WHEN updated_at - created_at < 3600 \
             THEN updated_at - created_at ELSE 3600 END <= $1) \
             ORDER BY CASE state WHEN 'settled' THEN 0 ELSE 1 END, held_until LIMIT $3"
        );
        let sandbox = sandbox.map_or(-1, i64::from);
        self.db.list(sql, vec![now.into(), sandbox.into(), limit.into()], row).await
    }

    /// Payments older than `before`, newest first; of one state and one rail, or of all.
    pub async fn list_payments(
        &self,
        state: Option<PaymentState>,
        rail: Option<Rail>,
        before: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Payment>, DbError> {
        let (created_at, id) = before.unwrap_or((i64::MAX, String::new()));
        let (state, rail) = (state.map_or("", PaymentState::as_str), rail.map_or("", Rail::as_str));
        let sql = select!(
            "WHERE (created_at, id) < ($1, $2) AND (CAST($3 AS TEXT) = '' OR state = $3) \
             AND (CAST($4 AS TEXT) = '' OR protocol = $4) ORDER BY created_at DESC, id DESC LIMIT $5"
        );
        let args = vec![created_at.into(), id.into(), state.into(), rail.into(), limit.into()];
        self.db.list(sql, args, row).await
    }

    /// Undecided payments, oldest first.
    pub async fn list_open_payments(&self, limit: i64) -> Result<Vec<Payment>, DbError> {
        let sql = select!(
            "WHERE state IN ('verified', 'settling', 'settled', 'unknown') ORDER BY created_at, id LIMIT $1"
        );
        self.db.list(sql, vec![limit.into()], row).await
    }

    /// The id of another payment that is recorded as settled by this transaction.
    pub async fn find_settled_by(
        &self,
        network: &str,
        transaction: &str,
        but: &str,
    ) -> Result<Option<String>, DbError> {
        // EVM hashes are hexadecimal in either case; Solana signatures are case-sensitive.
        let sql = "SELECT id FROM payments WHERE network = $1 AND id <> $2 \
                   AND (tx_hash = $3 OR (tx_hash LIKE '0x%' AND LOWER(tx_hash) = LOWER($3))) LIMIT 1";
        let args = [network.into(), but.into(), transaction.into()];
        self.db.get(sql, &args, |row| row.string(0)).await
    }
}

/// Reserves a payment; fails if its key exists.
pub fn insert(payment: &Payment) -> Stmt {
    Stmt::new(
        concat!(
            "INSERT INTO payments (",
            payment_columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, \
             $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34) ON CONFLICT (payment_key) DO NOTHING"
        ),
        args(payment),
    )
    .one(TAKEN)
}

/// Reserves a refused payment again; fails if it is no longer refused.
pub fn reserve_again(payment: &Payment) -> Stmt {
    Stmt::new(
        "UPDATE payments SET id = $1, payment_key = $2, item = $3, protocol = $4, generation = $5, network = $6, \
         asset = $7, payer = $8, pay_to = $9, amount = $10, payer_is_eoa = $11, sandbox = $12, request_hash = $13, \
         client = $14, once_hash = $15, state = $16, ask = $17, fee_payer = $18, draft = $19, bundle_id = $20, \
         site_id = $21, account_id = $22, tx_hash = $23, reason = $24, attempts = $25, held_until = $26, \
         valid_until = $27, created_at = $28, updated_at = $29, fulfilled_at = $30, delivered_at = $31, \
         credit_minor = $32, refunded_minor = $33, disputed_minor = $34 \
         WHERE payment_key = $2 AND id = $1 AND state = 'refused'",
        args(payment),
    )
    .one(TAKEN)
}

/// Updates a payment's state, hold, outcome and results, if it is still as `before`. What was agreed on never changes. The
/// guard includes `attempts`, which tells two holds of the same second apart.
pub fn update(before: &Payment, after: &Payment) -> Stmt {
    Stmt::new(
        "UPDATE payments SET state = $1, ask = $2, draft = $3, bundle_id = $4, site_id = $5, account_id = $6, \
         tx_hash = $7, reason = $8, attempts = $9, held_until = $10, updated_at = $11, fulfilled_at = $12, \
         delivered_at = $13, credit_minor = $14 WHERE id = $15 AND state = $16 AND held_until = $17 AND attempts = $18",
        vec![
            after.state.as_str().into(),
            after.ask.as_deref().into(),
            after.draft.as_deref().into(),
            after.bundle_id.as_deref().into(),
            after.site_id.as_deref().into(),
            after.account_id.as_deref().into(),
            after.transaction.as_deref().into(),
            after.reason.as_deref().into(),
            after.attempts.into(),
            after.held_until.into(),
            after.updated_at.into(),
            after.fulfilled_at.into(),
            after.delivered_at.into(),
            after.credit_minor.into(),
            before.id.as_str().into(),
            before.state.as_str().into(),
            before.held_until.into(),
            before.attempts.into(),
        ],
    )
    .one(MOVED)
}

/// Ensures that an account pays for a permanent unlock only once: fails while another payment for it is undecided, or if the
/// account has it. Locks the account's row first, so of two concurrent batches the second sees the first.
pub fn require_single_purchase(account_id: &str, item: Item, id: &str) -> [Stmt; 2] {
    let alone = Stmt::new(
        "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM payments WHERE account_id = $1 AND item = $2 AND id <> $3 \
         AND state IN ('verified', 'settling', 'settled', 'unknown'))",
        vec![account_id.into(), item.as_str().into(), id.into()],
    );
    [require_not_permanent(account_id), alone.one(BOUGHT)]
}

/// Locks the account's row and fails if the account has the permanent unlock, so that of two payments for it one becomes
/// credit.
pub fn require_not_permanent(account_id: &str) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET active_pages = active_pages WHERE id = $1 AND permanent_since IS NULL",
        vec![account_id.into()],
    )
    .one(BOUGHT)
}

/// Ends every hold, because the workers that held them are gone. Payments with an unknown outcome keep their pauses.
pub fn release_holds(now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET held_until = $1 WHERE state IN ('verified', 'settling', 'settled') AND held_until > $1",
        vec![now.into()],
    )
}

/// Ends the pauses of payments with an unknown outcome: the facilitator can be asked now.
pub fn retry_unknown(now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET held_until = $1 WHERE state = 'unknown' AND sandbox = 0 AND held_until > $1",
        vec![now.into()],
    )
}

/// Fails while `most` payments are unknown.
pub fn require_few_unknown(most: i64) -> Stmt {
    Stmt::new(
        "SELECT 1 WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE state = 'unknown' LIMIT $1) AS open) < $1",
        vec![most.into()],
    )
    .one(TOO_MANY_UNKNOWN)
}

/// Records that the payer received what was bought, if that was not recorded before.
pub fn deliver(id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET delivered_at = $1 WHERE id = $2 AND delivered_at IS NULL",
        vec![now.into(), id.into()],
    )
}

/// Erases drafts that will not be shown again: of pages and of keys delivered up to these times, and of purchases fulfilled
/// up to the third time and never delivered.
pub fn erase_drafts(pages_told_to: i64, keys_told_to: i64, fulfilled_to: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET draft = NULL WHERE draft IS NOT NULL AND fulfilled_at IS NOT NULL \
         AND (delivered_at <= $1 OR (item = 'provision' AND delivered_at <= $2) \
         OR (delivered_at IS NULL AND fulfilled_at <= $3))",
        vec![pages_told_to.into(), keys_told_to.into(), fulfilled_to.into()],
    )
}

/// Deletes refused payments whose authorisation expired before this time, so that no one can settle them any more.
pub fn delete_refused(valid_until: i64) -> Stmt {
    Stmt::new("DELETE FROM payments WHERE state = 'refused' AND valid_until < $1", vec![valid_until.into()])
}

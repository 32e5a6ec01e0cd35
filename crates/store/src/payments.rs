//! Rows of `payments`: reserved under a key that no second payment has, moved on by guarded statements, kept for good.
//! Whoever works on one holds it until `held_until`; a move is guarded by the state and the hold it was seen with, so
//! that of two who believe to hold it only one moves it.

use crate::db::{DbError, Row, Stmt, Val};
use crate::store::Store;
use dropleaf_core::payment::{Item, Payment, PaymentState};

/// The key belongs to a payment that was reserved before.
pub const TAKEN: &str = "payment_taken";
/// The account has it for good already, or is about to.
pub const BOUGHT: &str = "payment_bought";
/// Somebody else has moved the payment on, or holds it.
pub const MOVED: &str = "payment_moved";

/// Too many payments wait for somebody to find out what became of them.
pub const CROWDED: &str = "payment_crowded";

macro_rules! columns {
    () => {
        "id, payment_key, item, protocol, generation, network, asset, payer, pay_to, amount, payer_is_eoa, sandbox, \
         request_hash, client, once_hash, state, ask, fee_payer, draft, bundle_id, site_id, account_id, tx_hash, \
         reason, attempts, held_until, valid_until, created_at, updated_at, fulfilled_at, delivered_at"
    };
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", columns!(), " FROM payments ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<Payment, DbError> {
    let text = |i| row.text(i).map(str::to_owned);
    let opt_text = |i| row.opt_text(i).map(|text| text.map(str::to_owned));
    let strange = |what: &str| DbError::internal(format!("a payment has a strange {what}"));
    Ok(Payment {
        id: text(0)?,
        key: text(1)?,
        item: Item::parse(row.text(2)?).ok_or_else(|| strange("item"))?,
        protocol: text(3)?,
        generation: row.int(4)?,
        network: text(5)?,
        asset: text(6)?,
        payer: text(7)?,
        pay_to: text(8)?,
        amount: row.int(9)?,
        payer_is_eoa: row.flag(10)?,
        sandbox: row.flag(11)?,
        request_hash: row.hash(12)?,
        client: text(13)?,
        once_hashes: row.opt_bytes(14)?.unwrap_or_default().as_chunks().0.to_vec(),
        state: PaymentState::parse(row.text(15)?).ok_or_else(|| strange("state"))?,
        ask: opt_text(16)?,
        fee_payer: opt_text(17)?,
        draft: row.opt_bytes(18)?.map(<[u8]>::to_vec),
        bundle_id: opt_text(19)?,
        site_id: opt_text(20)?,
        account_id: opt_text(21)?,
        transaction: opt_text(22)?,
        reason: opt_text(23)?,
        attempts: row.int(24)?,
        held_until: row.int(25)?,
        valid_until: row.int(26)?,
        created_at: row.int(27)?,
        updated_at: row.int(28)?,
        fulfilled_at: row.opt_int(29)?,
        delivered_at: row.opt_int(30)?,
    })
}

fn args(payment: &Payment) -> Vec<Val> {
    vec![
        payment.id.as_str().into(),
        payment.key.as_str().into(),
        payment.item.as_str().into(),
        payment.protocol.as_str().into(),
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
    ]
}

impl Store {
    pub async fn find_payment(&self, id: &str) -> Result<Option<Payment>, DbError> {
        self.db.get(select!("WHERE id = $1"), &[id.into()], row).await
    }

    pub async fn find_payment_by_key(&self, key: &str) -> Result<Option<Payment>, DbError> {
        self.db.get(select!("WHERE payment_key = $1"), &[key.into()], row).await
    }

    /// Payments that are not decided and that nobody works on: what is settled first, then those that wait longest. Those
    /// that somebody has to be asked about only as far as they are of the sandbox, or are not; of none by default. What is
    /// settled and could not be made waits as long as it had been open when it was last tried, at most an hour; what is
    /// settled and has lost its content waits for its payer.
    pub async fn list_stray_payments(
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

    /// Payments, the newest first, older than `before`; of one state, or of all.
    pub async fn list_payments(
        &self,
        state: Option<PaymentState>,
        before: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Payment>, DbError> {
        let (created_at, id) = before.unwrap_or((i64::MAX, String::new()));
        let state = state.map_or("", PaymentState::as_str);
        let sql = select!(
            "WHERE (created_at, id) < ($1, $2) AND (CAST($3 AS TEXT) = '' OR state = $3) \
             ORDER BY created_at DESC, id DESC LIMIT $4"
        );
        self.db.list(sql, vec![created_at.into(), id.into(), state.into(), limit.into()], row).await
    }

    /// Payments that are not decided, the oldest first.
    pub async fn list_open_payments(&self, limit: i64) -> Result<Vec<Payment>, DbError> {
        let sql = select!(
            "WHERE state IN ('verified', 'settling', 'settled', 'unknown') ORDER BY created_at, id LIMIT $1"
        );
        self.db.list(sql, vec![limit.into()], row).await
    }
}

/// Reserves a payment; fails when its key is known.
pub fn insert(payment: &Payment) -> Stmt {
    Stmt::new(
        concat!(
            "INSERT INTO payments (",
            columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, \
             $22, $23, $24, $25, $26, $27, $28, $29, $30, $31) ON CONFLICT (payment_key) DO NOTHING"
        ),
        args(payment),
    )
    .one(TAKEN)
}

/// Reserves one again that was refused; fails when it no longer is.
pub fn reserve_again(payment: &Payment) -> Stmt {
    Stmt::new(
        "UPDATE payments SET id = $1, payment_key = $2, item = $3, protocol = $4, generation = $5, network = $6, \
         asset = $7, payer = $8, pay_to = $9, amount = $10, payer_is_eoa = $11, sandbox = $12, request_hash = $13, \
         client = $14, once_hash = $15, state = $16, ask = $17, fee_payer = $18, draft = $19, bundle_id = $20, \
         site_id = $21, account_id = $22, tx_hash = $23, reason = $24, attempts = $25, held_until = $26, \
         valid_until = $27, created_at = $28, updated_at = $29, fulfilled_at = $30, delivered_at = $31 \
         WHERE payment_key = $2 AND id = $1 AND state = 'refused'",
        args(payment),
    )
    .one(TAKEN)
}

/// Moves a payment from what was seen to what it shall be: its state, hold, outcome and what it made. What was agreed
/// on never changes. The moment of the move does, so that it tells two holds of the same second apart.
pub fn update(before: &Payment, after: &Payment) -> Stmt {
    Stmt::new(
        "UPDATE payments SET state = $1, ask = $2, draft = $3, bundle_id = $4, site_id = $5, account_id = $6, \
         tx_hash = $7, reason = $8, attempts = $9, held_until = $10, updated_at = $11, fulfilled_at = $12, \
         delivered_at = $13 WHERE id = $14 AND state = $15 AND held_until = $16 AND attempts = $17",
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
            before.id.as_str().into(),
            before.state.as_str().into(),
            before.held_until.into(),
            before.attempts.into(),
        ],
    )
    .one(MOVED)
}

/// Of what holds for good an account pays once: fails while another payment for it is not decided, or when it is there.
/// The account's row is held first, so that of two at once the second sees the first.
pub fn only_one(account_id: &str, item: Item, id: &str) -> [Stmt; 2] {
    let hold = Stmt::new(
        "UPDATE accounts SET active_pages = active_pages WHERE id = $1 AND permanent_since IS NULL",
        vec![account_id.into()],
    );
    let alone = Stmt::new(
        "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM payments WHERE account_id = $1 AND item = $2 AND id <> $3 \
         AND state IN ('verified', 'settling', 'settled', 'unknown'))",
        vec![account_id.into(), item.as_str().into(), id.into()],
    );
    [hold.one(BOUGHT), alone.one(BOUGHT)]
}

/// Ends every hold: whoever held them is gone. Those whose outcome is not known keep their pauses.
pub fn let_go(now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET held_until = $1 WHERE state IN ('verified', 'settling', 'settled') AND held_until > $1",
        vec![now.into()],
    )
}

/// Ends the pauses of payments whose outcome is not known: there is somebody to ask now.
pub fn wake_unknown(now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET held_until = $1 WHERE state = 'unknown' AND sandbox = 0 AND held_until > $1",
        vec![now.into()],
    )
}

/// Fails while `most` payments are unknown.
pub fn not_crowded(most: i64) -> Stmt {
    Stmt::new(
        "SELECT 1 WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE state = 'unknown' LIMIT $1) AS open) < $1",
        vec![most.into()],
    )
    .one(CROWDED)
}

/// Gives the content back that waited for a settlement; if nothing else shows it, it is for the sweep.
pub fn release_bundle(bundle_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE bundles SET refs = refs - 1, touched_at = $1 WHERE id = $2 AND refs > 0",
        vec![now.into(), bundle_id.into()],
    )
}

/// Notes that somebody was told what was bought, if nobody was before.
pub fn deliver(id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET delivered_at = $1 WHERE id = $2 AND delivered_at IS NULL",
        vec![now.into(), id.into()],
    )
}

/// Erases drafts that are not shown again: of pages and of keys that were told up to a moment, and of what was fulfilled
/// up to another and never told.
pub fn erase_drafts(pages_told_to: i64, keys_told_to: i64, fulfilled_to: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET draft = NULL WHERE draft IS NOT NULL AND fulfilled_at IS NOT NULL \
         AND (delivered_at <= $1 OR (item = 'provision' AND delivered_at <= $2) \
         OR (delivered_at IS NULL AND fulfilled_at <= $3))",
        vec![pages_told_to.into(), keys_told_to.into(), fulfilled_to.into()],
    )
}

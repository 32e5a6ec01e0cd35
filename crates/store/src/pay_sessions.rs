//! SQL for `pay_sessions`. The states move by guarded statements; the one that completes a session belongs to the transaction
//! that fulfils its payment.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::pay_session::{Feature, PaySession, PaySessionState};

/// The session is not in the state that was expected, or has another form.
pub const MOVED: &str = "pay_session_moved";

columns! {
    PaySessionColumns, pay_session_columns:
    id, code_hash, slug_hash, feature, amount_minor, price_minor, sandbox, account_id, state, checkout_id, payment_id,
    created_at, expires_at, checked_at,
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", pay_session_columns!(), " FROM pay_sessions ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<PaySession, DbError> {
    const COLUMN: PaySessionColumns = PaySessionColumns::starting_at(0);
    let strange = |what: &str| DbError::internal(format!("pay session row has an unknown {what}"));
    Ok(PaySession {
        id: row.string(COLUMN.id)?,
        code_hash: row.hash(COLUMN.code_hash)?,
        slug_hash: row.hash(COLUMN.slug_hash)?,
        feature: Feature::parse(row.text(COLUMN.feature)?).ok_or_else(|| strange("feature"))?,
        amount_minor: row.int(COLUMN.amount_minor)?,
        price_minor: row.int(COLUMN.price_minor)?,
        sandbox: row.flag(COLUMN.sandbox)?,
        account_id: row.opt_string(COLUMN.account_id)?,
        state: PaySessionState::parse(row.text(COLUMN.state)?).ok_or_else(|| strange("state"))?,
        checkout_id: row.opt_string(COLUMN.checkout_id)?,
        payment_id: row.opt_string(COLUMN.payment_id)?,
        created_at: row.int(COLUMN.created_at)?,
        expires_at: row.int(COLUMN.expires_at)?,
        checked_at: row.int(COLUMN.checked_at)?,
    })
}

impl Store {
    pub async fn find_pay_session(&self, id: &str) -> Result<Option<PaySession>, DbError> {
        self.db.get(select!("WHERE id = $1"), &[id.into()], row).await
    }

    pub async fn find_pay_session_by_code(&self, code_hash: [u8; 32]) -> Result<Option<PaySession>, DbError> {
        self.db.get(select!("WHERE code_hash = $1"), &[code_hash.into()], row).await
    }

    pub async fn find_pay_session_by_slug(&self, slug_hash: [u8; 32]) -> Result<Option<PaySession>, DbError> {
        self.db.get(select!("WHERE slug_hash = $1"), &[slug_hash.into()], row).await
    }

    /// Sessions with a form that is not decided and that ended after `ended_after`, last asked about before `checked_before`,
    /// those first that wait longest.
    pub async fn list_undecided_pay_sessions(
        &self,
        sandbox: bool,
        checked_before: i64,
        ended_after: i64,
        limit: i64,
    ) -> Result<Vec<PaySession>, DbError> {
        let sql = select!(
            "WHERE checkout_id IS NOT NULL AND state IN ('pending', 'processing') AND checked_at < $1 AND sandbox = $2 \
             AND expires_at > $3 ORDER BY checked_at LIMIT $4"
        );
        self.db
            .list(sql, vec![checked_before.into(), sandbox.into(), ended_after.into(), limit.into()], row)
            .await
    }
}

pub fn insert(session: &PaySession) -> Stmt {
    Stmt::new(
        concat!(
            "INSERT INTO pay_sessions (",
            pay_session_columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
        ),
        vec![
            session.id.as_str().into(),
            session.code_hash.into(),
            session.slug_hash.into(),
            session.feature.as_str().into(),
            session.amount_minor.into(),
            session.price_minor.into(),
            session.sandbox.into(),
            session.account_id.as_deref().into(),
            session.state.as_str().into(),
            session.checkout_id.as_deref().into(),
            session.payment_id.as_deref().into(),
            session.created_at.into(),
            session.expires_at.into(),
            session.checked_at.into(),
        ],
    )
}

/// Records the processor's form; fails if the session has another one.
pub fn set_checkout(id: &str, checkout_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE pay_sessions SET checkout_id = $1, checked_at = $2 \
         WHERE id = $3 AND (checkout_id IS NULL OR checkout_id = $1)",
        vec![checkout_id.into(), now.into(), id.into()],
    )
    .one(MOVED)
}

/// Takes the turn to ask the processor; fails if another request took it since the session was read.
pub fn take_check(session: &PaySession, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE pay_sessions SET checked_at = $1 WHERE id = $2 AND checked_at = $3",
        vec![now.into(), session.id.as_str().into(), session.checked_at.into()],
    )
    .one(MOVED)
}

/// Sets the state, unless the session is completed: received money is never taken back by a later report.
pub fn set_state(id: &str, state: PaySessionState) -> Stmt {
    Stmt::new(
        "UPDATE pay_sessions SET state = $1 WHERE id = $2 AND state <> 'completed'",
        vec![state.as_str().into(), id.into()],
    )
}

/// Connects the session with the payment that was recorded for it.
pub fn set_payment(id: &str, payment_id: &str) -> Stmt {
    Stmt::new("UPDATE pay_sessions SET payment_id = $1 WHERE id = $2", vec![payment_id.into(), id.into()])
        .one(MOVED)
}

/// Connects the session with a payment that an operator has to decide on, unless it has one.
pub fn set_doubtful_payment(id: &str, payment_id: &str) -> Stmt {
    Stmt::new(
        "UPDATE pay_sessions SET payment_id = $1 WHERE id = $2 AND payment_id IS NULL",
        vec![payment_id.into(), id.into()],
    )
}

/// Fails the session of a payment that went back before anything was delivered, if it has one.
pub fn fail(payment_id: &str) -> Stmt {
    Stmt::new(
        "UPDATE pay_sessions SET state = 'failed' WHERE payment_id = $1 AND state <> 'completed'",
        vec![payment_id.into()],
    )
}

/// Completes the session of a payment, if it has one.
pub fn complete(payment_id: &str) -> Stmt {
    Stmt::new("UPDATE pay_sessions SET state = 'completed' WHERE payment_id = $1", vec![payment_id.into()])
}

/// Deletes sessions that no one began to pay and that ended before this time, a limited number at once.
pub fn delete_unpaid(ended_before: i64, limit: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM pay_sessions WHERE id IN (SELECT id FROM pay_sessions WHERE expires_at < $1 \
         AND checkout_id IS NULL ORDER BY expires_at LIMIT $2)",
        vec![ended_before.into(), limit.into()],
    )
}

/// Deletes sessions that ended before this time, a limited number at once; not those whose money may still arrive.
pub fn delete_ended(ended_before: i64, limit: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM pay_sessions WHERE id IN (SELECT id FROM pay_sessions WHERE expires_at < $1 \
         AND state <> 'processing' ORDER BY expires_at LIMIT $2)",
        vec![ended_before.into(), limit.into()],
    )
}

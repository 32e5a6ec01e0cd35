//! SQL for payments by card: finding them by the processor's id, delivering a key exactly once, and what went back to the
//! cardholder. Everything else about them is in `payments`.

use crate::db::{DbError, Stmt};
use crate::store::Store;
use dropleaf_core::payment::Payment;

/// The network of payments by card.
pub const NETWORK: &str = "stripe";
/// The key was delivered before.
pub const DELIVERED: &str = "key_delivered";
/// Another refund or dispute was recorded in between.
pub const REVERSED: &str = "payment_reversed";

impl Store {
    /// The card payment with this payment intent. One that does not match its session comes last.
    pub async fn find_payment_by_intent(&self, intent: &str) -> Result<Option<Payment>, DbError> {
        let sql = "SELECT id FROM payments WHERE tx_hash = $1 AND network = 'stripe' \
                   ORDER BY CASE WHEN state IN ('fulfilled', 'settled', 'refunded') THEN 0 ELSE 1 END, id LIMIT 1";
        match self.db.get(sql, &[intent.into()], |row| row.string(0)).await? {
            Some(id) => self.find_payment(&id).await,
            None => Ok(None),
        }
    }

    /// Whether this response took the key of the payment.
    pub async fn is_key_taken_by(&self, id: &str, by: &str) -> Result<bool, DbError> {
        let sql = "SELECT 1 FROM payments WHERE id = $1 AND delivered_by = $2";
        Ok(self.db.get(sql, &[id.into(), by.into()], |row| row.int(0)).await?.is_some())
    }
}

/// Takes the key of a new account: the first response may show it, every other fails with [`DELIVERED`]. `by` is an ID of the
/// response. The draft is erased later, with those of other delivered keys.
pub fn take_key(id: &str, by: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET delivered_at = $1, delivered_by = $2 WHERE id = $3 AND item = 'provision' \
         AND state = 'fulfilled' AND delivered_at IS NULL AND draft IS NOT NULL",
        vec![now.into(), by.into(), id.into()],
    )
    .one(DELIVERED)
}

/// Locks the payment until the end of the batch, so that what decides on its refunds and disputes happens one after the other.
pub fn lock(id: &str) -> Stmt {
    Stmt::new("UPDATE payments SET updated_at = updated_at WHERE id = $1", vec![id.into()])
}

/// Sets what went back, if it is still as `before`.
pub fn set_reversed(before: &Payment, after: &Payment, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE payments SET refunded_minor = $1, disputed_minor = $2, updated_at = $3 \
         WHERE id = $4 AND refunded_minor = $5 AND disputed_minor = $6 AND state = 'fulfilled'",
        vec![
            after.refunded_minor.into(),
            after.disputed_minor.into(),
            now.into(),
            before.id.as_str().into(),
            before.refunded_minor.into(),
            before.disputed_minor.into(),
        ],
    )
    .one(REVERSED)
}

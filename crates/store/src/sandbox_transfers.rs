//! Rows of `sandbox_transfers`: what the sandbox settled, each key once.

use crate::db::{DbError, Stmt};
use crate::store::Store;

#[derive(Debug, Clone)]
pub struct SandboxTransfer {
    pub payment_key: String,
    pub network: String,
    pub asset: String,
    pub sender: String,
    pub recipient: String,
    pub amount: i64,
    pub transaction: String,
    pub created_at: i64,
}

impl Store {
    /// The transaction that a key was settled by.
    pub async fn find_sandbox_transfer(&self, payment_key: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT tx_hash FROM sandbox_transfers WHERE payment_key = $1";
        self.db.get(sql, &[payment_key.into()], |row| Ok(row.text(0)?.to_owned())).await
    }
}

/// Settles. A key that is settled stays as it is: the same key is the same transfer.
pub fn insert(transfer: &SandboxTransfer) -> Stmt {
    Stmt::new(
        "INSERT INTO sandbox_transfers (payment_key, network, asset, sender, recipient, amount, tx_hash, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (payment_key) DO NOTHING",
        vec![
            transfer.payment_key.as_str().into(),
            transfer.network.as_str().into(),
            transfer.asset.as_str().into(),
            transfer.sender.as_str().into(),
            transfer.recipient.as_str().into(),
            transfer.amount.into(),
            transfer.transaction.as_str().into(),
            transfer.created_at.into(),
        ],
    )
}

//! SQL for `sandbox_transfers`: what the sandbox settled, one row per payment key.

use crate::db::{DbError, Stmt};
use crate::store::Store;

#[derive(Debug, Clone, PartialEq, Eq)]
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

impl SandboxTransfer {
    /// Whether both are the same transfer, apart from their time.
    pub fn is_same(&self, other: &Self) -> bool {
        *self == Self { created_at: self.created_at, ..other.clone() }
    }
}

impl Store {
    /// The transfer that settled this key.
    pub async fn find_sandbox_transfer(&self, payment_key: &str) -> Result<Option<SandboxTransfer>, DbError> {
        let sql = "SELECT payment_key, network, asset, sender, recipient, amount, tx_hash, created_at \
                   FROM sandbox_transfers WHERE payment_key = $1";
        self.db
            .get(sql, &[payment_key.into()], |row| {
                Ok(SandboxTransfer {
                    payment_key: row.text(0)?.to_owned(),
                    network: row.text(1)?.to_owned(),
                    asset: row.text(2)?.to_owned(),
                    sender: row.text(3)?.to_owned(),
                    recipient: row.text(4)?.to_owned(),
                    amount: row.int(5)?,
                    transaction: row.text(6)?.to_owned(),
                    created_at: row.int(7)?,
                })
            })
            .await
    }
}

/// Settles a transfer. A settled key stays as it is: the same key is the same transfer.
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

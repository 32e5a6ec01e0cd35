//! SQL for `sandbox_transfers`: what the sandbox settled, one row per payment key.

use crate::db::{DbError, Row, Stmt, columns};
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

columns! {
    TransferColumns, transfer_columns:
    payment_key, network, asset, sender, recipient, amount, tx_hash, created_at,
}

fn row(row: &Row<'_>) -> Result<SandboxTransfer, DbError> {
    const COLUMN: TransferColumns = TransferColumns::starting_at(0);
    Ok(SandboxTransfer {
        payment_key: row.string(COLUMN.payment_key)?,
        network: row.string(COLUMN.network)?,
        asset: row.string(COLUMN.asset)?,
        sender: row.string(COLUMN.sender)?,
        recipient: row.string(COLUMN.recipient)?,
        amount: row.int(COLUMN.amount)?,
        transaction: row.string(COLUMN.tx_hash)?,
        created_at: row.int(COLUMN.created_at)?,
    })
}

impl Store {
    /// The transfer that settled this key.
    pub async fn find_sandbox_transfer(&self, payment_key: &str) -> Result<Option<SandboxTransfer>, DbError> {
        let sql = concat!("SELECT ", transfer_columns!(), " FROM sandbox_transfers WHERE payment_key = $1");
        self.db.get(sql, &[payment_key.into()], row).await
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

//! Maintenance queries on `payments`: which transaction settled which payment, counts of open payments, and deletion of
//! refused ones.

use crate::db::{DbError, Stmt};
use crate::store::Store;

impl Store {
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

impl Store {
    /// How many payments are undecided; counting stops at `most`.
    pub async fn count_open_payments(&self, most: i64) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM payments \
                   WHERE state IN ('verified', 'settling', 'settled', 'unknown') LIMIT $1) AS open";
        Ok(self.db.list(sql, vec![most.into()], |row| row.int(0)).await?.pop().unwrap_or_default())
    }

    /// How many payments are `unknown`, counted as in [`crate::payments::require_few_unknown`]; counting stops at `most`.
    pub async fn count_unknown_payments(&self, most: i64) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE state = 'unknown' LIMIT $1) AS open";
        Ok(self.db.list(sql, vec![most.into()], |row| row.int(0)).await?.pop().unwrap_or_default())
    }
}

/// Deletes refused payments whose authorisation expired before this time, so that no one can settle them any more.
pub fn delete_refused(valid_until: i64) -> Stmt {
    Stmt::new("DELETE FROM payments WHERE state = 'refused' AND valid_until < $1", vec![valid_until.into()])
}

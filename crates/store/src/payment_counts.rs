//! Counts payments: settled ones for the public service record, undecided ones for operators.

use crate::db::DbError;
use crate::store::Store;
use dropleaf_core::payment::{SettledCount, Settlements};

impl Store {
    /// Payments whose money moved, either in the sandbox or outside it.
    pub async fn count_settlements(&self, sandbox: bool) -> Result<Settlements, DbError> {
        let sql = "SELECT network, item, COUNT(*) FROM payments \
                   WHERE state IN ('settled', 'fulfilled') AND sandbox = $1 \
                   GROUP BY network, item ORDER BY network, item";
        let rows = self.db.list(sql, vec![sandbox.into()], |row| {
            Ok(SettledCount { network: row.string(0)?, item: row.string(1)?, count: row.int(2)? })
        });
        rows.await.map(Settlements)
    }

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

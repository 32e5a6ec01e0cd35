//! Counts settled payments, for the public service record.

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
}

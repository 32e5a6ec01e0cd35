//! Counts settled payments, for the public service record.

use crate::db::DbError;
use crate::store::Store;

/// Settled payments for one item on one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledCount {
    pub network: String,
    pub item: String,
    pub count: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settlements(pub Vec<SettledCount>);

impl Settlements {
    pub fn total(&self) -> i64 {
        self.0.iter().map(|one| one.count).sum()
    }
}

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

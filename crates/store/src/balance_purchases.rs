//! Lists purchases from prepaid balances, for the operator. They are transactions of the ledger; `ledger` writes them.

use crate::db::{DbError, Row, Val};
use crate::store::Store;
use dropleaf_core::balance_purchase::PurchaseFromBalance;
use dropleaf_core::ledger::Unit;
use dropleaf_core::payment::Item;
use dropleaf_core::revenue::item_of;

/// The purchases in the transactions of a subquery, one row for each unit, newest first.
macro_rules! select {
    ($txns:literal) => {
        concat!(
            "SELECT t.id, t.created_at, r.account_id, a.unit, CAST(-SUM(r.amount) AS BIGINT), \
             (SELECT MIN(p.account_id) FROM ledger_entries p WHERE p.txn_id = t.id AND p.account_id LIKE 'prepaid:%') \
             FROM (",
            $txns,
            ") AS t JOIN ledger_entries r ON r.txn_id = t.id JOIN ledger_accounts a ON a.id = r.account_id \
             WHERE a.kind = 'revenue' GROUP BY t.id, t.created_at, r.account_id, a.unit \
             ORDER BY t.created_at DESC, t.id DESC, a.unit"
        )
    };
}

fn purchase(row: &Row<'_>) -> Result<PurchaseFromBalance, DbError> {
    let broken = |what: &str| DbError::internal(format!("purchase from a balance has an unknown {what}"));
    let unit = Unit::parse(row.text(3)?).ok_or_else(|| broken("unit"))?;
    // `prepaid:{account}` or `prepaid:sandbox:{account}`
    let payer = row.opt_text(5)?.and_then(|book| book.rsplit(':').next());
    Ok(PurchaseFromBalance {
        id: row.string(0)?,
        account_id: payer.ok_or_else(|| broken("account"))?.to_owned(),
        item: Item::parse(item_of(row.text(2)?)).ok_or_else(|| broken("item"))?,
        amount_minor: row.int(4)?,
        sandbox: unit.is_sandbox(),
        created_at: row.int(1)?,
    })
}

impl Store {
    /// The newest purchases from balances.
    pub async fn list_balance_purchases(&self, limit: i64) -> Result<Vec<PurchaseFromBalance>, DbError> {
        let sql = select!(
            "SELECT id, created_at FROM ledger_txns WHERE kind = 'spend' ORDER BY created_at DESC, id DESC LIMIT $1"
        );
        self.db.list(sql, vec![limit.into()], purchase).await
    }

    pub async fn find_balance_purchase(&self, id: &str) -> Result<Option<PurchaseFromBalance>, DbError> {
        let sql = select!("SELECT id, created_at FROM ledger_txns WHERE kind = 'spend' AND id = $1");
        let args: Vec<Val> = vec![id.into()];
        Ok(self.db.list(sql, args, purchase).await?.into_iter().next())
    }
}

//! Sums the revenue accounts of the ledger for the revenue report. Reads the ledger and not the payments, so the report agrees
//! with the ledger audit.

use crate::db::{DbError, Row};
use crate::store::Store;
use dropleaf_core::ledger::Unit;
use dropleaf_core::month::Month;
use dropleaf_core::revenue::{RevenueLine, item_of};

fn line(row: &Row<'_>) -> Result<RevenueLine, DbError> {
    let unit = Unit::parse(row.text(3)?);
    let unit = unit.ok_or_else(|| DbError::internal("ledger row has an unknown unit"))?;
    Ok(RevenueLine {
        month: Month::of(row.int(0)?),
        rail: row.string(1)?,
        item: item_of(row.text(2)?).to_owned(),
        unit,
        sandbox: unit.is_sandbox() || row.flag(4)?,
        payments: row.int(5)?,
        gross: row.int(6)?,
        returned: row.int(7)?,
    })
}

impl Store {
    /// The revenue of one month by rail and product, at most `limit` lines.
    ///
    /// Revenue is credited, and credits are negative. Credits of the kinds `income` and `spend` are sales. Every other entry was
    /// returned to a payer or, as a credit, came back from one, whatever its kind. It counts in the month it was posted in.
    pub async fn list_revenue(&self, month: Month, limit: i64) -> Result<Vec<RevenueLine>, DbError> {
        let sql = "SELECT CAST($1 AS BIGINT), rail, account_id, unit, sandbox, \
                   COUNT(DISTINCT CASE WHEN is_sale = 1 THEN txn_id END), \
                   CAST(SUM(CASE WHEN is_sale = 1 THEN -amount ELSE 0 END) AS BIGINT), \
                   CAST(SUM(CASE WHEN is_sale = 1 THEN 0 ELSE amount END) AS BIGINT) \
                   FROM (SELECT e.txn_id, e.account_id, e.amount, a.unit, COALESCE(p.sandbox, 0) AS sandbox, \
                   CASE WHEN t.kind = 'spend' THEN 'balance' WHEN p.id IS NOT NULL THEN p.protocol \
                   WHEN t.payment_id IS NULL AND t.kind <> 'income' THEN 'balance' ELSE 'unknown' END AS rail, \
                   CASE WHEN t.kind IN ('income', 'spend') AND e.amount < 0 THEN 1 ELSE 0 END AS is_sale \
                   FROM ledger_txns t JOIN ledger_entries e ON e.txn_id = t.id \
                   JOIN ledger_accounts a ON a.id = e.account_id LEFT JOIN payments p ON p.id = t.payment_id \
                   WHERE t.created_at >= $1 AND t.created_at < $2 AND a.kind = 'revenue') AS entries \
                   GROUP BY rail, account_id, unit, sandbox ORDER BY rail, account_id, unit, sandbox LIMIT $3";
        let args = vec![month.start().into(), month.plus(1).start().into(), limit.into()];
        self.db.list(sql, args, line).await
    }
}

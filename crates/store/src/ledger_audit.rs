//! Checks the ledger. Each check is one statement and so reads one snapshot, whatever is posted meanwhile: it never sees a
//! transaction half done.

use crate::db::{DbError, Row};
use crate::store::Store;

/// An inconsistency: what is wrong, the row it concerns, the number found and the right number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFault {
    pub what: &'static str,
    pub subject: String,
    pub found: i64,
    pub right: i64,
}

/// Pairs of a description and a query. Each row of the query is a fault: subject, found, right.
macro_rules! checks {
    ($($what:literal: $sql:literal;)*) => {
        const CHECKS: &[(&str, &str)] = &[$(($what, concat!($sql, " LIMIT 100")),)*];
    };
}

checks! {
    "entries of a transaction do not sum to zero":
        "SELECT e.txn_id, CAST(SUM(e.amount) AS BIGINT), 0 FROM ledger_entries e \
         LEFT JOIN ledger_accounts a ON a.id = e.account_id GROUP BY e.txn_id, a.unit HAVING SUM(e.amount) <> 0";
    "transaction has fewer than two entries":
        "SELECT t.id, COUNT(e.txn_id), 2 FROM ledger_txns t LEFT JOIN ledger_entries e ON e.txn_id = t.id \
         GROUP BY t.id HAVING COUNT(e.txn_id) < 2";
    "entry belongs to no transaction or no account":
        "SELECT e.txn_id, e.amount, 0 FROM ledger_entries e LEFT JOIN ledger_txns t ON t.id = e.txn_id \
         LEFT JOIN ledger_accounts a ON a.id = e.account_id WHERE t.id IS NULL OR a.id IS NULL";
    "balance is not the sum of its entries":
        "SELECT a.id, a.balance, COALESCE(s.total, 0) FROM ledger_accounts a LEFT JOIN \
         (SELECT account_id, CAST(SUM(amount) AS BIGINT) AS total FROM ledger_entries GROUP BY account_id) s \
         ON s.account_id = a.id WHERE a.balance <> COALESCE(s.total, 0)";
    "balances of a unit do not sum to zero":
        "SELECT unit, CAST(SUM(balance) AS BIGINT), 0 FROM ledger_accounts GROUP BY unit HAVING SUM(balance) <> 0";
    "more was spent than was available":
        "SELECT id, balance, 0 FROM ledger_accounts WHERE kind = 'liability' AND balance > 0";
    "account balance does not match the ledger":
        "SELECT c.id, c.balance_minor, COALESCE(-a.balance, 0) FROM accounts c \
         LEFT JOIN ledger_accounts a ON a.id = 'prepaid:' || c.id WHERE c.balance_minor <> COALESCE(-a.balance, 0)";
    "sandbox balance of an account does not match the ledger":
        "SELECT c.id, c.sandbox_balance_minor, COALESCE(-a.balance, 0) FROM accounts c \
         LEFT JOIN ledger_accounts a ON a.id = 'prepaid:sandbox:' || c.id \
         WHERE c.sandbox_balance_minor <> COALESCE(-a.balance, 0)";
    "ledger balance belongs to no account":
        "SELECT a.id, a.balance, 0 FROM ledger_accounts a LEFT JOIN accounts c \
         ON c.id = REPLACE(REPLACE(a.id, 'prepaid:sandbox:', ''), 'prepaid:', '') \
         WHERE a.kind = 'liability' AND a.balance <> 0 AND c.id IS NULL";
    "fulfilled payment is missing from the ledger":
        "SELECT p.id, 0, p.amount FROM payments p LEFT JOIN ledger_txns t ON t.idem_key = p.protocol || ':' || p.payment_key \
         AND t.payment_id = p.id AND t.kind = 'income' WHERE p.state = 'fulfilled' AND t.id IS NULL";
    "ledger income has no fulfilled payment":
        "SELECT t.id, 1, 0 FROM ledger_txns t LEFT JOIN payments p ON p.id = t.payment_id AND p.state = 'fulfilled' \
         AND t.idem_key = p.protocol || ':' || p.payment_key WHERE t.kind = 'income' AND p.id IS NULL";
    "ledger income does not match the amount of its payment":
        "SELECT p.id, e.amount, p.amount FROM ledger_txns t JOIN payments p ON p.id = t.payment_id \
         JOIN ledger_entries e ON e.txn_id = t.id AND e.amount > 0 WHERE t.kind = 'income' AND e.amount <> p.amount";
    "ledger refunds and disputes do not match those of the payment":
        "SELECT p.id, COALESCE(r.total, 0), p.reversed FROM \
         (SELECT id, CASE WHEN refunded_minor + disputed_minor < amount THEN refunded_minor + disputed_minor ELSE amount END \
         AS reversed FROM payments WHERE state = 'fulfilled') p LEFT JOIN \
         (SELECT t.payment_id, CAST(-SUM(e.amount) AS BIGINT) AS total FROM ledger_txns t \
         JOIN ledger_entries e ON e.txn_id = t.id AND e.account_id LIKE 'asset:%' AND e.account_id NOT LIKE 'asset:owed:%' \
         WHERE t.kind IN ('refund', 'dispute', 'reinstatement') GROUP BY t.payment_id) r ON r.payment_id = p.id \
         WHERE p.reversed <> COALESCE(r.total, 0)";
}

fn fault(row: &Row<'_>) -> Result<(String, i64, i64), DbError> {
    Ok((row.string(0)?, row.int(1)?, row.int(2)?))
}

impl Store {
    /// Every inconsistency, at most a hundred of each kind. Reads every row of the ledger once or twice.
    pub async fn audit_ledger(&self) -> Result<Vec<LedgerFault>, DbError> {
        let mut faults = Vec::new();
        for (what, sql) in CHECKS {
            let found = self.db.list(sql, Vec::new(), fault).await?;
            faults.extend(found.into_iter().map(|(subject, found, right)| LedgerFault {
                what,
                subject,
                found,
                right,
            }));
        }
        Ok(faults)
    }

    pub async fn count_ledger_transactions(&self) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM ledger_txns";
        Ok(self.db.list(sql, Vec::new(), |row| row.int(0)).await?.pop().unwrap_or_default())
    }
}

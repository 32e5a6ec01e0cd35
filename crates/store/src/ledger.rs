//! SQL for `ledger_txns`, `ledger_entries` and `ledger_accounts`: append-only, which the databases enforce too. A balance is
//! the sum of its entries, updated in the transaction that adds them.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::account::Account;
use dropleaf_core::ledger::{Book, Cause, Entry, Kind, Posting, Unit};
use dropleaf_core::payment::Item;

/// The key was posted before; [`Store::find_posted`] tells whether with the same content.
pub const POSTED: &str = "ledger_posted";
/// The account would spend more than its balance.
pub const OVERDRAWN: &str = "ledger_overdrawn";

/// The balance changed while a purchase was prepared.
pub const MOVED: &str = "ledger_moved";

/// An amount that cannot be posted.
pub const UNSOUND: &str = "ledger_unsound";

/// A ledger account with its balance and its movements since two points in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookLine {
    pub id: String,
    pub unit: Unit,
    pub kind: Kind,
    pub balance: i64,
    /// Movements since the first time, and since the second.
    pub since: [i64; 2],
}

/// A movement of an account's balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    pub id: String,
    pub created_at: i64,
    pub cause: Cause,
    /// In cents; negative if the balance became smaller.
    pub amount_minor: i64,
    pub payment_id: Option<String>,
    pub note: Option<String>,
    /// What was bought or refunded; `None` if only the balance is concerned.
    pub item: Option<Item>,
}

fn movement(row: &Row<'_>) -> Result<Movement, DbError> {
    let cause =
        Cause::parse(row.text(2)?).ok_or_else(|| DbError::internal("ledger row has an unknown cause"))?;
    // `revenue:{item}:{unit}`
    let item = row.opt_text(6)?.and_then(|book| book.split(':').nth(1)).and_then(Item::parse);
    Ok(Movement {
        id: row.string(0)?,
        created_at: row.int(1)?,
        cause,
        amount_minor: row.int(3)?,
        payment_id: row.opt_string(4)?,
        note: row.opt_string(5)?,
        item,
    })
}

fn line(row: &Row<'_>) -> Result<BookLine, DbError> {
    let broken = |what: &str| DbError::internal(format!("ledger row has an unknown {what}"));
    Ok(BookLine {
        id: row.string(LINE.id)?,
        unit: Unit::parse(row.text(LINE.unit)?).ok_or_else(|| broken("unit"))?,
        kind: Kind::parse(row.text(LINE.kind)?).ok_or_else(|| broken("kind"))?,
        balance: row.int(LINE.balance)?,
        since: [row.int(LINE.late)?, row.int(LINE.early)?],
    })
}

crate::db::columns! {
    LineColumns, line_columns, "a.":
    id, unit, kind, balance, late = "COALESCE(m.late, 0)", early = "COALESCE(m.early, 0)",
}

const LINE: LineColumns = LineColumns::starting_at(0);

impl Store {
    /// The fingerprint of what was posted under this key.
    pub async fn find_posted(&self, key: &str) -> Result<Option<[u8; 32]>, DbError> {
        let sql = "SELECT fingerprint FROM ledger_txns WHERE idem_key = $1";
        self.db.get(sql, &[key.into()], |row| row.hash(0)).await
    }

    /// Every ledger account except customers' balances. `later` must not be before `earlier`.
    pub async fn list_books(&self, later: i64, earlier: i64) -> Result<Vec<BookLine>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    line_columns!(),
                    " FROM ledger_accounts a LEFT JOIN (SELECT e.account_id, \
                     CAST(SUM(CASE WHEN t.created_at >= $1 THEN e.amount ELSE 0 END) AS BIGINT) AS late, \
                     CAST(SUM(e.amount) AS BIGINT) AS early FROM ledger_txns t JOIN ledger_entries e ON e.txn_id = t.id \
                     WHERE t.created_at >= $2 GROUP BY e.account_id) m ON m.account_id = a.id \
                     WHERE a.kind <> 'liability' ORDER BY a.id"
                ),
                vec![later.into(), earlier.into()],
                line,
            )
            .await
    }

    /// The sum of all customers' balances in one unit, in cents.
    pub async fn sum_prepaid(&self, unit: Unit) -> Result<i64, DbError> {
        let sql = "SELECT CAST(COALESCE(-SUM(balance), 0) AS BIGINT) FROM ledger_accounts \
                   WHERE kind = 'liability' AND unit = $1";
        Ok(self.db.list(sql, vec![unit.as_str().into()], |row| row.int(0)).await?.pop().unwrap_or_default())
    }

    /// How often refunds of a payment were posted.
    pub async fn count_refund_postings(&self, payment_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM ledger_txns WHERE payment_id = $1 AND kind = 'refund'";
        Ok(self.db.get(sql, &[payment_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// What an account owes for a payment that went back after it had spent the credit.
    pub async fn sum_owed(&self, payment_id: &str, book: &Book) -> Result<i64, DbError> {
        let sql = "SELECT CAST(COALESCE(SUM(e.amount), 0) AS BIGINT) FROM ledger_entries e JOIN ledger_txns t ON t.id = e.txn_id \
                   WHERE e.account_id = $1 AND t.payment_id = $2";
        let args = [book.id.as_str().into(), payment_id.into()];
        Ok(self.db.get(sql, &args, |row| row.int(0)).await?.unwrap_or_default())
    }

    /// The movements of a customer's balance before `before`, newest first.
    pub async fn list_movements(
        &self,
        book: &Book,
        before: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Movement>, DbError> {
        let (created_at, id) = before.unwrap_or((i64::MAX, String::new()));
        let sql = "SELECT t.id, t.created_at, t.kind, CAST(-SUM(e.amount) AS BIGINT), t.payment_id, t.note, \
                   MIN(r.account_id) FROM ledger_entries e JOIN ledger_txns t ON t.id = e.txn_id \
                   LEFT JOIN ledger_entries r ON r.txn_id = t.id AND r.account_id LIKE 'revenue:%' AND r.position = \
                   (SELECT MIN(f.position) FROM ledger_entries f WHERE f.txn_id = t.id AND f.account_id LIKE 'revenue:%') \
                   WHERE e.account_id = $1 AND (t.created_at, t.id) < ($2, $3) \
                   GROUP BY t.id, t.created_at, t.kind, t.payment_id, t.note ORDER BY t.created_at DESC, t.id DESC LIMIT $4";
        let args = vec![book.id.as_str().into(), created_at.into(), id.into(), limit.into()];
        self.db.list(sql, args, movement).await
    }
}

/// Statements that post a transaction, exactly once, and update the balances; all or nothing.
pub fn post(id: &str, posting: &Posting, now: i64) -> Vec<Stmt> {
    let head = Stmt::new(
        "INSERT INTO ledger_txns (id, idem_key, fingerprint, kind, payment_id, note, created_at) \
         SELECT $1, $2, $3, $4, $5, $6, CAST($7 AS BIGINT) \
         WHERE NOT EXISTS (SELECT 1 FROM ledger_txns WHERE idem_key = $2) ON CONFLICT (idem_key) DO NOTHING",
        vec![
            id.into(),
            posting.key().into(),
            posting.fingerprint().into(),
            posting.cause().as_str().into(),
            posting.payment_id().into(),
            posting.note().into(),
            now.into(),
        ],
    )
    .one(POSTED);
    let lines = posting.entries().iter().zip(0..).flat_map(|(entry, position)| book(id, entry, position));
    std::iter::once(head).chain(lines).collect()
}

/// Fails a batch after whose postings the account's balances are not these: the response to a purchase states what is left.
/// Comes after the postings, which lock the row.
pub fn require_balance(account: &Account) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET balance_minor = balance_minor \
         WHERE id = $1 AND balance_minor = $2 AND sandbox_balance_minor = $3",
        vec![account.id.as_str().into(), account.balance_minor.into(), account.sandbox_balance_minor.into()],
    )
    .one(MOVED)
}

/// Fails a batch whose money cannot be posted.
pub fn refuse() -> Stmt {
    Stmt::new("UPDATE ledger_accounts SET balance = balance WHERE id = ''", []).one(UNSOUND)
}

fn book(txn_id: &str, entry: &Entry, position: i64) -> Vec<Stmt> {
    let Entry { book, amount } = entry;
    let mut stmts = vec![open(book), add(book, *amount)];
    stmts.extend(book.owner.as_deref().map(|account_id| show(account_id, book.unit, *amount)));
    stmts.push(Stmt::new(
        "INSERT INTO ledger_entries (txn_id, position, account_id, amount) VALUES ($1, $2, $3, $4)",
        vec![txn_id.into(), position.into(), book.id.as_str().into(), (*amount).into()],
    ));
    stmts
}

fn open(book: &Book) -> Stmt {
    Stmt::new(
        "INSERT INTO ledger_accounts (id, unit, kind, balance) VALUES ($1, $2, $3, 0) ON CONFLICT (id) DO NOTHING",
        vec![book.id.as_str().into(), book.unit.as_str().into(), book.kind.as_str().into()],
    )
}

fn add(book: &Book, amount: i64) -> Stmt {
    Stmt::new(
        "UPDATE ledger_accounts SET balance = balance + $1 WHERE id = $2 AND unit = $3 AND kind = $4 \
         AND (kind <> 'liability' OR balance + $1 <= 0)",
        vec![amount.into(), book.id.as_str().into(), book.unit.as_str().into(), book.kind.as_str().into()],
    )
    .one(OVERDRAWN)
}

/// Updates the balance that the customer sees. It has the opposite sign: what is owed to the customer is positive.
fn show(account_id: &str, unit: Unit, amount: i64) -> Stmt {
    let sql = if unit.is_sandbox() {
        "UPDATE accounts SET sandbox_balance_minor = sandbox_balance_minor - $1 \
         WHERE id = $2 AND sandbox_balance_minor - $1 >= 0"
    } else {
        "UPDATE accounts SET balance_minor = balance_minor - $1 WHERE id = $2 AND balance_minor - $1 >= 0"
    };
    Stmt::new(sql, vec![amount.into(), account_id.into()]).one(OVERDRAWN)
}

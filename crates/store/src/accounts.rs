//! SQL for `accounts`, including the counter of active pages that enforces plan limits.

use crate::db::{DbError, FenceKind, Row, Stmt, Val, columns};
use crate::store::Store;
use dropleaf_core::account::{Account, Suspension};
use dropleaf_core::unlock::{Sku, Unlocks};

/// The account has reached its plan's limit of active pages.
pub const PAGE_LIMIT: &str = "page_limit";
pub const EMAIL_TAKEN: &str = "email_taken";
pub const UNKNOWN: &str = "unknown_account";
/// The account belongs to an operator, or is already in the requested state.
pub const UNMOVED: &str = "account_unmoved";
/// The account is suspended.
pub const SUSPENDED: &str = "account_suspended";
/// The account's balance or unlocks changed between reading and writing it.
pub const CHANGED: &str = "account_changed";

columns! {
    AccountColumns, account_columns, "a.":
    id, email, plan, is_operator, balance_minor, sandbox_balance_minor, active_pages, created_at, permanent_since,
    higher_limits_until, custom_domain_until, suspended_at, suspended_reason,
}

pub(crate) use account_columns;

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", account_columns!(), " FROM accounts a ", $tail)
    };
}

pub(crate) fn row(row: &Row<'_>) -> Result<Account, DbError> {
    const COLUMN: AccountColumns = AccountColumns::starting_at(0);
    Ok(Account {
        id: row.string(COLUMN.id)?,
        email: row.opt_string(COLUMN.email)?,
        plan: row.string(COLUMN.plan)?,
        is_operator: row.flag(COLUMN.is_operator)?,
        balance_minor: row.int(COLUMN.balance_minor)?,
        sandbox_balance_minor: row.int(COLUMN.sandbox_balance_minor)?,
        active_pages: row.int(COLUMN.active_pages)?,
        created_at: row.int(COLUMN.created_at)?,
        unlocks: Unlocks {
            permanent_since: row.opt_int(COLUMN.permanent_since)?,
            higher_limits_until: row.opt_int(COLUMN.higher_limits_until)?,
            custom_domain_until: row.opt_int(COLUMN.custom_domain_until)?,
        },
        suspended: match row.opt_int(COLUMN.suspended_at)? {
            Some(since) => Some(Suspension {
                since,
                reason: row.opt_text(COLUMN.suspended_reason)?.unwrap_or_default().to_owned(),
            }),
            None => None,
        },
    })
}

impl Store {
    pub async fn find_account(&self, id: &str) -> Result<Option<Account>, DbError> {
        self.db.get(select!("WHERE id = $1"), &[id.into()], row).await
    }

    pub async fn find_account_by_email(&self, email: &str) -> Result<Option<Account>, DbError> {
        self.db.get(select!("WHERE email = $1"), &[email.into()], row).await
    }

    /// The oldest operator account, which is created at first start.
    pub async fn find_operator(&self) -> Result<Option<Account>, DbError> {
        self.db.get(select!("WHERE is_operator = 1 ORDER BY created_at, id LIMIT 1"), &[], row).await
    }

    /// Accounts whose email address contains this text, newest first, created before `before`.
    pub async fn search_accounts(
        &self,
        text: &str,
        before: Option<(i64, String)>,
        limit: i64,
    ) -> Result<Vec<Account>, DbError> {
        let (created_at, id) = before.unwrap_or((i64::MAX, String::new()));
        let plain = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let pattern = format!("%{plain}%");
        self.db
            .list(
                select!(
                    "WHERE (created_at, id) < ($1, $2) AND (CAST($3 AS TEXT) = '%%' OR email LIKE $3 ESCAPE '\\') \
                     ORDER BY created_at DESC, id DESC LIMIT $4"
                ),
                vec![created_at.into(), id.into(), pattern.into(), limit.into()],
                row,
            )
            .await
    }

    pub async fn list_accounts(&self) -> Result<Vec<Account>, DbError> {
        self.db.list(select!("ORDER BY created_at, id"), Vec::new(), row).await
    }
}

macro_rules! insert {
    ($row:literal) => {
        concat!(
            "INSERT INTO accounts (id, email, plan, is_operator, balance_minor, active_pages, created_at) ",
            $row,
            " ON CONFLICT (email) DO NOTHING"
        )
    };
}

/// The values of a new row, in the order of the columns.
fn new_row(account: &Account) -> Vec<Val> {
    vec![
        account.id.as_str().into(),
        account.email.as_deref().into(),
        account.plan.as_str().into(),
        account.is_operator.into(),
        account.balance_minor.into(),
        account.active_pages.into(),
        account.created_at.into(),
    ]
}

pub fn insert(account: &Account) -> Stmt {
    Stmt::new(insert!("VALUES ($1, $2, $3, $4, $5, $6, $7)"), new_row(account)).one(EMAIL_TAKEN)
}

/// Creates the operator account of a new installation, unless there is an operator already.
pub fn insert_first_operator(account: &Account) -> Stmt {
    let sql = insert!(
        "SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE is_operator = 1)"
    );
    Stmt::new(sql, new_row(account)).one(EMAIL_TAKEN)
}

pub fn set_plan(id: &str, plan: &str) -> Stmt {
    Stmt::new("UPDATE accounts SET plan = $1 WHERE id = $2", vec![plan.into(), id.into()]).one(UNKNOWN)
}

/// Counts one more active page, unless the cap is reached. No cap is bound as -1.
pub fn take_page(id: &str, cap: Option<i64>) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET active_pages = active_pages + $1 \
         WHERE id = $2 AND (CAST($3 AS BIGINT) < 0 OR active_pages + $1 <= $3)",
        vec![1_i64.into(), id.into(), cap.unwrap_or(-1).into()],
    )
    .amount(0)
    .one(PAGE_LIMIT)
}

/// Counts one active page fewer.
pub fn release_page(id: &str) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET active_pages = active_pages - 1 WHERE id = $1 AND active_pages > 0",
        vec![id.into()],
    )
}

/// Extends an unlock, whatever the account already has: a new period starts when the current one ends. Used after payment, so
/// only a missing account makes it fail.
pub fn unlock(id: &str, sku: Sku, now: i64) -> Stmt {
    let sql = match sku {
        Sku::MakePermanent => {
            "UPDATE accounts SET permanent_since = COALESCE(permanent_since, CAST($1 AS BIGINT) + CAST($2 AS BIGINT)) WHERE id = $3"
        }
        Sku::CustomDomain => {
            "UPDATE accounts SET custom_domain_until = \
             CASE WHEN custom_domain_until > $1 THEN custom_domain_until ELSE $1 END + CAST($2 AS BIGINT) WHERE id = $3"
        }
        Sku::HigherLimits => {
            "UPDATE accounts SET higher_limits_until = \
             CASE WHEN higher_limits_until > $1 THEN higher_limits_until ELSE $1 END + CAST($2 AS BIGINT) WHERE id = $3"
        }
    };
    // A permanent unlock has no period: it starts now.
    let seconds = sku.period_days().unwrap_or_default() * 86_400;
    Stmt::new(sql, vec![now.into(), seconds.into(), id.into()]).one(UNKNOWN)
}

/// Sets the account's unlocks, if its unlocks and balance are still those of `before`.
pub fn set_unlocks(before: &Account, unlocks: &Unlocks) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET permanent_since = $1, custom_domain_until = $2, higher_limits_until = $3 WHERE id = $4 \
         AND balance_minor = $5 AND COALESCE(permanent_since, -1) = $6 AND COALESCE(custom_domain_until, -1) = $7 \
         AND COALESCE(higher_limits_until, -1) = $8 AND sandbox_balance_minor = $9",
        vec![
            unlocks.permanent_since.into(),
            unlocks.custom_domain_until.into(),
            unlocks.higher_limits_until.into(),
            before.id.as_str().into(),
            before.balance_minor.into(),
            before.unlocks.permanent_since.unwrap_or(-1).into(),
            before.unlocks.custom_domain_until.unwrap_or(-1).into(),
            before.unlocks.higher_limits_until.unwrap_or(-1).into(),
            before.sandbox_balance_minor.into(),
        ],
    )
    .one(CHANGED)
}

/// Fails if the account is suspended. A suspension takes effect before or after the whole batch, never in between. Locks the
/// account's row until the end of the batch, so that what is counted in it cannot change either.
pub fn require_active(id: &str) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET active_pages = active_pages WHERE id = $1 AND suspended_at IS NULL",
        [id.into()],
    )
    .one(SUSPENDED)
    .fence(id, FenceKind::Shared)
}

/// The same without locking the row, so that batches of one account run at the same time.
pub fn require_active_shared(id: &str) -> Stmt {
    Stmt::new("SELECT id FROM accounts WHERE id = $1 AND suspended_at IS NULL", [id.into()])
        .one(SUSPENDED)
        .fence(id, FenceKind::Shared)
}

/// Suspends an account that is neither suspended nor an operator's.
pub fn suspend(id: &str, reason: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET suspended_at = $1, suspended_reason = $2 \
         WHERE id = $3 AND suspended_at IS NULL AND is_operator = 0",
        vec![now.into(), reason.into(), id.into()],
    )
    .one(UNMOVED)
    .fence(id, FenceKind::Alone)
}

pub fn lift_suspension(id: &str) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET suspended_at = NULL, suspended_reason = NULL WHERE id = $1 AND suspended_at IS NOT NULL",
        [id.into()],
    )
    .one(UNMOVED)
}

//! SQL for `custom_domains`: many accounts may try to prove a name, one has it verified.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::custom_domain::{CustomDomain, DomainStatus};
use dropleaf_core::hostname::Hostname;

pub const UNKNOWN: &str = "unknown_domain";
/// The account has this name already.
pub const EXISTS: &str = "domain_exists";
/// The account has the maximum number of domains.
pub const FULL: &str = "domains_full";
/// Another request changed the domain, or another account has verified the name.
pub const CHANGED: &str = "domain_changed";

columns! {
    DomainColumns, domain_columns:
    hostname, account_id, site_id, status, is_primary, created_at, verified_at, last_checked_at, last_error, failing_since,
    next_check_at,
}

fn row(row: &Row<'_>) -> Result<CustomDomain, DbError> {
    const COLUMN: DomainColumns = DomainColumns::starting_at(0);
    let status = row.string(COLUMN.status)?;
    Ok(CustomDomain {
        hostname: Hostname::parse_stored(row.string(COLUMN.hostname)?),
        account_id: row.string(COLUMN.account_id)?,
        site_id: row.string(COLUMN.site_id)?,
        status: DomainStatus::parse(&status)
            .ok_or_else(|| DbError::internal("a domain row has an unknown status"))?,
        is_primary: row.flag(COLUMN.is_primary)?,
        created_at: row.int(COLUMN.created_at)?,
        verified_at: row.opt_int(COLUMN.verified_at)?,
        last_checked_at: row.opt_int(COLUMN.last_checked_at)?,
        last_error: row.opt_string(COLUMN.last_error)?,
        failing_since: row.opt_int(COLUMN.failing_since)?,
        next_check_at: row.int(COLUMN.next_check_at)?,
    })
}

/// A verified name and the page that it serves, as held in memory by every node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedDomain {
    pub hostname: String,
    pub site_token: String,
}

impl Store {
    /// The domains of an account, oldest first. Their number is limited.
    pub async fn list_domains(&self, account_id: &str) -> Result<Vec<CustomDomain>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    domain_columns!(),
                    " FROM custom_domains WHERE account_id = $1 ORDER BY created_at, hostname"
                ),
                vec![account_id.into()],
                row,
            )
            .await
    }

    pub async fn find_domain(
        &self,
        account_id: &str,
        hostname: &str,
    ) -> Result<Option<CustomDomain>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    domain_columns!(),
                    " FROM custom_domains WHERE hostname = $1 AND account_id = $2"
                ),
                &[hostname.into(), account_id.into()],
                row,
            )
            .await
    }

    /// The account that has verified this name.
    pub async fn find_verified_domain(&self, hostname: &str) -> Result<Option<CustomDomain>, DbError> {
        self.db
            .get(
                concat!(
                    "SELECT ",
                    domain_columns!(),
                    " FROM custom_domains WHERE hostname = $1 AND status = 'verified'"
                ),
                &[hostname.into()],
                row,
            )
            .await
    }

    /// Domains whose automatic check is due, most overdue first.
    pub async fn list_due_domains(&self, now: i64, limit: i64) -> Result<Vec<CustomDomain>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    domain_columns!(),
                    " FROM custom_domains WHERE next_check_at <= $1 ORDER BY next_check_at, hostname LIMIT $2"
                ),
                vec![now.into(), limit.into()],
                row,
            )
            .await
    }

    /// Every verified name with the token of its page.
    pub async fn list_served_domains(&self) -> Result<Vec<ServedDomain>, DbError> {
        self.db
            .list(
                "SELECT hostname, token FROM custom_domains JOIN sites ON sites.id = custom_domains.site_id \
                 AND sites.account_id = custom_domains.account_id WHERE status = 'verified'",
                Vec::new(),
                |row| Ok(ServedDomain { hostname: row.string(0)?, site_token: row.string(1)? }),
            )
            .await
    }
}

/// Adds a domain, unless the account has this name or the maximum number of names.
pub fn insert(domain: &CustomDomain, most: i64) -> [Stmt; 2] {
    let exists = Stmt::new(
        "UPDATE custom_domains SET hostname = hostname WHERE hostname = $1 AND account_id = $2",
        vec![domain.hostname.as_str().into(), domain.account_id.as_str().into()],
    )
    .rows(0, EXISTS);
    let insert = Stmt::new(
        "INSERT INTO custom_domains (hostname, account_id, site_id, status, is_primary, created_at, next_check_at) \
         SELECT $1, $2, $3, $4, $5, $6, $7 \
         WHERE (SELECT COUNT(*) FROM custom_domains WHERE account_id = $2) < $8",
        vec![
            domain.hostname.as_str().into(),
            domain.account_id.as_str().into(),
            domain.site_id.as_str().into(),
            domain.status.as_str().into(),
            domain.is_primary.into(),
            domain.created_at.into(),
            domain.next_check_at.into(),
            most.into(),
        ],
    )
    .one(FULL);
    [exists, insert]
}

/// Changes a domain, if nothing has changed it since `before` was read. Fails with a unique violation if another account has
/// verified the name.
pub fn update(before: &CustomDomain, after: &CustomDomain) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET site_id = $1, status = $2, is_primary = $3, verified_at = $4, last_checked_at = $5, \
         last_error = $6, failing_since = $7, next_check_at = $8 \
         WHERE hostname = $9 AND account_id = $10 AND site_id = $11 AND status = $12 AND is_primary = $13 \
         AND next_check_at = $14",
        vec![
            after.site_id.as_str().into(),
            after.status.as_str().into(),
            after.is_primary.into(),
            after.verified_at.into(),
            after.last_checked_at.into(),
            after.last_error.as_deref().into(),
            after.failing_since.into(),
            after.next_check_at.into(),
            before.hostname.as_str().into(),
            before.account_id.as_str().into(),
            before.site_id.as_str().into(),
            before.status.as_str().into(),
            before.is_primary.into(),
            before.next_check_at.into(),
        ],
    )
    .one(CHANGED)
}

pub fn delete(account_id: &str, hostname: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM custom_domains WHERE hostname = $1 AND account_id = $2",
        vec![hostname.into(), account_id.into()],
    )
    .one(UNKNOWN)
}

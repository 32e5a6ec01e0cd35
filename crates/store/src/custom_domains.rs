//! SQL for `custom_domains`: many accounts may try to prove a name, one has it verified.

use crate::db::{DbError, Row, Stmt, columns};
use crate::revisions::DOMAINS;
use crate::store::Store;
use dropleaf_core::custom_domain::{CustomDomain, DomainNotice, DomainStatus, LONGEST_PAUSE_SECONDS, NEVER};
use dropleaf_core::hostname::Hostname;

/// The account has this name already.
pub const EXISTS: &str = "domain_exists";
/// The account has the maximum number of domains.
pub const FULL: &str = "domains_full";
/// Another request changed the domain.
pub const CHANGED: &str = "domain_changed";
/// Another account has verified the name.
pub const TAKEN: &str = "domain_taken";

columns! {
    DomainColumns, domain_columns:
    hostname, account_id, site_id, status, is_primary, created_at, verified_at, last_checked_at, last_error, failing_since,
    next_check_at, notice,
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
        notice: row.opt_string(COLUMN.notice)?.as_deref().and_then(DomainNotice::parse),
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

    /// Domains whose automatic check is due, most overdue first. A check further ahead than any is planned is due too: the
    /// clock was wrong when it was planned.
    pub async fn list_due_domains(&self, now: i64, limit: i64) -> Result<Vec<CustomDomain>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    domain_columns!(),
                    " FROM custom_domains WHERE next_check_at <= $1 OR (next_check_at > $2 AND next_check_at < $3) \
                     ORDER BY next_check_at, hostname LIMIT $4"
                ),
                vec![now.into(), (now + LONGEST_PAUSE_SECONDS).into(), NEVER.into(), limit.into()],
                row,
            )
            .await
    }

    /// Domains with an email that was not sent yet.
    pub async fn list_domain_notices(&self, limit: i64) -> Result<Vec<CustomDomain>, DbError> {
        self.db
            .list(
                concat!(
                    "SELECT ",
                    domain_columns!(),
                    " FROM custom_domains WHERE notice IS NOT NULL ORDER BY hostname, account_id LIMIT $1"
                ),
                vec![limit.into()],
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

/// Adds a domain, unless the account has this name or the maximum number of names. Call it after `counters::lock_account`.
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

/// Changes a domain, if nothing has changed it since `before` was read.
pub fn update(before: &CustomDomain, after: &CustomDomain) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET site_id = $1, status = $2, is_primary = $3, verified_at = $4, last_checked_at = $5, \
         last_error = $6, failing_since = $7, next_check_at = $8, notice = $9 \
         WHERE hostname = $10 AND account_id = $11 AND site_id = $12 AND status = $13 AND is_primary = $14 \
         AND next_check_at = $15 AND created_at = $16 AND COALESCE(notice, '') = $17",
        vec![
            after.site_id.as_str().into(),
            after.status.as_str().into(),
            after.is_primary.into(),
            after.verified_at.into(),
            after.last_checked_at.into(),
            after.last_error.as_deref().into(),
            after.failing_since.into(),
            after.next_check_at.into(),
            after.notice.map(DomainNotice::as_str).into(),
            before.hostname.as_str().into(),
            before.account_id.as_str().into(),
            before.site_id.as_str().into(),
            before.status.as_str().into(),
            before.is_primary.into(),
            before.next_check_at.into(),
            before.created_at.into(),
            // An email that was sent in the meantime would be sent again.
            before.notice.map_or("", DomainNotice::as_str).into(),
        ],
    )
    .one(CHANGED)
}

/// Makes every domain of an account due that is not verified or whose checks fail, because its plan or unlocks changed.
pub fn check_soon(account_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET next_check_at = $1 \
         WHERE account_id = $2 AND next_check_at > $1 AND (status <> 'verified' OR failing_since IS NOT NULL)",
        vec![now.into(), account_id.into()],
    )
}

/// Fails if another account has verified the name. Call it after [`crate::revisions::advance`], whose row lock puts changes
/// of the verified names in order: without it, two accounts could pass at once and one would violate the unique index.
pub fn require_unverified(account_id: &str, hostname: &str) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET status = status WHERE hostname = $1 AND account_id <> $2 AND status = 'verified'",
        vec![hostname.into(), account_id.into()],
    )
    .rows(0, TAKEN)
}

/// Makes no other domain of the site the primary one.
pub fn clear_other_primary(account_id: &str, site_id: &str, hostname: &str) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET is_primary = 0 \
         WHERE site_id = $1 AND account_id = $2 AND hostname <> $3 AND is_primary = 1",
        vec![site_id.into(), account_id.into(), hostname.into()],
    )
}

/// Copies the verified primary domain of a site to its row, or clears it there.
pub fn refresh_primary(site_id: &str) -> Stmt {
    Stmt::new(
        "UPDATE sites SET primary_domain = (SELECT hostname FROM custom_domains \
         WHERE custom_domains.site_id = sites.id AND custom_domains.account_id = sites.account_id \
         AND custom_domains.status = 'verified' AND custom_domains.is_primary = 1 \
         ORDER BY hostname LIMIT 1) WHERE id = $1",
        vec![site_id.into()],
    )
}

/// Takes the email of a domain, so that it is sent once.
pub fn take_notice(domain: &CustomDomain) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET notice = NULL WHERE hostname = $1 AND account_id = $2 AND notice = $3",
        vec![
            domain.hostname.as_str().into(),
            domain.account_id.as_str().into(),
            domain.notice.map(DomainNotice::as_str).into(),
        ],
    )
    .one(CHANGED)
}

/// Puts an email back that certainly was not sent, unless there is a newer one.
pub fn return_notice(domain: &CustomDomain) -> Stmt {
    Stmt::new(
        "UPDATE custom_domains SET notice = $1 WHERE hostname = $2 AND account_id = $3 AND notice IS NULL",
        vec![
            domain.notice.map(DomainNotice::as_str).into(),
            domain.hostname.as_str().into(),
            domain.account_id.as_str().into(),
        ],
    )
}

/// Deletes a domain, if it shows the same site and has the same status as when it was read: others have to learn that a
/// verified name is gone.
pub fn delete(domain: &CustomDomain) -> Stmt {
    Stmt::new(
        "DELETE FROM custom_domains WHERE hostname = $1 AND account_id = $2 AND site_id = $3 AND status = $4",
        vec![
            domain.hostname.as_str().into(),
            domain.account_id.as_str().into(),
            domain.site_id.as_str().into(),
            domain.status.as_str().into(),
        ],
    )
    .one(CHANGED)
}

/// Deletes domains whose site no longer exists or belongs to another account. Until then viewers of an erased site are told
/// that it is gone, and its owner can show another site at the name. Counts the change if viewers could notice it.
pub fn delete_orphans() -> [Stmt; 2] {
    let count = Stmt::new(
        "INSERT INTO revisions (name, value) SELECT $1, 1 \
         WHERE EXISTS (SELECT 1 FROM custom_domains WHERE status = 'verified' AND NOT EXISTS (SELECT 1 FROM sites \
         WHERE sites.id = site_id AND sites.account_id = custom_domains.account_id)) \
         ON CONFLICT (name) DO UPDATE SET value = revisions.value + 1",
        vec![DOMAINS.into()],
    );
    let delete = Stmt::new(
        "DELETE FROM custom_domains WHERE NOT EXISTS (SELECT 1 FROM sites \
         WHERE sites.id = site_id AND sites.account_id = custom_domains.account_id)",
        Vec::new(),
    );
    [count, delete]
}

//! SQL for `certificates`: one row for each name that needs one, with the newest certificate and the state of its orders.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use bytes::Bytes;
use dropleaf_core::certificate::Certificate;

/// No certificate is managed for this name.
pub const UNKNOWN: &str = "unknown_certificate";
/// Another node has placed an order meanwhile, or the certificate was replaced.
pub const CHANGED: &str = "certificate_changed";

columns! {
    CertificateColumns, certificate_columns:
    name, serial, not_before, not_after, renew_at, window_check_at, failures, next_attempt_at, last_error,
    owner_error, warned_at,     unused_since, created_at, updated_at,
}

fn row(row: &Row<'_>) -> Result<Certificate, DbError> {
    const COLUMN: CertificateColumns = CertificateColumns::starting_at(0);
    Ok(Certificate {
        name: row.string(COLUMN.name)?,
        serial: row.opt_string(COLUMN.serial)?,
        not_before: row.opt_int(COLUMN.not_before)?,
        not_after: row.opt_int(COLUMN.not_after)?,
        renew_at: row.opt_int(COLUMN.renew_at)?,
        window_check_at: row.opt_int(COLUMN.window_check_at)?,
        failures: row.int(COLUMN.failures)?,
        next_attempt_at: row.int(COLUMN.next_attempt_at)?,
        last_error: row.opt_string(COLUMN.last_error)?,
        owner_error: row.opt_string(COLUMN.owner_error)?,
        warned_at: row.opt_int(COLUMN.warned_at)?,
        unused_since: row.opt_int(COLUMN.unused_since)?,
        created_at: row.int(COLUMN.created_at)?,
        updated_at: row.int(COLUMN.updated_at)?,
    })
}

/// A certificate that was issued.
#[derive(Debug, Clone)]
pub struct Issued<'a> {
    pub name: &'a str,
    /// Chain and key, encrypted.
    pub sealed: Bytes,
    pub serial: &'a str,
    pub not_before: i64,
    pub not_after: i64,
    pub renew_at: i64,
    pub window_check_at: i64,
    pub next_attempt_at: i64,
}

impl Store {
    /// Every managed name, in order.
    pub async fn list_certificates(&self) -> Result<Vec<Certificate>, DbError> {
        self.db
            .list(
                concat!("SELECT ", certificate_columns!(), " FROM certificates ORDER BY name"),
                Vec::new(),
                row,
            )
            .await
    }

    pub async fn find_certificate(&self, name: &str) -> Result<Option<Certificate>, DbError> {
        self.db
            .get(
                concat!("SELECT ", certificate_columns!(), " FROM certificates WHERE name = $1"),
                &[name.into()],
                row,
            )
            .await
    }

    /// The serial number and the encrypted chain and key of a name.
    pub async fn find_sealed_certificate(&self, name: &str) -> Result<Option<(String, Bytes)>, DbError> {
        self.db
            .get(
                "SELECT serial, sealed FROM certificates WHERE name = $1 AND sealed IS NOT NULL",
                &[name.into()],
                |row| Ok((row.string(0)?, Bytes::copy_from_slice(row.bytes(1)?))),
            )
            .await
    }

    /// Name and serial number of every certificate.
    pub async fn list_certificate_serials(&self) -> Result<Vec<(String, String)>, DbError> {
        self.db
            .list(
                "SELECT name, serial FROM certificates WHERE serial IS NOT NULL ORDER BY name",
                Vec::new(),
                |row| Ok((row.string(0)?, row.string(1)?)),
            )
            .await
    }
}

/// Starts to manage a name, or does so again.
pub fn require(name: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO certificates (name, failures, next_attempt_at, created_at, updated_at) VALUES ($1, 0, $2, $2, $2) \
         ON CONFLICT (name) DO UPDATE SET unused_since = NULL, updated_at = excluded.updated_at",
        vec![name.into(), now.into()],
    )
}

/// Stops to renew a name.
pub fn mark_unused(name: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET unused_since = $1, updated_at = $1 WHERE name = $2 AND unused_since IS NULL",
        vec![now.into(), name.into()],
    )
}

/// Deletes certificates of names that have not been needed since `before`, a limited number at a time.
pub fn delete_unused(before: i64, limit: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM certificates WHERE name IN \
         (SELECT name FROM certificates WHERE unused_since < $1 ORDER BY unused_since LIMIT $2)",
        vec![before.into(), limit.into()],
    )
}

/// Reserves an order: of several nodes, one succeeds. Until `next_attempt_at` nobody orders this name, even if this node dies.
pub fn begin_attempt(before: &Certificate, next_attempt_at: i64, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET next_attempt_at = $1, updated_at = $2 \
         WHERE name = $3 AND next_attempt_at = $4 AND failures = $5 AND unused_since IS NULL",
        vec![
            next_attempt_at.into(),
            now.into(),
            before.name.as_str().into(),
            before.next_attempt_at.into(),
            before.failures.into(),
        ],
    )
    .one(CHANGED)
}

/// Changes when the next order may be placed.
pub fn set_next_attempt(name: &str, next_attempt_at: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET next_attempt_at = $1 WHERE name = $2",
        vec![next_attempt_at.into(), name.into()],
    )
}

/// Stores a certificate and forgets earlier failures.
pub fn record_issued(issued: &Issued<'_>, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET sealed = $1, serial = $2, not_before = $3, not_after = $4, renew_at = $5, \
         window_check_at = $6, next_attempt_at = $7, failures = 0, last_error = NULL, owner_error = NULL, \
         warned_at = NULL, updated_at = $8 WHERE name = $9",
        vec![
            issued.sealed.clone().into(),
            issued.serial.into(),
            issued.not_before.into(),
            issued.not_after.into(),
            issued.renew_at.into(),
            issued.window_check_at.into(),
            issued.next_attempt_at.into(),
            now.into(),
            issued.name.into(),
        ],
    )
    .one(UNKNOWN)
}

/// A failed order, with the errors that operators and owners see.
#[derive(Debug, Clone, Copy)]
pub struct FailedOrder<'a> {
    pub name: &'a str,
    pub failures: i64,
    pub next_attempt_at: i64,
    pub error: &'a str,
    pub owner_error: &'a str,
}

pub fn record_failure(failed: &FailedOrder<'_>, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET failures = $1, next_attempt_at = $2, last_error = $3, owner_error = $4, updated_at = $5 \
         WHERE name = $6",
        vec![
            failed.failures.into(),
            failed.next_attempt_at.into(),
            failed.error.into(),
            failed.owner_error.into(),
            now.into(),
            failed.name.into(),
        ],
    )
}

/// Forgets a certificate that cannot be decrypted, so that another is ordered. The pause before the next order stays, so that
/// nodes with different secrets cannot order all the time.
pub fn forget_unreadable(name: &str, serial: &str, error: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET sealed = NULL, serial = NULL, not_before = NULL, not_after = NULL, renew_at = NULL, \
         window_check_at = NULL, warned_at = NULL, last_error = $1, updated_at = $2 WHERE name = $3 AND serial = $4",
        vec![error.into(), now.into(), name.into(), serial.into()],
    )
}

/// Records when to renew and when to ask again, unless the certificate was replaced meanwhile.
pub fn record_window(certificate: &Certificate, renew_at: Option<i64>, window_check_at: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET renew_at = $1, window_check_at = $2 WHERE name = $3 AND serial = $4",
        vec![
            renew_at.into(),
            window_check_at.into(),
            certificate.name.as_str().into(),
            certificate.serial.as_deref().into(),
        ],
    )
}

/// Makes an order due at once.
pub fn make_due(name: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE certificates SET next_attempt_at = $1, renew_at = CASE WHEN renew_at IS NULL THEN renew_at ELSE $1 END, \
         updated_at = $1 WHERE name = $2 AND unused_since IS NULL",
        vec![now.into(), name.into()],
    )
    .one(UNKNOWN)
}

pub fn mark_warned(name: &str, now: i64) -> Stmt {
    Stmt::new("UPDATE certificates SET warned_at = $1 WHERE name = $2", vec![now.into(), name.into()])
}

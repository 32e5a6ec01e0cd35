//! SQL for `evidence`: what is kept, for a limited time, of pages that were taken down. The content is a sealed archive in a
//! separate bundle that only this row references.

use crate::bundles;
use crate::db::{DbError, Row, Stmt, columns};
use crate::sites;
use crate::store::Store;
use dropleaf_core::site::Site;

/// Another process has already sealed the page.
pub const SEALED: &str = "evidence_sealed";
/// The evidence has already been erased.
pub const ERASED: &str = "evidence_erased";

/// The `kind` of an evidence bundle.
pub const KIND: &str = "evidence";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub site_id: String,
    /// `None` once it is erased.
    pub bundle_id: Option<String>,
    /// Size of the sealed archive.
    pub size_bytes: i64,
    pub created_at: i64,
    pub erase_after: i64,
    pub erased_at: Option<i64>,
}

/// A viewer's report, for the manifest of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceReport {
    pub at: i64,
    /// The version that was current then.
    pub version: Option<i64>,
    pub reason: String,
    pub comment: Option<String>,
    pub contact: Option<String>,
}

columns! { EvidenceReportColumns, reported_columns: created_at, reason, comment, contact, version }

fn evidence_report(row: &Row<'_>) -> Result<EvidenceReport, DbError> {
    const COLUMN: EvidenceReportColumns = EvidenceReportColumns::starting_at(0);
    Ok(EvidenceReport {
        at: row.int(COLUMN.created_at)?,
        reason: row.string(COLUMN.reason)?,
        comment: row.opt_string(COLUMN.comment)?,
        contact: row.opt_string(COLUMN.contact)?,
        version: row.opt_int(COLUMN.version)?,
    })
}

columns! { EvidenceColumns, evidence_columns: site_id, bundle_id, size_bytes, created_at, erase_after, erased_at }

fn row(row: &Row<'_>) -> Result<Evidence, DbError> {
    const COLUMN: EvidenceColumns = EvidenceColumns::starting_at(0);
    Ok(Evidence {
        site_id: row.string(COLUMN.site_id)?,
        bundle_id: row.opt_string(COLUMN.bundle_id)?,
        size_bytes: row.int(COLUMN.size_bytes)?,
        created_at: row.int(COLUMN.created_at)?,
        erase_after: row.int(COLUMN.erase_after)?,
        erased_at: row.opt_int(COLUMN.erased_at)?,
    })
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", evidence_columns!(), " FROM evidence ", $tail)
    };
}

impl Store {
    pub async fn find_evidence(&self, site_id: &str) -> Result<Option<Evidence>, DbError> {
        self.db.get(select!("WHERE site_id = $1"), &[site_id.into()], row).await
    }

    /// The newest entries, including erased ones.
    pub async fn list_evidence(&self, limit: i64) -> Result<Vec<Evidence>, DbError> {
        self.db.list(select!("ORDER BY created_at DESC, site_id LIMIT $1"), vec![limit.into()], row).await
    }

    /// Evidence whose retention period is over.
    pub async fn list_old_evidence(&self, now: i64, limit: i64) -> Result<Vec<Evidence>, DbError> {
        let sql = select!("WHERE bundle_id IS NOT NULL AND erase_after <= $1 ORDER BY erase_after LIMIT $2");
        self.db.list(sql, vec![now.into(), limit.into()], row).await
    }

    /// The first thousand reports about a page, the oldest first.
    pub async fn list_reports_for_evidence(&self, site_id: &str) -> Result<Vec<EvidenceReport>, DbError> {
        let sql = concat!(
            "SELECT ",
            reported_columns!(),
            " FROM reports WHERE site_id = $1 ORDER BY created_at, id LIMIT 1000"
        );
        self.db.list(sql, vec![site_id.into()], evidence_report).await
    }

    /// Taken-down pages whose content is not sealed yet. Pages whose sealing failed come last, the most recent failure at the
    /// very end, so that they do not block the others.
    pub async fn list_unsealed(&self, limit: i64) -> Result<Vec<Site>, DbError> {
        let sql = sites::select!(
            "WHERE state = 'taken_down' AND purged_at IS NULL ORDER BY \
             COALESCE((SELECT tried_at FROM sealing_tries WHERE sealing_tries.site_id = sites.id), 0), ended_at LIMIT $1"
        );
        self.db.list(sql, vec![limit.into()], sites::row).await
    }
}

/// Records that sealing a page failed.
pub fn record_sealing_failure(site_id: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO sealing_tries (site_id, tried_at) VALUES ($1, $2) \
         ON CONFLICT (site_id) DO UPDATE SET tried_at = excluded.tried_at",
        vec![site_id.into(), now.into()],
    )
}

/// Deletes that record, once the page is sealed.
pub fn delete_sealing_failure(site_id: &str) -> Stmt {
    Stmt::new("DELETE FROM sealing_tries WHERE site_id = $1", [site_id.into()])
}

pub fn insert(evidence: &Evidence) -> Stmt {
    Stmt::new(
        "INSERT INTO evidence (site_id, bundle_id, size_bytes, created_at, erase_after) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (site_id) DO NOTHING",
        vec![
            evidence.site_id.as_str().into(),
            evidence.bundle_id.as_deref().into(),
            evidence.size_bytes.into(),
            evidence.created_at.into(),
            evidence.erase_after.into(),
        ],
    )
    .one(SEALED)
}

/// Releases the archive: afterwards nothing references its bundle.
pub fn erase(site_id: &str, bundle_id: &str, now: i64) -> [Stmt; 2] {
    let release =
        "UPDATE evidence SET bundle_id = NULL, erased_at = $1 WHERE site_id = $2 AND bundle_id = $3";
    [
        Stmt::new(release, vec![now.into(), site_id.into(), bundle_id.into()]).one(ERASED),
        bundles::release(bundle_id, now),
    ]
}

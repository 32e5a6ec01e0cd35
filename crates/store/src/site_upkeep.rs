//! Time-based changes to `sites`: expired sites, sites whose bytes are to be erased, and tombstones to delete.

use crate::db::{DbError, Stmt};
use crate::sites::{row, select};
use crate::store::Store;
use dropleaf_core::site::Site;

/// How long ago sites must have ended for their bytes to be erased.
#[derive(Debug, Clone, Copy)]
pub struct EndedBefore {
    pub owned: i64,
    pub unowned: i64,
    /// For sites with open reports, except burn-after-reading ones.
    pub reported: i64,
}

impl Store {
    /// Live sites whose expiry has passed.
    pub async fn list_expired(&self, now: i64, limit: i64) -> Result<Vec<Site>, DbError> {
        self.db
            .list(
                select!("WHERE state = 'live' AND expires_at IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2"),
                vec![now.into(), limit.into()],
                row,
            )
            .await
    }

    /// Live sites of one account whose expiry has passed: they no longer count against its plan.
    pub async fn list_expired_of(
        &self,
        account_id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        self.db
            .list(
                select!("WHERE account_id = $1 AND state = 'live' AND expires_at IS NOT NULL AND expires_at <= $2 LIMIT $3"),
                vec![account_id.into(), now.into(), limit.into()],
                row,
            )
            .await
    }

    /// Ended sites whose bytes are still stored and no longer needed. Excludes taken-down sites: they are erased once their
    /// content is sealed, and not before.
    pub async fn list_purgeable(&self, ended: EndedBefore, limit: i64) -> Result<Vec<Site>, DbError> {
        self.db
            .list(
                select!(
                    "WHERE ended_at IS NOT NULL AND purged_at IS NULL AND state <> 'taken_down' \
                     AND (ended_at <= $1 OR (account_id IS NULL AND ended_at <= $2)) \
                     AND (ended_at <= $3 OR visibility = 'burn' OR NOT EXISTS (SELECT 1 FROM reports \
                     WHERE reports.site_id = sites.id AND reports.closed_at IS NULL)) \
                     AND NOT EXISTS (SELECT 1 FROM burns WHERE burns.site_id = sites.id) ORDER BY ended_at LIMIT $4"
                ),
                vec![ended.owned.into(), ended.unowned.into(), ended.reported.into(), limit.into()],
                row,
            )
            .await
    }
}

/// Removes the expiry of an account's live pages that were to expire with the longest lifetime of their plan. A shorter one
/// was chosen by the owner and stays. Raises `updated_at`, so concurrent changes to such a page fail.
pub fn lift_expiry(account_id: &str, longest_life: i64, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE sites SET expires_at = NULL, updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at + 1 END \
         WHERE account_id = $2 AND state = 'live' AND expires_at > $1 AND expires_at = created_at + $3",
        vec![now.into(), account_id.into(), longest_life.into()],
    )
    .slow()
}

/// Deletes sites whose bytes were erased long ago; until then their links return 410 instead of 404.
pub fn delete_tombstones(purged_before: i64) -> Stmt {
    Stmt::new("DELETE FROM sites WHERE purged_at IS NOT NULL AND purged_at <= $1", vec![purged_before.into()])
}

//! Reads the context of a page under moderation: the account's other pages, and pages with the same content.

use crate::db::DbError;
use crate::sites::{row, select};
use crate::store::Store;
use dropleaf_core::site::Site;

impl Store {
    /// The account's other pages in any state, most recently changed first.
    pub async fn list_other_sites(
        &self,
        account_id: &str,
        site_id: &str,
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        let sql = select!("WHERE account_id = $1 AND id <> $2 ORDER BY updated_at DESC, id DESC LIMIT $3");
        self.db.list(sql, vec![account_id.into(), site_id.into(), limit.into()], row).await
    }

    /// How many pages of an account were taken down, not counting those whose rows were deleted.
    pub async fn count_taken_down(&self, account_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM sites WHERE account_id = $1 AND state = 'taken_down'";
        Ok(self.db.get(sql, &[account_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// Pages whose main document is this body. Searches only the newest 20,000 pages: no index leads from bodies to bundles.
    pub async fn list_sites_with_same_document(
        &self,
        site_id: &str,
        entry_hash: &[u8; 32],
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        let shared = "SELECT refs FROM blobs WHERE hash = $1";
        let refs = self.db.get(shared, &[(*entry_hash).into()], |row| row.int(0)).await?;
        // Almost always this is the only bundle that holds it.
        if refs.is_none_or(|refs| refs < 2) {
            return Ok(Vec::new());
        }
        let sql = select!(
            "WHERE id <> $1 AND id IN (SELECT recent.id \
             FROM (SELECT id, bundle_id FROM sites ORDER BY id DESC LIMIT 20000) AS recent \
             JOIN bundles ON bundles.id = recent.bundle_id \
             JOIN bundle_files ON bundle_files.bundle_id = bundles.id AND bundle_files.path = bundles.entry \
             WHERE bundle_files.blob_hash = $2) ORDER BY id DESC LIMIT $3"
        );
        self.db.list(sql, vec![site_id.into(), (*entry_hash).into(), limit.into()], row).await
    }
}

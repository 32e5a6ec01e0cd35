//! SQL for pages that expire soon: which of them their owner is to be told of, each once.

use crate::db::{DbError, Stmt};
use crate::store::Store;

/// A page that expires soon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiringSite {
    pub id: String,
    pub account_id: String,
    pub expires_at: i64,
}

/// The page was changed, or has been announced.
pub const CHANGED: &str = "expiry_changed";

impl Store {
    /// Live pages that expire before `until` and after half of their life, of accounts with an endpoint, and that were not
    /// announced yet.
    pub async fn list_expiring(
        &self,
        now: i64,
        until: i64,
        limit: i64,
    ) -> Result<Vec<ExpiringSite>, DbError> {
        let sql = "SELECT id, account_id, expires_at FROM sites WHERE state = 'live' AND expires_at IS NOT NULL \
                   AND expires_at > $1 AND expires_at <= $2 AND 2 * (expires_at - $1) <= expires_at - created_at \
                   AND (expiry_announced IS NULL OR expiry_announced <> expires_at) AND account_id IS NOT NULL \
                   AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.account_id = sites.account_id AND e.state = 'enabled') \
                   ORDER BY expires_at LIMIT $3";
        self.db
            .list(sql, vec![now.into(), until.into(), limit.into()], |row| {
                Ok(ExpiringSite { id: row.string(0)?, account_id: row.string(1)?, expires_at: row.int(2)? })
            })
            .await
    }
}

/// Marks the expiry of a page as announced, unless another node has. Does not count as a change of the page.
pub fn announce(site: &ExpiringSite) -> Stmt {
    Stmt::new(
        "UPDATE sites SET expiry_announced = expires_at WHERE id = $1 AND account_id = $2 AND expires_at = $3 \
         AND state = 'live' AND (expiry_announced IS NULL OR expiry_announced <> expires_at)",
        vec![site.id.as_str().into(), site.account_id.as_str().into(), site.expires_at.into()],
    )
    .one(CHANGED)
}

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
        // The join begins with the few accounts that have an endpoint, so that the pages of all others are not read. SQLite
        // keeps the order of a cross join.
        let sql = "SELECT sites.id, sites.account_id, sites.expires_at FROM \
                   (SELECT DISTINCT account_id FROM webhook_endpoints WHERE state = 'enabled') AS owners \
                   CROSS JOIN sites WHERE sites.account_id = owners.account_id AND sites.account_id IS NOT NULL \
                   AND sites.state = 'live' AND sites.expires_at IS NOT NULL \
                   AND sites.expires_at > $1 AND sites.expires_at <= $2 \
                   AND 2 * (sites.expires_at - $1) <= sites.expires_at - sites.created_at \
                   AND (sites.expiry_announced IS NULL OR sites.expiry_announced <> sites.expires_at) \
                   ORDER BY sites.expires_at LIMIT $3";
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

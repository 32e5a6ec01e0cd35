//! SQL for pages that expire soon: which of them their owner is to be emailed about, each expiry once.

use crate::db::{DbError, Stmt};
use crate::email_settings::notify_mode;
use crate::expiry_announcements::{CHANGED, ExpiringSite};
use crate::store::Store;
use dropleaf_core::notification::{DIGEST_LEAD, EXPIRY_LEAD, SHORTEST_LIFE};

impl Store {
    /// Live pages whose owner is to be emailed now: three days before the end or in the last quarter of a shorter life, and
    /// for digests at least a day before, so that one comes in time.
    pub async fn list_expiring_to_email(&self, now: i64, limit: i64) -> Result<Vec<ExpiringSite>, DbError> {
        let sql = concat!(
            "SELECT s.id, s.account_id, s.expires_at FROM sites s JOIN (SELECT a.id, a.email, a.suspended_at, ",
            notify_mode!(),
            " AS mode FROM accounts a) AS a ON a.id = s.account_id \
             WHERE s.state = 'live' AND s.expires_at IS NOT NULL AND s.account_id IS NOT NULL \
             AND s.expires_at > $1 AND s.expires_at <= CAST($1 AS BIGINT) + CAST($2 AS BIGINT) \
             AND s.expires_at - s.created_at >= CAST($3 AS BIGINT) \
             AND (s.expiry_emailed IS NULL OR s.expiry_emailed <> s.expires_at) \
             AND a.email IS NOT NULL AND a.suspended_at IS NULL AND a.mode <> 'off' \
             AND (4 * (s.expires_at - CAST($1 AS BIGINT)) <= s.expires_at - s.created_at \
             OR (a.mode = 'daily' AND s.expires_at - CAST($1 AS BIGINT) <= CAST($4 AS BIGINT))) \
             ORDER BY s.expires_at, s.id LIMIT $5"
        );
        self.db
            .list(
                sql,
                vec![now.into(), EXPIRY_LEAD.into(), SHORTEST_LIFE.into(), DIGEST_LEAD.into(), limit.into()],
                |row| {
                    Ok(ExpiringSite {
                        id: row.string(0)?,
                        account_id: row.string(1)?,
                        expires_at: row.int(2)?,
                    })
                },
            )
            .await
    }
}

/// Marks the expiry of a page as emailed, unless another node has. Does not count as a change of the page.
pub fn mark_emailed(site: &ExpiringSite) -> Stmt {
    Stmt::new(
        "UPDATE sites SET expiry_emailed = expires_at WHERE id = $1 AND account_id = $2 AND expires_at = $3 \
         AND state = 'live' AND (expiry_emailed IS NULL OR expiry_emailed <> expires_at)",
        vec![site.id.as_str().into(), site.account_id.as_str().into(), site.expires_at.into()],
    )
    .one(CHANGED)
}

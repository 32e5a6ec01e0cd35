//! SQL for `counters`: events per time window, counted where every node sees them.
//!
//! Nodes have different clocks. A window never moves backwards: a node whose clock is behind counts in the window that
//! another one has begun, so different clocks cannot reset a count.

use crate::db::{DbError, FenceKind, Stmt};
use crate::store::Store;
use dropleaf_core::portion::Reserved;
use dropleaf_core::rate::Rate;

/// How long a counter is kept after its window, so that a node whose clock is ahead deletes none that others still need.
const KEPT_SECONDS: i64 = 3600;
/// No counter ends later than this from now, unless a node had a wrong clock.
const FAR_SECONDS: i64 = 90 * 86_400;
/// How long the row of a lock is kept after its last use.
const LOCK_SECONDS: i64 = 60;

/// Limits of requests and guesses share some of a node's connections, because anyone may cause them to be counted.
pub const LIMITS_SHARE: &str = "limits";

impl Store {
    /// How many events were counted in the current window.
    pub async fn count_used(&self, key: &str, rate: &Rate, now: i64) -> Result<i64, DbError> {
        let used = self
            .db
            .get(
                "SELECT used FROM counters WHERE key = $1 AND window_at >= $2",
                &[key.into(), rate.window_at(now).into()],
                |row| row.int(0),
            )
            .await?;
        Ok(used.unwrap_or(0))
    }

    /// Reserves up to `asked` operations of the window for this node, as many as the limit leaves; `None` if none are left.
    /// `share` is whose share of the connections it uses. If its outcome is unknown, what it reserved is lost, which never exceeds
    /// the limit.
    pub async fn reserve_portion(
        &self,
        key: &str,
        rate: &Rate,
        asked: i64,
        now: i64,
        share: &str,
    ) -> Result<Option<Reserved>, DbError> {
        let stmt = Stmt::new(
            "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (key) DO UPDATE SET \
             used = CASE WHEN counters.window_at < excluded.window_at THEN excluded.used \
             ELSE counters.used + excluded.used END, \
             window_at = CASE WHEN counters.window_at < excluded.window_at THEN excluded.window_at \
             ELSE counters.window_at END, \
             ends_at = CASE WHEN counters.window_at < excluded.window_at THEN excluded.ends_at ELSE counters.ends_at END \
             WHERE counters.window_at < excluded.window_at OR counters.used < $5 RETURNING window_at, used",
            vec![
                key.into(),
                rate.window_at(now).into(),
                asked.into(),
                rate.ends_at(now).into(),
                rate.limit.into(),
            ],
        )
        .fence(share, FenceKind::PermitOnly);
        let outcome = self.db.exec(stmt).await?;
        let reserved = outcome.rows.first().map(|found| {
            let row = found.as_row();
            Ok(Reserved { window_at: row.int(0)?, used: row.int(1)? })
        });
        reserved.transpose()
    }
}

/// Counts one event; if the window is full, the whole batch fails with the rate's name.
pub fn take(key: &str, rate: &Rate, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, $2, 1, $3) \
         ON CONFLICT (key) DO UPDATE SET \
         used = CASE WHEN counters.window_at < excluded.window_at THEN 1 ELSE counters.used + 1 END, \
         window_at = CASE WHEN counters.window_at < excluded.window_at THEN excluded.window_at \
         ELSE counters.window_at END, \
         ends_at = CASE WHEN counters.window_at < excluded.window_at THEN excluded.ends_at ELSE counters.ends_at END \
         WHERE counters.window_at < excluded.window_at OR counters.used < $4",
        vec![key.into(), rate.window_at(now).into(), rate.ends_at(now).into(), rate.limit.into()],
    )
    .one(rate.name)
}

/// Subtracts one event, if it was counted in the current window.
pub fn give_back(key: &str, rate: &Rate, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE counters SET used = used - 1 WHERE key = $1 AND window_at = $2 AND used > 0",
        vec![key.into(), rate.window_at(now).into()],
    )
}

/// Makes batches with the same key run one after the other, for limits that are checked by counting rows. The row is a lock
/// and counts nothing.
pub fn lock(key: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, 0, 0, $2) \
         ON CONFLICT (key) DO UPDATE SET ends_at = excluded.ends_at",
        vec![key.into(), (now + LOCK_SECONDS).into()],
    )
}

/// [`lock`] for what an account may have a number of: keys, passkeys, webhooks and domains.
pub fn lock_account(account_id: &str, now: i64) -> Stmt {
    lock(&format!("cap:{account_id}"), now)
}

/// Deletes the counters whose windows have ended, and those that a node with a wrong clock made for the far future.
pub fn delete_ended(now: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM counters WHERE ends_at <= $1 OR ends_at > $2",
        vec![(now - KEPT_SECONDS).into(), (now + FAR_SECONDS).into()],
    )
}

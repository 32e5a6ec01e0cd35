//! SQL for `counters`: events per time window, counted where every node sees them.

use crate::db::{DbError, Stmt};
use crate::store::Store;
use dropleaf_core::rate::Rate;

impl Store {
    /// How many events were counted in the current window.
    pub async fn count_used(&self, key: &str, rate: &Rate, now: i64) -> Result<i64, DbError> {
        let used = self
            .db
            .get(
                "SELECT used FROM counters WHERE key = $1 AND window_at = $2",
                &[key.into(), rate.window_at(now).into()],
                |row| row.int(0),
            )
            .await?;
        Ok(used.unwrap_or(0))
    }
}

/// Counts one event; if the window is full, the whole batch fails with the rate's name.
pub fn take(key: &str, rate: &Rate, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, $2, 1, $3) \
         ON CONFLICT (key) DO UPDATE SET \
         used = CASE WHEN counters.window_at = excluded.window_at THEN counters.used + 1 ELSE 1 END, \
         window_at = excluded.window_at, ends_at = excluded.ends_at \
         WHERE counters.window_at <> excluded.window_at OR counters.used < $4",
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

pub fn delete_ended(now: i64) -> Stmt {
    Stmt::new("DELETE FROM counters WHERE ends_at <= $1", vec![now.into()])
}

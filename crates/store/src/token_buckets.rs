//! SQL for token buckets that hold across nodes. A bucket is a row of `counters` whose `ends_at` is the time at which it will be
//! full again; a full bucket needs no row, so the sweep deletes it like any counter that has ended.

use crate::counters::LIMITS_SHARE;
use crate::db::{DbError, FenceKind, Stmt};
use crate::store::Store;
use dropleaf_core::bucket::Bucket;

impl Store {
    /// When this bucket will be full again; `None` if it is full.
    pub async fn find_bucket(&self, key: &str) -> Result<Option<i64>, DbError> {
        self.db.get("SELECT ends_at FROM counters WHERE key = $1", &[key.into()], |row| row.int(0)).await
    }
}

/// Takes one token; if there is none, the whole batch fails with the bucket's name. The time only moves forward, so a node
/// whose clock is ahead by some seconds adds the tokens of these seconds once, not with every request.
pub fn take(key: &str, bucket: &Bucket, now: i64) -> Stmt {
    let refill = i64::from(bucket.refill_seconds);
    Stmt::new(
        "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, 0, 0, $2) \
         ON CONFLICT (key) DO UPDATE SET \
         ends_at = CASE WHEN counters.ends_at > CAST($3 AS BIGINT) THEN counters.ends_at ELSE CAST($3 AS BIGINT) END \
         + CAST($4 AS BIGINT) WHERE counters.ends_at <= $5",
        vec![
            key.into(),
            (now + refill).into(),
            now.into(),
            refill.into(),
            (now + bucket.room()).into(),
        ],
    )
    .one(bucket.name)
    .fence(LIMITS_SHARE, FenceKind::PermitOnly)
}

/// Returns a token that turned out not to be a guess.
pub fn give_back(key: &str, bucket: &Bucket) -> Stmt {
    Stmt::new(
        "UPDATE counters SET ends_at = ends_at - CAST($1 AS BIGINT) WHERE key = $2",
        vec![i64::from(bucket.refill_seconds).into(), key.into()],
    )
}

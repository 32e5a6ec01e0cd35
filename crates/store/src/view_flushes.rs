//! SQL that writes view counts once: each node numbers its batches and keeps the number of the last one it wrote in a row of
//! `counters`, changed in the same transaction. A batch whose outcome was unknown can so be repeated.

use crate::db::Stmt;

/// The batch was written before; nothing of this attempt was.
pub const WRITTEN: &str = "view_flush_written";
/// How long a node's row is kept after its last batch. A batch is repeated every few seconds, so a longer outage of one node
/// than this, with the others still sweeping, could count its last batch twice.
const KEPT_SECONDS: i64 = 7 * 86_400;

/// Records the node's batch with this number. Numbers start at 1 and increase; the same number is accepted once.
pub fn record(node: &str, number: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO counters (key, window_at, used, ends_at) VALUES ($1, 0, $2, $3) \
         ON CONFLICT (key) DO UPDATE SET used = excluded.used, ends_at = excluded.ends_at \
         WHERE counters.used < excluded.used",
        vec![format!("views:{node}").into(), number.into(), (now + KEPT_SECONDS).into()],
    )
    .one(WRITTEN)
}

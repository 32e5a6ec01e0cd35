//! SQL for `leases`: work that only one process at a time may do.

use crate::db::Stmt;
use std::hash::{BuildHasher, RandomState};

/// Held while a backup or restore runs, and while orphaned objects are swept: neither may run during the other.
pub(crate) const BACKUP: &str = "backup";

pub const HELD: &str = "lease_held";

/// A name for one holder. Two containers may have the same process id, so it has a random part.
pub(crate) fn holder(now: i64) -> String {
    format!("{}-{now}-{:016x}", std::process::id(), RandomState::new().hash_one(now))
}

/// Takes a lease; fails while another holder's lease is valid. To go on with work, use [`renew`].
pub fn take(name: &str, holder: &str, until: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3) \
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until \
         WHERE leases.until <= $4 OR leases.holder = excluded.holder",
        vec![name.into(), holder.into(), until.into(), now.into()],
    )
    .one(HELD)
}

/// Extends a lease without interruption; fails if it has ended or another holder has taken it since. In a batch, it makes sure
/// that the work is still this holder's, also after the process was stopped for a while.
pub fn renew(name: &str, holder: &str, until: i64, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE leases SET until = $1 WHERE name = $2 AND holder = $3 AND until > $4",
        vec![until.into(), name.into(), holder.into(), now.into()],
    )
    .one(HELD)
}

pub fn release(name: &str, holder: &str) -> Stmt {
    Stmt::new("DELETE FROM leases WHERE name = $1 AND holder = $2", vec![name.into(), holder.into()])
}

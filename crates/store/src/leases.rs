//! SQL for `leases`: work that only one process at a time may do.

use crate::db::Stmt;

/// Held while a backup or restore runs, and while orphaned objects are swept: neither may run during the other.
pub(crate) const BACKUP: &str = "backup";

pub const HELD: &str = "lease_held";

/// Takes or renews a lease; fails while another holder's lease is valid.
pub fn take(name: &str, holder: &str, until: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3) \
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until \
         WHERE leases.until <= $4 OR leases.holder = excluded.holder",
        vec![name.into(), holder.into(), until.into(), now.into()],
    )
    .one(HELD)
}

pub fn release(name: &str, holder: &str) -> Stmt {
    Stmt::new("DELETE FROM leases WHERE name = $1 AND holder = $2", vec![name.into(), holder.into()])
}

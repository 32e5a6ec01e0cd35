//! Holds the lease that blocks the sweep while a backup or restore runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::BackupError;
use crate::db::{Db, DbError};
use crate::leases;

const HELD_SECONDS: i64 = 90;
const RENEWED_EVERY: Duration = Duration::from_secs(20);
/// Pause between attempts; a sweep holds the lease only briefly.
const WAIT_FOR_SWEEP: Duration = Duration::from_millis(500);
const WAITS: u32 = 20;

static TURNS: AtomicU64 = AtomicU64::new(0);

/// Runs `work` under the lease. If the lease is lost, the work is aborted, because objects may have been deleted by then.
pub(super) async fn hold<T>(
    db: &Db,
    now: i64,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let holder = format!("{}-{now}-{}", std::process::id(), TURNS.fetch_add(1, Ordering::Relaxed));
    let started = Instant::now();
    let clock = || now + i64::try_from(started.elapsed().as_secs()).unwrap_or(0);
    let mut waits = 0;
    loop {
        match take(db, &holder, clock()).await {
            Err(DbError::Guard(_)) if waits < WAITS => waits += 1,
            Err(DbError::Guard(_)) => {
                return Err(BackupError::Refused(format!(
                    "another backup or restore is running (if one was killed, wait {HELD_SECONDS} seconds)"
                )));
            }
            taken => break taken?,
        }
        tokio::time::sleep(WAIT_FOR_SWEEP).await;
    }
    let renewal = async {
        loop {
            tokio::time::sleep(RENEWED_EVERY).await;
            if let Err(error) = take(db, &holder, clock()).await {
                return BackupError::from(error);
            }
        }
    };
    let done = tokio::select! {
        done = work => done,
        error = renewal => Err(error),
    };
    // If the release fails, the lease expires by itself.
    let _ = db.exec(leases::release(leases::BACKUP, &holder)).await;
    done
}

async fn take(db: &Db, holder: &str, now: i64) -> Result<(), DbError> {
    db.exec(leases::take(leases::BACKUP, holder, now + HELD_SECONDS, now)).await.map(|_| ())
}

//! Holds the lease that blocks the sweep while a backup or restore runs.

use std::time::{Duration, Instant};

use super::BackupError;
use crate::db::{Db, DbError};
use crate::leases;

const HELD_SECONDS: i64 = 90;
const RENEWED_EVERY: Duration = Duration::from_secs(20);
/// Pause between attempts; a sweep holds the lease only briefly.
const WAIT_FOR_SWEEP: Duration = Duration::from_millis(500);
const WAITS: u32 = 20;

/// Runs a backup under the lease. If the lease is lost, the work is aborted, because objects may have been deleted by then.
pub(super) async fn hold<T>(
    db: &Db,
    now: i64,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let (holder, started) = (leases::holder(now), Instant::now());
    let done = hold_as(db, now, &holder, started, work).await;
    // The work counts only if the lease was held until its end: a process that was stopped may have lost it.
    let done = match done {
        Ok(done) => renew(db, &holder, time(now, started)).await.map(|()| done),
        failed => failed,
    };
    // If the release fails, the lease expires by itself.
    let _ = db.exec(leases::release(leases::BACKUP, &holder)).await;
    done
}

/// Runs a restore under the lease. It ends by replacing all rows, those of leases too.
pub(super) async fn hold_until_replaced<T>(
    db: &Db,
    now: i64,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let holder = leases::holder(now);
    let done = hold_as(db, now, &holder, Instant::now(), work).await;
    let _ = db.exec(leases::release(leases::BACKUP, &holder)).await;
    done
}

fn time(now: i64, started: Instant) -> i64 {
    now + i64::try_from(started.elapsed().as_secs()).unwrap_or(0)
}

async fn hold_as<T>(
    db: &Db,
    now: i64,
    holder: &str,
    started: Instant,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let clock = || time(now, started);
    let mut waits = 0;
    loop {
        match take(db, holder, clock()).await {
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
            if let Err(error) = renew(db, holder, clock()).await {
                return error;
            }
        }
    };
    tokio::select! {
        biased;
        error = renewal => Err(error),
        done = work => done,
    }
}

async fn renew(db: &Db, holder: &str, now: i64) -> Result<(), BackupError> {
    match db.exec(leases::renew(leases::BACKUP, holder, now + HELD_SECONDS, now)).await {
        Ok(_) => Ok(()),
        Err(DbError::Guard(_)) => Err(BackupError::Refused(
            "the lease that keeps objects from being deleted was lost, because this process was stopped or the database did \
             not answer for too long: try again"
                .to_owned(),
        )),
        Err(error) => Err(error.into()),
    }
}

async fn take(db: &Db, holder: &str, now: i64) -> Result<(), DbError> {
    db.exec(leases::take(leases::BACKUP, holder, now + HELD_SECONDS, now)).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_794_873_600;

    #[tokio::test]
    async fn work_counts_only_if_the_lease_was_held_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(&format!("sqlite:{}", folder.path().join("a.db").display())).await.unwrap();
        db.migrate(NOW).await.unwrap();
        assert_eq!(hold(&db, NOW, async { Ok(1) }).await.unwrap(), 1);
        let taken_over = hold(&db, NOW, async {
            // As seen by another process, after this one was stopped.
            let later = NOW + HELD_SECONDS + 1;
            db.exec(leases::take(leases::BACKUP, "another", later + 60, later)).await?;
            db.exec(leases::release(leases::BACKUP, "another")).await?;
            Ok(2)
        });
        assert!(matches!(taken_over.await, Err(BackupError::Refused(_))));
        let ended = hold(&db, NOW, async {
            let end = "UPDATE leases SET until = $1";
            db.exec(crate::db::Stmt::new(end, vec![NOW.into()])).await?;
            Ok(3)
        });
        assert!(matches!(ended.await, Err(BackupError::Refused(_))), "the sweep may have deleted something");
        assert_eq!(hold(&db, NOW + 1, async { Ok(4) }).await.unwrap(), 4, "nothing is left behind");
        db.close().await;
    }
}

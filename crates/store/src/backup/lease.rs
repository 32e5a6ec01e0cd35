//! Holds the lease that blocks the sweep while a backup or restore runs.

use std::time::Duration;

use dropleaf_core::{Clock, SystemClock};

use super::BackupError;
use crate::db::{Db, DbError};
use crate::leases;

const HELD_SECONDS: i64 = 90;
const RENEWED_SECONDS: i64 = 20;
/// How often it is checked whether to renew it. A timer alone does not count the time of a suspended machine.
const CHECKED_EVERY: Duration = Duration::from_secs(1);
/// Pause between attempts; a sweep holds the lease only briefly.
const WAIT_FOR_SWEEP: Duration = Duration::from_millis(500);
const WAITS: u32 = 20;

/// Runs a backup under the lease. If the lease is lost, the work is aborted, because objects may have been deleted by then.
pub(super) async fn hold<T>(
    db: &Db,
    now: i64,
    clock: &dyn Clock,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let (holder, time) = (leases::holder(now), LeaseTime::start(now, clock));
    let done = hold_as(db, &holder, &time, work).await;
    // The work counts only if the lease was held until its end: a process that was stopped may have lost it.
    let done = match done {
        Ok(done) => renew(db, &holder, time.now()).await.map(|()| done),
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
    let clock = SystemClock::default();
    let (holder, time) = (leases::holder(now), LeaseTime::start(now, &clock));
    let done = hold_as(db, &holder, &time, work).await;
    let _ = db.exec(leases::release(leases::BACKUP, &holder)).await;
    done
}

/// The time by both clocks: the monotonic one may stand still while the machine is suspended, and the wall clock may be set
/// back. The one that has gone on further counts.
struct LeaseTime<'a> {
    now: i64,
    clock: &'a dyn Clock,
    /// Both clocks at the start.
    wall: i64,
    monotonic: Duration,
}

impl<'a> LeaseTime<'a> {
    fn start(now: i64, clock: &'a dyn Clock) -> Self {
        Self { now, clock, wall: clock.now(), monotonic: clock.monotonic() }
    }

    fn now(&self) -> i64 {
        let by_wall = self.clock.now().saturating_sub(self.wall).max(0);
        let by_monotonic = self.clock.monotonic().saturating_sub(self.monotonic).as_secs();
        self.now.saturating_add(by_wall.max(i64::try_from(by_monotonic).unwrap_or(i64::MAX)))
    }
}

async fn hold_as<T>(
    db: &Db,
    holder: &str,
    time: &LeaseTime<'_>,
    work: impl Future<Output = Result<T, BackupError>>,
) -> Result<T, BackupError> {
    let mut waits = 0;
    loop {
        match take(db, holder, time.now()).await {
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
        let mut renewed = time.now();
        loop {
            tokio::time::sleep(CHECKED_EVERY).await;
            let now = time.now();
            if now < renewed.saturating_add(RENEWED_SECONDS) {
                continue;
            }
            if let Err(error) = renew(db, holder, now).await {
                return error;
            }
            renewed = now;
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
    use dropleaf_core::ManualClock;
    use std::sync::atomic::{AtomicI64, Ordering};

    const NOW: i64 = 1_794_873_600;

    /// The clock of a machine that is suspended: its monotonic time stands still.
    #[derive(Debug)]
    struct SuspendedClock(AtomicI64);

    impl Clock for SuspendedClock {
        fn now(&self) -> i64 {
            self.0.load(Ordering::SeqCst)
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }
    }

    async fn open(folder: &tempfile::TempDir) -> Db {
        let db = Db::open(&format!("sqlite:{}", folder.path().join("a.db").display())).await.unwrap();
        db.migrate(NOW).await.unwrap();
        db
    }

    #[tokio::test]
    async fn work_counts_only_if_the_lease_was_held_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let db = open(&folder).await;
        let clock = ManualClock::at(NOW);
        assert_eq!(hold(&db, NOW, &clock, async { Ok(1) }).await.unwrap(), 1);
        let taken_over = hold(&db, NOW, &clock, async {
            // As seen by another process, after this one was stopped.
            let later = NOW + HELD_SECONDS + 1;
            db.exec(leases::take(leases::BACKUP, "another", later + 60, later)).await?;
            db.exec(leases::release(leases::BACKUP, "another")).await?;
            Ok(2)
        });
        assert!(matches!(taken_over.await, Err(BackupError::Refused(_))));
        let ended = hold(&db, NOW, &clock, async {
            let end = "UPDATE leases SET until = $1";
            db.exec(crate::db::Stmt::new(end, vec![NOW.into()])).await?;
            Ok(3)
        });
        assert!(matches!(ended.await, Err(BackupError::Refused(_))), "the sweep may have deleted something");
        let next = hold(&db, NOW + 1, &clock, async { Ok(4) });
        assert_eq!(next.await.unwrap(), 4, "nothing is left behind");
        db.close().await;
    }

    #[tokio::test]
    async fn lease_that_ends_while_the_machine_is_suspended_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let db = open(&folder).await;
        let clock = SuspendedClock(AtomicI64::new(NOW));
        let short = hold(&db, NOW, &clock, async {
            clock.0.fetch_add(HELD_SECONDS - 1, Ordering::SeqCst);
            Ok(())
        });
        short.await.unwrap();
        let long = hold(&db, NOW, &clock, async {
            clock.0.fetch_add(HELD_SECONDS, Ordering::SeqCst);
            Ok(())
        });
        assert!(matches!(long.await, Err(BackupError::Refused(_))));
        // Noticed while the work goes on, too.
        let endless = hold(&db, NOW, &clock, async {
            clock.0.fetch_add(HELD_SECONDS, Ordering::SeqCst);
            std::future::pending::<Result<(), BackupError>>().await
        });
        assert!(matches!(endless.await, Err(BackupError::Refused(_))));
        db.close().await;
    }
}

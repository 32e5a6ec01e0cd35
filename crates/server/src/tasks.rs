//! Work in the background that shutdown waits for: the sweep, writing view counts, news from other nodes, payments that
//! were left half-way, looking through the books, letters about the operator's desk.

use crate::lists::Lists;
use crate::metrics::Metrics;
use dropleaf_app::{App, Swept};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Views are written this often; more rarely when many pages are viewed, so that writing takes a fiftieth of the time.
const FLUSH_EVERY: Duration = Duration::from_secs(5);
const FLUSH_LATER: Duration = Duration::from_secs(55);
const FLUSH_SHARE: u32 = 50;
const FIRST_COLLECT: Duration = Duration::from_mins(1);
const ERASE_EVERY: Duration = Duration::from_secs(10);
const AUDIT_EVERY: Duration = Duration::from_hours(24);
const LETTERS_EVERY: Duration = Duration::from_secs(30);
const RECOVER_EVERY: Duration = Duration::from_secs(30);
/// How often it is looked whether something is still under way.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What the facilitator supports is asked for this often; more often while it does not say.
const MARKET_EVERY: Duration = Duration::from_mins(5);
const MARKET_SOON: Duration = Duration::from_secs(10);

/// How often the regular work is done.
#[derive(Debug, Clone, Copy)]
pub struct Every {
    pub sweep: Duration,
    pub collect: Duration,
}

/// The tasks of one server. They end when it stops; [`Tasks::finish`] waits for them.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    pub stopping: CancellationToken,
    tracker: TaskTracker,
}

impl Tasks {
    /// Starts a task that is waited for at shutdown.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(work);
    }

    /// Starts a task that is cut off when the server stops.
    fn spawn_until_stop(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        self.spawn(async move {
            stopping.run_until_cancelled(work).await;
        });
    }

    /// Starts everything that goes on beside serving.
    pub fn start_all(&self, app: &Arc<App>, metrics: &Arc<Metrics>, every: Every) {
        if let Some(follow) = app.follow_changes() {
            self.spawn_until_stop(follow);
        }
        let rows = Arc::clone(app);
        self.spawn_until_stop(async move { rows.confirm_rows().await });
        let views = Arc::clone(app);
        self.spawn_until_stop(async move {
            let mut later = Duration::ZERO;
            loop {
                tokio::time::sleep(FLUSH_EVERY).await;
                let _ = tokio::time::timeout(later, views.many_views_wait()).await;
                let start = Instant::now();
                if let Err(error) = views.flush_views().await {
                    tracing::warn!(%error, "page views could not be written; they are kept for the next time");
                }
                later = (start.elapsed() * FLUSH_SHARE).min(FLUSH_LATER);
            }
        });
        let eraser = Arc::clone(app);
        self.spawn_until_stop(async move {
            loop {
                if let Err(error) = eraser.erase_burnt().await {
                    tracing::warn!(%error, "a burnt page could not be erased yet; the next round tries again");
                }
                // Woken when the only view has been sent; else in time for windows that end.
                let _ = tokio::time::timeout(ERASE_EVERY, eraser.only_view_sent()).await;
            }
        });
        let books = Arc::clone(app);
        self.spawn_until_stop(async move {
            loop {
                books.watch_books().await;
                tokio::time::sleep(AUDIT_EVERY).await;
            }
        });
        let (sweeper, counters) = (Arc::clone(app), Arc::clone(metrics));
        self.spawn_until_stop(async move {
            loop {
                tokio::time::sleep(every.sweep).await;
                match sweeper.sweep().await {
                    Ok(swept) if swept != Swept::default() => {
                        counters.swept_pages.inc_by((swept.expired + swept.purged) as u64);
                        tracing::info!(expired = swept.expired, purged = swept.purged, "swept");
                    }
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "the sweep stopped early"),
                }
            }
        });
        self.start_letters(app);
        let (collector, counters) = (Arc::clone(app), Arc::clone(metrics));
        self.spawn_until_stop(async move {
            // Soon after the start, so that a server that never runs for long collects too.
            tokio::time::sleep(every.collect.min(FIRST_COLLECT)).await;
            loop {
                match collector.collect().await {
                    Ok(0) => {}
                    Ok(bodies) => {
                        counters.swept_bodies.inc_by(bodies);
                        tracing::info!(bodies, "collected");
                    }
                    Err(error) => tracing::warn!(%error, "collecting stopped early"),
                }
                tokio::time::sleep(every.collect).await;
            }
        });
    }

    /// Starts writing to operators and appellants.
    fn start_letters(&self, app: &Arc<App>) {
        let (writer, stopping) = (Arc::clone(app), self.stopping.clone());
        // Not cut off: a letter that is being sent is sent to the end, for it is not sent again.
        self.spawn(async move {
            let pause = || stopping.run_until_cancelled(tokio::time::sleep(LETTERS_EVERY));
            while pause().await.is_some() {
                if let Err(error) = writer.tell_operators().await {
                    tracing::warn!(%error, "operators could not be told of what waits for them");
                }
                if let Err(error) = writer.tell_appellants(|| !stopping.is_cancelled()).await {
                    tracing::warn!(%error, "decisions about appeals could not be sent");
                }
            }
        });
    }

    /// Starts looking whether the operator's lists have changed.
    pub fn start_watching(&self, lists: &Arc<Lists>) {
        self.spawn_until_stop(Arc::clone(lists).watch());
    }

    /// Starts what payments need. When nothing is sold, what was paid for before is finished all the same. `known`: what
    /// the facilitator supports is known.
    pub fn start_payments(&self, app: &Arc<App>, mut known: bool) {
        if app.settings().payments.is_some() {
            let market = Arc::clone(app);
            self.spawn_until_stop(async move {
                loop {
                    tokio::time::sleep(if known { MARKET_EVERY } else { MARKET_SOON }).await;
                    known = market.refresh_market().await;
                }
            });
        }
        let (payments, stopping) = (Arc::clone(app), self.stopping.clone());
        // Not cut off: a payment that is being asked for is asked to the end.
        self.spawn(async move {
            while !stopping.is_cancelled() {
                match payments.recover_payments_while(|| !stopping.is_cancelled()).await {
                    Ok(0) => {}
                    Ok(decided) => tracing::info!(decided, "payments that were left half-way are decided"),
                    Err(error) => tracing::warn!(%error, "payments could not be looked through"),
                }
                stopping.run_until_cancelled(tokio::time::sleep(RECOVER_EVERY)).await;
            }
        });
    }

    /// Tells every task to end and waits, but not for ever.
    pub async fn finish(&self, patience: Duration) {
        self.finish_all(patience, Duration::ZERO, || false).await;
    }

    /// The same, and waits longer as long as something is under way that should not be cut short.
    pub async fn finish_all(&self, patience: Duration, longer: Duration, under_way: impl Fn() -> bool) {
        self.stopping.cancel();
        self.tracker.close();
        if tokio::time::timeout(patience, self.tracker.wait()).await.is_ok() {
            return;
        }
        let start = Instant::now();
        while under_way() && start.elapsed() < longer {
            if tokio::time::timeout(LOOK_EVERY, self.tracker.wait()).await.is_ok() {
                return;
            }
        }
        tracing::warn!("some work did not end in time");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn stopping_waits_longer_only_for_what_must_not_be_cut_short() {
        for (under_way, seconds) in [(false, 20), (true, 100)] {
            let tasks = Tasks::default();
            tasks.spawn(tokio::time::sleep(Duration::from_secs(100)));
            let start = Instant::now();
            tasks.finish_all(Duration::from_secs(20), Duration::from_secs(175), || under_way).await;
            assert_eq!(start.elapsed().as_secs(), seconds);
        }
        let tasks = Tasks::default();
        tasks.spawn(std::future::pending());
        let start = Instant::now();
        tasks.finish_all(Duration::from_secs(20), Duration::from_secs(175), || true).await;
        assert_eq!(start.elapsed().as_secs(), 195, "not for ever");
    }
}

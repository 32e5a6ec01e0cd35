//! Background tasks that shutdown waits for: the sweep, writing view counts, notifications of other nodes, custom domains,
//! certificates, backups, recovery of unfinished payments, ledger audits, webhooks, emails to operators, appellants and owners,
//! freed memory.

use crate::acme::Acme;
use crate::drain::Drain;
use crate::freed_memory;
use crate::lists::Lists;
use crate::metrics::{self, Metrics};
use crate::tls::ServedCertificates;
use dropleaf_app::{App, BackupOutcome, NODE_SECRET_RENEWAL, Swept};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Views are written this often; less often if many pages are viewed, so that writing takes a fiftieth of the time.
const FLUSH_EVERY: Duration = Duration::from_secs(5);
const FLUSH_LATER: Duration = Duration::from_secs(55);
const FLUSH_SHARE: u32 = 50;
const FIRST_COLLECT: Duration = Duration::from_mins(1);
const ERASE_EVERY: Duration = Duration::from_secs(10);
const AUDIT_EVERY: Duration = Duration::from_hours(24);
const LETTERS_EVERY: Duration = Duration::from_secs(30);
const RECOVER_EVERY: Duration = Duration::from_secs(30);
const DOMAINS_EVERY: Duration = Duration::from_secs(30);
/// How often shutdown checks whether something is still under way.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often the facilitator's supported networks are fetched; more often while they are unknown.
const MARKET_EVERY: Duration = Duration::from_mins(5);
const MARKET_SOON: Duration = Duration::from_secs(10);

/// Intervals of the periodic work.
#[derive(Debug, Clone, Copy)]
pub struct Every {
    pub sweep: Duration,
    pub collect: Duration,
}

/// The tasks of one server. They end when it stops; [`Tasks::finish`] waits for them.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    pub stopping: CancellationToken,
    /// Begins before the server stops.
    pub drain: Arc<Drain>,
    tracker: TaskTracker,
}

impl Tasks {
    /// Starts a task that shutdown waits for.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(work);
    }

    /// Starts a task that is cancelled when the server stops.
    fn spawn_until_stop(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.stopping.clone();
        self.spawn(async move {
            stopping.run_until_cancelled(work).await;
        });
    }

    /// Starts all background work.
    pub fn start_all(&self, app: &Arc<App>, metrics: &Arc<Metrics>, every: Every) {
        self.spawn_until_stop(freed_memory::give_back());
        if let Some(follow) = app.follow_changes() {
            self.spawn_until_stop(follow);
        }
        if let Some(watch) = app.watch_replicas() {
            self.spawn_until_stop(watch);
        }
        let rows = Arc::clone(app);
        self.spawn_until_stop(async move { rows.confirm_rows().await });
        let node = Arc::clone(app);
        self.spawn_until_stop(async move {
            loop {
                tokio::time::sleep(NODE_SECRET_RENEWAL).await;
                if let Err(error) = node.claim_node_secret().await {
                    tracing::warn!(%error, "secret key not compared with that of other nodes");
                }
            }
        });
        let domains = Arc::clone(app);
        self.spawn_until_stop(async move { domains.follow_served_domains().await });
        let views = Arc::clone(app);
        self.spawn_until_stop(async move {
            let mut later = Duration::ZERO;
            loop {
                tokio::time::sleep(FLUSH_EVERY).await;
                let _ = tokio::time::timeout(later, views.wait_for_many_views()).await;
                let start = Instant::now();
                if let Err(error) = views.flush_views().await {
                    tracing::warn!(%error, "page views not written, will retry");
                }
                later = (start.elapsed() * FLUSH_SHARE).min(FLUSH_LATER);
            }
        });
        let eraser = Arc::clone(app);
        self.spawn_until_stop(async move {
            loop {
                if let Err(error) = eraser.erase_burnt().await {
                    tracing::warn!(%error, "burnt page not erased, will retry");
                }
                // Woken when the only view has been sent; otherwise in time for windows that end.
                let _ = tokio::time::timeout(ERASE_EVERY, eraser.wait_for_sent_view()).await;
            }
        });
        let (books, audits) = (Arc::clone(app), Arc::clone(metrics));
        self.spawn_until_stop(async move {
            loop {
                if let Some(faults) = books.log_ledger_audit().await {
                    audits.set_ledger_audit(faults, books.now());
                }
                tokio::time::sleep(AUDIT_EVERY).await;
            }
        });
        let (sweeper, counters) = (Arc::clone(app), Arc::clone(metrics));
        self.spawn_until_stop(async move {
            loop {
                tokio::time::sleep(every.sweep).await;
                let outcome = sweeper.sweep().await;
                if outcome.is_ok() {
                    counters.set_swept(sweeper.now());
                }
                match outcome {
                    Ok(swept) if swept != Swept::default() => {
                        counters.swept_pages.inc_by((swept.expired + swept.purged) as u64);
                        counters.raised_pages.inc_by(swept.raised as u64);
                        let Swept { expired, purged, raised } = swept;
                        tracing::info!(expired, purged, raised, "sweep finished");
                    }
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "sweep failed"),
                }
            }
        });
        let (domains, stopping) = (Arc::clone(app), self.stopping.clone());
        // Not cancelled: it stops by itself and releases its lease.
        self.spawn(async move {
            let pause = || stopping.run_until_cancelled(tokio::time::sleep(DOMAINS_EVERY));
            while pause().await.is_some() {
                match domains.check_due_domains(stopping.cancelled()).await {
                    Ok(0) => {}
                    Ok(checked) => tracing::debug!(checked, "custom domains checked"),
                    Err(error) => tracing::warn!(%error, "custom domains not checked"),
                }
            }
        });
        self.start_mail(app);
        self.start_webhooks(app);
        let (collector, counters) = (Arc::clone(app), Arc::clone(metrics));
        self.spawn_until_stop(async move {
            // Soon after the start, so that a server that never runs for long collects garbage too.
            tokio::time::sleep(every.collect.min(FIRST_COLLECT)).await;
            loop {
                match collector.collect_unreferenced_bodies().await {
                    Ok(0) => {}
                    Ok(bodies) => {
                        counters.swept_bodies.inc_by(bodies);
                        tracing::info!(bodies, "garbage collection finished");
                    }
                    Err(error) => tracing::warn!(%error, "garbage collection failed"),
                }
                tokio::time::sleep(every.collect).await;
            }
        });
    }

    /// Starts sending emails to operators, appellants and owners.
    fn start_mail(&self, app: &Arc<App>) {
        let (writer, stopping) = (Arc::clone(app), self.stopping.clone());
        // Not cancelled: an email that is being sent is finished, because it is not sent again.
        self.spawn(async move {
            let pause = || stopping.run_until_cancelled(tokio::time::sleep(LETTERS_EVERY));
            while pause().await.is_some() {
                if let Err(error) = writer.notify_operators().await {
                    tracing::warn!(%error, "operator notifications not sent");
                }
                if let Err(error) = writer.send_appeal_decisions(|| !stopping.is_cancelled()).await {
                    tracing::warn!(%error, "appeal decisions not sent");
                }
                if let Err(error) = writer.send_domain_notices(|| !stopping.is_cancelled()).await {
                    tracing::warn!(%error, "emails about custom domains not sent");
                }
                if let Err(error) = writer.send_owner_emails(|| !stopping.is_cancelled()).await {
                    tracing::warn!(%error, "notifications not emailed");
                }
            }
        });
    }

    /// Starts sending webhooks. Not cancelled: an attempt under way is finished and recorded.
    fn start_webhooks(&self, app: &Arc<App>) {
        let (app, stopping) = (Arc::clone(app), self.stopping.clone());
        self.spawn(async move { app.run_webhooks(stopping.cancelled()).await });
    }

    /// Starts refreshing the metrics that have to be looked up.
    pub fn start_metrics(&self, app: &Arc<App>, metrics: &Arc<Metrics>, data_dir: PathBuf) {
        self.spawn_until_stop(metrics::refresh(Arc::clone(app), Arc::clone(metrics), data_dir));
    }

    /// Starts taking scheduled backups, if there are any; whether one is due is checked as often as the sweep runs.
    pub fn start_backups(&self, app: &Arc<App>, metrics: &Arc<Metrics>, every: Every) {
        let Some(settings) = &app.settings().backups else { return };
        metrics.set_backup_interval(settings.schedule.interval());
        let (app, metrics, stopping) = (Arc::clone(app), Arc::clone(metrics), self.stopping.clone());
        // Not cancelled: it stops by itself and releases its locks.
        self.spawn(async move {
            loop {
                // Shown from the start, and on nodes that do not take the backup themselves.
                match app.backup_status().await {
                    Ok(status) => metrics.set_last_backup(status.and_then(|status| status.last)),
                    Err(error) => tracing::warn!(%error, "state of backups not read"),
                }
                if stopping.run_until_cancelled(tokio::time::sleep(every.sweep)).await.is_none() {
                    return;
                }
                run_backup(&app, &metrics, stopping.cancelled()).await;
            }
        });
    }

    /// Starts watching the operator's lists for changes.
    pub fn start_watching(&self, lists: &Arc<Lists>) {
        self.spawn_until_stop(Arc::clone(lists).watch());
    }

    /// Starts following changes of certificates in files and in the database.
    pub fn start_certificates(&self, certificates: &Arc<ServedCertificates>) {
        self.spawn_until_stop(Arc::clone(certificates).watch_files());
        self.spawn_until_stop(Arc::clone(certificates).follow());
    }

    /// Starts obtaining and renewing certificates. Not cancelled: it ends by itself and cleans up.
    pub(crate) fn start_acme(&self, acme: Acme) {
        self.spawn(acme.run(self.stopping.clone()));
    }

    /// Starts the tasks for payments. Even if nothing is sold, earlier purchases are completed. `known`: the facilitator's
    /// supported networks are known.
    pub fn start_payments(&self, app: &Arc<App>, mut known: bool) {
        if app.settings().payments.is_some() {
            let market = Arc::clone(app);
            self.spawn_until_stop(async move {
                loop {
                    tokio::time::sleep(if known { MARKET_EVERY } else { MARKET_SOON }).await;
                    known = market.refresh_listings().await;
                }
            });
        }
        let cards = Arc::clone(app);
        // Apart from the others, so that a card processor that stalls does not delay them.
        self.spawn_until_stop(async move {
            loop {
                if let Err(error) = cards.recover_pay_sessions().await {
                    tracing::warn!(%error, "pay sessions not checked");
                }
                tokio::time::sleep(RECOVER_EVERY).await;
            }
        });
        let (payments, stopping) = (Arc::clone(app), self.stopping.clone());
        // Not cancelled: a query about a payment is finished.
        self.spawn(async move {
            while !stopping.is_cancelled() {
                match payments.recover_payments_while(|| !stopping.is_cancelled()).await {
                    Ok(0) => {}
                    Ok(decided) => tracing::info!(decided, "unfinished payments recovered"),
                    Err(error) => tracing::warn!(%error, "payment recovery failed"),
                }
                stopping.run_until_cancelled(tokio::time::sleep(RECOVER_EVERY)).await;
            }
        });
    }

    /// Tells every task to end and waits for them, up to a limit.
    pub async fn finish(&self, patience: Duration) {
        self.finish_all(patience, Duration::ZERO, || false).await;
    }

    /// The same, and waits longer while something is under way that should not be interrupted.
    pub async fn finish_all(&self, patience: Duration, longer: Duration, under_way: impl Fn() -> bool) {
        self.drain.begin();
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
        tracing::warn!("shutdown timed out; some tasks were still running");
    }
}

/// Takes the backup that is due, and counts and logs what became of it.
async fn run_backup(app: &App, metrics: &Metrics, stop: impl Future<Output = ()>) {
    match app.run_due_backup(stop).await {
        Ok(BackupOutcome::NotDue) => {}
        Ok(BackupOutcome::Done { info, pruned }) => {
            let pruned = pruned.unwrap_or_default();
            tracing::info!(
                id = info.id,
                sites = info.report.rows.get("sites").copied().unwrap_or_default(),
                bodies = info.report.objects,
                new_bodies = info.new_objects,
                bytes = info.stored_bytes(),
                new_bytes = info.new_object_bytes + info.database_stored_bytes,
                deleted_backups = pruned.backups,
                deleted_bodies = pruned.bodies,
                "backup finished and verified"
            );
        }
        Ok(BackupOutcome::Stopped) => tracing::info!("backup stopped with the server"),
        Ok(BackupOutcome::Failed(error)) => {
            metrics.backup_failures.inc();
            tracing::error!(%error, "backup failed, will retry");
        }
        Err(error) => {
            metrics.backup_failures.inc();
            tracing::error!(%error, "backup failed, will retry");
        }
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

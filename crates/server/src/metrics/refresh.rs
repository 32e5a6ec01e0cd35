//! Looks up the figures that no request changes: emails, webhooks, payments, the database, disk space.

use super::Metrics;
use dropleaf_app::App;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(15);

/// Refreshes the figures for as long as the server runs.
pub(crate) async fn refresh(app: Arc<App>, metrics: Arc<Metrics>, data_dir: PathBuf) {
    loop {
        refresh_once(&app, &metrics, &data_dir).await;
        tokio::time::sleep(EVERY).await;
    }
}

async fn refresh_once(app: &App, metrics: &Metrics, data_dir: &Path) {
    metrics.set_emails(app.mail_counts());
    // The last figures stay: that the database fails is seen in the responses.
    match app.count_undecided_payments().await {
        Ok(counts) => {
            metrics.payments_open.set(counts.open);
            metrics.payments_unknown.set(counts.unknown);
        }
        Err(error) => tracing::debug!(%error, "payments not counted for the metrics"),
    }
    metrics.set_webhooks(app.webhook_counts());
    match app.count_waiting_webhooks().await {
        Ok(waiting) => drop(metrics.webhooks_waiting.set(waiting)),
        Err(error) => tracing::debug!(%error, "webhooks not counted for the metrics"),
    }
    let parts = app.health_parts();
    let db = &parts.store.db;
    metrics.database.set_connections(&db.pool_use());
    metrics.database.set_replicas(&db.replicas_current());
    if db.is_shared() {
        metrics.database.set_account_writes_waiting(db.waiting_account_writes());
    }
    match parts.store.find_lock_waits().await {
        Ok(waits) => drop(waits.map(|waits| metrics.database.set_lock_waits(waits))),
        Err(error) => tracing::debug!(%error, "waits for locks not counted for the metrics"),
    }
    let data_dir = data_dir.to_owned();
    // A network file system can stall.
    let space = tokio::task::spawn_blocking(move || disk_space(&data_dir)).await;
    metrics.set_disk(space.ok().flatten());
}

/// The free space for this process and the size of the file system, in bytes.
fn disk_space(data_dir: &Path) -> Option<(u64, u64)> {
    let found = rustix::fs::statvfs(data_dir).ok()?;
    Some((found.f_bavail.saturating_mul(found.f_frsize), found.f_blocks.saturating_mul(found.f_frsize)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_no_more_free_space_than_space() {
        let folder = tempfile::tempdir().unwrap();
        let (free, size) = disk_space(folder.path()).unwrap();
        assert!(free <= size && size > 0, "{free} of {size}");
        assert_eq!(disk_space(&folder.path().join("missing")), None);
    }
}

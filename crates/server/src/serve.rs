//! Starts and stops the server: listeners, storage, HTTP, background tasks. Connections are handled in `wire`.

use crate::acme::Acme;
use crate::config::{Config, Listen, Resolved, missing_chains};
use crate::database_wait;
use crate::http::Dispatcher;
use crate::listeners::Listeners;
use crate::lists::Lists;
use crate::metrics::Metrics;
use crate::preparation::{Preparation, Prepared};
use crate::serve_lock::ServeLock;
use crate::service_manager::ServiceManager;
use crate::signals::{SignalAction, Signals};
use crate::startup;
use crate::tasks::{Every, Tasks};
use crate::tls::{self, ServedCertificates};
use crate::welcome;
use crate::wire::Wire;
use anyhow::{Context, Result};
use dropleaf_app::{App, TlsMode};
use std::sync::Arc;
use std::time::Duration;

pub use crate::listeners::bind;

/// How long requests under way may take when the server stops.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that is up.
#[derive(Debug)]
pub struct Running {
    pub app: Arc<App>,
    pub resolved: Arc<Resolved>,
    pub metrics: Arc<Metrics>,
    /// The operator's new key, if this was the first start.
    pub first_key: Option<String>,
    /// A sign-in link for the operator, if this was the first start.
    pub first_link: Option<String>,
    /// The operator's lists for the phishing check.
    pub lists: Arc<Lists>,
    /// None if the server does not serve HTTPS itself.
    pub certificates: Option<Arc<ServedCertificates>>,
    tasks: Tasks,
    /// Released last, when the storage is closed.
    lock: Option<ServeLock>,
}

impl Running {
    /// Announces the stop: the server is not ready from now on and asks clients to use other connections, but goes on
    /// serving until [`Running::stop`].
    pub fn begin_drain(&self) {
        self.tasks.drain.begin();
    }

    /// How long payments in flight may take when the server stops: two settle requests, and the work before and after.
    fn settling(&self) -> Duration {
        Duration::from_secs(self.resolved.config.payments.settle_timeout_seconds) * 2 + PATIENCE
    }

    /// Stops accepting requests, lets those under way finish, writes out what is in memory.
    pub async fn stop(self) {
        let settling = self.settling();
        self.tasks.finish_all(PATIENCE, settling, || self.app.has_payments_in_flight()).await;
        self.app.close().await;
        drop(self.lock);
    }
}

/// Binds, opens the storage and starts serving.
pub async fn start(config: Config) -> Result<Running> {
    let running = start_unless(config, &ServiceManager::default(), std::future::pending()).await?;
    running.context("the start was interrupted")
}

/// The same. `None` if `stop` completes while the server waits for its database.
async fn start_unless(
    config: Config,
    manager: &ServiceManager,
    stop: impl Future<Output = ()>,
) -> Result<Option<Running>> {
    tls::install_provider();
    raise_file_limit();
    let listeners = Listeners::bind(&config).await?;
    let resolved = Arc::new(config.resolve(listeners.public_port()?)?);
    let lock = ServeLock::take(&resolved.data_dir, &resolved.database_url)?;
    startup::empty_spool(&resolved.settings.spool_dir)?;
    // Boxed because it is large and only needed here.
    let started = Box::pin(database_wait::start_app(&resolved, &listeners, manager, stop)).await?;
    let Some((app, prepared)) = started else { return Ok(None) };
    let first_key = prepared.first_key.clone();
    match serve_app(Arc::clone(&resolved), app, listeners, prepared).await {
        Ok(running) => Ok(Some(Running { lock: Some(lock), ..running })),
        Err(error) => {
            // It exists, and the next start will not show it.
            if let Some(key) = first_key {
                welcome::print_key(&resolved, &key);
            }
            Err(error)
        }
    }
}

/// Serves an app that is already open.
pub async fn start_with(resolved: Arc<Resolved>, app: Arc<App>, listeners: Listeners) -> Result<Running> {
    let prepared = Preparation::default().attempt(&resolved, &app).await?;
    serve_app(resolved, app, listeners, prepared).await
}

async fn serve_app(
    resolved: Arc<Resolved>,
    app: Arc<App>,
    listeners: Listeners,
    prepared: Prepared,
) -> Result<Running> {
    let certificates = match resolved.settings.tls_mode {
        TlsMode::Off => None,
        TlsMode::Files | TlsMode::Acme => Some(Arc::new(ServedCertificates::new(&resolved, &app)?)),
    };
    let metrics = Arc::new(Metrics::default());
    let tasks = Tasks::default();
    let dispatcher = Arc::new(Dispatcher::new(
        Arc::clone(&app),
        Arc::clone(&resolved),
        Arc::clone(&metrics),
        tasks.clone(),
    ));
    let readiness = Arc::clone(&dispatcher.readiness);
    let wire = Arc::new(Wire::new(&resolved, dispatcher, tasks.clone()));
    for (listener, protocol) in listeners.protocols(&readiness, &resolved, certificates.as_ref(), &metrics) {
        tasks.spawn(Arc::clone(&wire).accept(listener, protocol));
    }
    if let Some(certificates) = &certificates {
        tasks.start_certificates(certificates);
    }
    if let (Some(settings), Some(certificates)) = (resolved.acme.as_deref(), &certificates) {
        tasks.start_acme(Acme::new(
            Arc::clone(&app),
            settings.clone(),
            Arc::clone(&metrics),
            Arc::clone(certificates),
        )?);
    }
    if !resolved.config.metrics.listen.is_empty() {
        tasks.start_metrics(&app, &metrics, resolved.data_dir.clone());
        for listener in bind(&Listen::parse(&resolved.config.metrics.listen)?).await? {
            tasks.spawn(crate::http::metrics_page::serve(
                listener,
                Arc::clone(&metrics),
                tasks.stopping.clone(),
            ));
        }
    }
    let every = Every {
        sweep: Duration::from_secs(resolved.config.sweep.every_seconds.max(1)),
        collect: Duration::from_secs(resolved.config.sweep.collect_every_minutes.max(1) * 60),
    };
    tasks.start_all(&app, &metrics, every);
    tasks.start_payments(&app, prepared.knows_networks);
    tasks.start_backups(&app, &metrics, every);
    let lists = Lists::new(&resolved.config, app.settings().safety.rules.clone());
    tasks.start_watching(&lists);
    let Prepared { first_key, first_link, .. } = prepared;
    Ok(Running { app, resolved, metrics, first_key, first_link, lists, certificates, tasks, lock: None })
}

/// Runs until a signal stops the process.
pub async fn run(config: Config, manager: &ServiceManager) -> Result<()> {
    // From now on signals wait until they are handled, so that one does not end the first start before its key is shown.
    let mut signals = Signals::listen()?;
    let Some(running) = start_unless(config, manager, signals.stop()).await? else {
        tracing::info!("stopped while waiting for the database");
        return Ok(());
    };
    if let Some(warning) = running.resolved.mail.warning() {
        tracing::warn!("{warning}");
    }
    for warning in running.resolved.tls_warnings() {
        tracing::warn!("{warning}");
    }
    let config = &running.resolved.config;
    for warning in config.stripe_warnings().into_iter().chain(config.ap2_warning()) {
        tracing::warn!("{warning}");
    }
    if running.app.is_public_sandbox() {
        tracing::warn!(
            "`payments.mode` is sandbox and this host is not local: anyone can publish without paying, up to \
             `limits.anonymous_per_hour` and `limits.anonymous_per_day`; set `payments.mode` to live or off to prevent this"
        );
    }
    if running.app.require_payments().is_ok_and(|payments| !payments.is_sandbox()) {
        tracing::info!("payments are live; receiving wallets must not be shared with another server");
    }
    for setting in missing_chains(&running.app) {
        tracing::warn!(
            setting,
            "payments are live, but this server cannot query the blockchain: the operator must decide payments with an \
             unknown outcome"
        );
    }
    // Otherwise the first publish would wait until the rules are compiled.
    let app = Arc::clone(&running.app);
    running.tasks.spawn(async move { app.build_rules().await });
    welcome::print(&running.resolved, running.first_key.as_deref(), running.first_link.as_deref());
    manager.ready();
    while signals.next().await == SignalAction::Reload {
        running.lists.reload().await;
        if let Some(certificates) = &running.certificates {
            certificates.reload_files().await;
        }
    }
    manager.stopping();
    let drain = Duration::from_secs(running.resolved.config.shutdown.drain_seconds);
    manager.extend(drain + PATIENCE + running.settling());
    running.begin_drain();
    if !drain.is_zero() {
        tracing::info!(seconds = drain.as_secs(), "draining; not ready, and still serving");
        tokio::select! {
            () = tokio::time::sleep(drain) => {}
            () = signals.stop() => tracing::info!("second signal received, the drain ends"),
        }
    }
    tracing::info!("stopping; waiting for requests in progress");
    running.stop().await;
    Ok(())
}

pub(crate) async fn wait_for_signal() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
    Ok(())
}

/// Each connection needs a file descriptor: raises the limit as far as the system allows.
fn raise_file_limit() {
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::debug!(%error, "open file limit not raised");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};
    use std::fs;
    use tempfile::TempDir;

    fn config(dir: &TempDir) -> Config {
        let data_dir = dir.path().display().to_string();
        let flags = [("listen", "127.0.0.1:0"), ("data_dir", data_dir.as_str())];
        let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        Layers::load(&Sources { flags, ..Sources::default() }).unwrap().config().unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_the_server_that_holds_the_lock_empties_the_spool() {
        let dir = TempDir::new().unwrap();
        let resolved = config(&dir).resolve(8080).unwrap();
        let spool = &resolved.settings.spool_dir;
        startup::make_private_dir(spool).unwrap();
        let upload = spool.join("upload");
        fs::write(&upload, "half of it").unwrap();
        // As the other commands do.
        tls::install_provider();
        startup::open_app(&resolved).await.unwrap().close().await;
        assert!(upload.exists(), "a command may run beside the server");
        let running = start(config(&dir)).await.unwrap();
        assert!(!upload.exists(), "left by a crash");
        fs::write(&upload, "half of it").unwrap();
        assert!(start(config(&dir)).await.is_err());
        assert!(upload.exists(), "a second server does not start");
        running.stop().await;
    }
}

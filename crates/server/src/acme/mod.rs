//! Obtains and renews certificates from a certificate authority (ACME, RFC 8555). One node at a time; what it obtains is in
//! the database, and every node serves it. When an order is due, and what is recorded, is in `app/certificates`.

mod account;
mod authority;
mod challenge_config;
mod challenges;
mod dns_hook;
mod dns_update;
mod failure;
mod issued;
mod order;
mod renewal_window;
mod rfc2136;

pub(crate) use challenge_config::{ALPN_PROTOCOL, challenge_config};

use crate::config::AcmeSettings;
use crate::metrics::Metrics;
use crate::tls::CertificateNames;
use anyhow::Result;
use authority::{AuthorityClient, with_retry_after};
use dropleaf_app::{App, OrderFailure};
use dropleaf_core::certificate::Certificate;
use failure::Failure;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use instant_acme::Account;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often due orders are looked for.
const EVERY: Duration = Duration::from_mins(1);
/// Orders placed and renewal times asked for in one pass, and concurrently.
const ORDERS_MOST: usize = 100;
const CHECKS_MOST: usize = 200;
const CONCURRENT: usize = 4;
/// After this many orders that the authority refused for its limits, all orders pause.
const RATE_LIMITED_MOST: usize = 3;
const RATE_LIMIT_PAUSE: i64 = 900;

/// Places orders in the background.
#[derive(Debug)]
pub(crate) struct Acme {
    app: Arc<App>,
    settings: AcmeSettings,
    authority: AuthorityClient,
    metrics: Arc<Metrics>,
    /// No orders until then, because the authority's limits are reached.
    paused_until: AtomicI64,
}

impl Acme {
    pub(crate) fn new(app: Arc<App>, settings: AcmeSettings, metrics: Arc<Metrics>) -> Result<Self> {
        let authority = AuthorityClient::new(settings.ca_file.as_deref())?;
        Ok(Self { app, settings, authority, metrics, paused_until: AtomicI64::new(0) })
    }

    /// Works until the server stops. An order under way is given up then and placed again after the restart.
    pub(crate) async fn run(self, stopping: CancellationToken) {
        while !stopping.is_cancelled() {
            if let Err(error) = self.pass(&stopping).await {
                tracing::warn!(error = format!("{error:#}"), "certificates not checked, will retry");
            }
            self.app.count_certificate_pass();
            let wake = tokio::time::timeout(EVERY, self.app.wait_for_certificate_work());
            stopping.run_until_cancelled(wake).await;
        }
    }

    /// Does what is due, unless another node is doing it.
    async fn pass(&self, stopping: &CancellationToken) -> Result<()> {
        let done = self.app.with_certificate_lease(self.work(stopping)).await?;
        let earliest = self.app.earliest_certificate_expiry().await?;
        self.metrics.set_certificate_expiry(earliest);
        done.unwrap_or(Ok(()))
    }

    async fn work(&self, stopping: &CancellationToken) -> Result<()> {
        // Unreadable files are reported by those who serve them.
        let covered = CertificateNames::of_file(&self.settings.cert_file).unwrap_or_default();
        let has_dns = self.settings.dns.is_some();
        self.app.update_wanted_certificates(has_dns, |name| covered.cover(name)).await?;
        self.place_orders(stopping).await?;
        self.check_windows(stopping).await?;
        self.app.warn_of_expiring_certificates().await?;
        Ok(())
    }

    async fn place_orders(&self, stopping: &CancellationToken) -> Result<()> {
        if self.app.now() < self.paused_until.load(Ordering::Relaxed) {
            return Ok(());
        }
        let due = self.app.list_due_certificates(ORDERS_MOST).await?;
        if due.is_empty() {
            return Ok(());
        }
        let account = self.account().await;
        let (account, limited) = (account.as_ref(), &AtomicUsize::new(0));
        let orders = due.into_iter().map(|due| {
            let order = async move {
                if stopping.is_cancelled() || limited.load(Ordering::Relaxed) >= RATE_LIMITED_MOST {
                    return;
                }
                if let Err(error) = self.place_order(account, &due, stopping, limited).await {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        name = due.name,
                        "certificate order not recorded"
                    );
                }
            };
            order.boxed()
        });
        run_all(orders.collect()).await;
        Ok(())
    }

    async fn place_order(
        &self,
        account: Result<&Account, &anyhow::Error>,
        due: &Certificate,
        stopping: &CancellationToken,
        limited: &AtomicUsize,
    ) -> Result<()> {
        if !self.app.begin_certificate_order(due).await? {
            return Ok(());
        }
        let account = match account {
            Ok(account) => account,
            Err(error) => {
                let text = format!("no account at the certificate authority: {error:#}");
                return self.fail(due, OrderFailure { text, retry_after: None, was_ordered: false }).await;
            }
        };
        if let Some(text) = self.app.check_points_here(&due.name).await {
            return self.fail(due, OrderFailure { text, retry_after: None, was_ordered: false }).await;
        }
        let (result, retry_after) = with_retry_after(self.obtain(account, due, stopping)).await;
        match result {
            Ok(new) => {
                self.app.record_certificate(&due.name, &new).await?;
                let (name, serial, not_after) = (&due.name, &new.serial, new.not_after);
                tracing::info!(name, serial, not_after, "certificate issued");
            }
            Err(Failure::Stopping) => self.app.abandon_certificate_order(&due.name).await?,
            Err(failure) => {
                if failure.is_unknown_account() {
                    // The next attempt creates another.
                    self.app.delete_acme_account(&self.settings.directory_url).await?;
                }
                if failure.is_rate_limit() && limited.fetch_add(1, Ordering::Relaxed) + 1 == RATE_LIMITED_MOST
                {
                    let pause = retry_after.unwrap_or_default().clamp(RATE_LIMIT_PAUSE, 86_400);
                    self.paused_until.store(self.app.now() + pause, Ordering::Relaxed);
                    tracing::warn!(
                        seconds = pause,
                        "limits of the certificate authority reached, orders pause"
                    );
                }
                self.fail(due, OrderFailure { text: failure.text(), retry_after, was_ordered: true }).await?;
            }
        }
        Ok(())
    }

    async fn fail(&self, due: &Certificate, failure: OrderFailure) -> Result<()> {
        self.metrics.certificate_failures.inc();
        let next_attempt_at = self.app.record_certificate_failure(due, &failure).await?;
        let (name, error, failures) = (&due.name, &failure.text, due.failures + 1);
        tracing::warn!(name, error, failures, next_attempt_at, "certificate order failed, will retry");
        Ok(())
    }

    async fn check_windows(&self, stopping: &CancellationToken) -> Result<()> {
        let due = self.app.list_due_window_checks(CHECKS_MOST).await?;
        if due.is_empty() || stopping.is_cancelled() {
            return Ok(());
        }
        let account = match self.account().await {
            Ok(account) => account,
            Err(error) => {
                tracing::info!(error = format!("{error:#}"), "renewal times not received");
                return self.postpone_window_checks(&due).await;
            }
        };
        let account = &account;
        let checks = due.into_iter().map(|about| {
            let check = async move {
                if let Err(error) = self.check_window(account, &about).await {
                    tracing::warn!(
                        error = format!("{error:#}"),
                        name = about.name,
                        "renewal time not recorded"
                    );
                }
            };
            check.boxed()
        });
        stopping.run_until_cancelled(run_all(checks.collect())).await;
        Ok(())
    }
}

/// Runs all, a few at a time.
async fn run_all(work: Vec<BoxFuture<'_, ()>>) {
    let mut rest = work.into_iter();
    let mut running: FuturesUnordered<_> = rest.by_ref().take(CONCURRENT).collect();
    while running.next().await.is_some() {
        running.extend(rest.next());
    }
}

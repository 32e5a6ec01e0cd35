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
use crate::tls::ServedCertificates;
use anyhow::Result;
use authority::{AuthorityClient, with_retry_after};
use dropleaf_app::{AddressCheck, App, NewCertificate, OrderFailure};
use dropleaf_core::certificate::Certificate;
use failure::{Failure, OWN_FAULT};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use instant_acme::{Account, ChallengeType};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often due orders are looked for.
const EVERY: Duration = Duration::from_mins(1);
/// Orders placed and renewal times asked for in one pass, and concurrently.
const ORDERS_MOST: usize = 100;
const CHECKS_MOST: usize = 200;
const CONCURRENT: usize = 4;
/// Due orders read at a time, so that one that becomes due does not wait for many that are less urgent.
const ORDERS_READ: usize = 8;
/// How often and after which pause an issued certificate is stored again if the database fails.
const RECORD_ATTEMPTS: u32 = 5;
const RECORD_PAUSE: Duration = Duration::from_secs(3);
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
    /// Knows the operator's files; nothing is ordered for the names that they cover.
    certificates: Arc<ServedCertificates>,
    /// Whether the stored certificates were checked for readability since the start.
    has_checked: AtomicBool,
    /// The kind of challenge that succeeded last.
    proven_kind: Mutex<Option<ChallengeType>>,
    /// Held while the DNS hook runs.
    hook_lock: Arc<tokio::sync::Mutex<()>>,
}

impl Acme {
    pub(crate) fn new(
        app: Arc<App>,
        settings: AcmeSettings,
        metrics: Arc<Metrics>,
        certificates: Arc<ServedCertificates>,
    ) -> Result<Self> {
        let authority = AuthorityClient::new(settings.ca_file.as_deref())?;
        Ok(Self {
            app,
            settings,
            authority,
            metrics,
            paused_until: AtomicI64::new(0),
            certificates,
            has_checked: AtomicBool::new(false),
            proven_kind: Mutex::default(),
            hook_lock: Arc::default(),
        })
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
        // Losing the lease ends orders like a stop of the server does, so that their answers are removed.
        let lost = stopping.child_token();
        let done = self.app.with_certificate_lease(self.work(&lost), || lost.cancel()).await?;
        let earliest = self.app.earliest_certificate_expiry().await?;
        let own = earliest.own.into_iter().chain(self.certificates.files_expiry()).min();
        self.metrics.set_certificate_expiry(own, earliest.custom_domains);
        done.unwrap_or(Ok(()))
    }

    async fn work(&self, stopping: &CancellationToken) -> Result<()> {
        // Before anything that can take long or fail.
        self.app.warn_of_failing_renewals().await?;
        if !self.has_checked.load(Ordering::Relaxed) {
            self.app.forget_unreadable_certificates().await?;
            self.has_checked.store(true, Ordering::Relaxed);
        }
        let has_dns = self.settings.dns.is_some();
        self.app.update_required_names(has_dns, |name| self.certificates.files_cover(name)).await?;
        let ordered = self.place_orders(stopping).await;
        let checked = self.check_windows(stopping).await;
        self.app.warn_of_expiring_certificates().await?;
        ordered.and(checked)
    }

    async fn place_orders(&self, stopping: &CancellationToken) -> Result<()> {
        if self.app.now() < self.paused_until.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut due = VecDeque::from(self.app.list_due_certificates(ORDERS_READ).await?);
        if due.is_empty() {
            return Ok(());
        }
        let account = self.account().await;
        let (account, limited) = (account.as_ref(), &AtomicUsize::new(0));
        let order = |due: Certificate| async move {
            if let Err(error) = Box::pin(self.place_order(account, &due, stopping, limited)).await {
                let error = format!("{error:#}");
                tracing::warn!(error, name = due.name, "certificate order not recorded");
            }
        };
        let (mut running, mut left, mut outcome) = (FuturesUnordered::new(), ORDERS_MOST, Ok(()));
        loop {
            let is_ended = || stopping.is_cancelled() || limited.load(Ordering::Relaxed) >= RATE_LIMITED_MOST;
            while running.len() < CONCURRENT && outcome.is_ok() && !is_ended() {
                match self.next_order(&mut due, &mut left).await {
                    Ok(Some(next)) => running.push(order(next)),
                    Ok(None) => break,
                    Err(error) => outcome = Err(error),
                }
            }
            // Orders under way are finished in any case: dropping one would leave its challenge answered.
            if running.next().await.is_none() {
                return outcome;
            }
        }
    }

    /// Reserves the most urgent order that no other node has reserved. `None` if there is none, or `left` is used up.
    async fn next_order(
        &self,
        due: &mut VecDeque<Certificate>,
        left: &mut usize,
    ) -> Result<Option<Certificate>> {
        while *left > 0 {
            if due.is_empty() {
                *due = self.app.list_due_certificates(ORDERS_READ).await?.into();
            }
            let Some(next) = due.pop_front() else { return Ok(None) };
            *left -= 1;
            if self.app.begin_certificate_order(&next).await? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    async fn place_order(
        &self,
        account: Result<&Account, &anyhow::Error>,
        due: &Certificate,
        stopping: &CancellationToken,
        limited: &AtomicUsize,
    ) -> Result<()> {
        let account = match account {
            Ok(account) => account,
            Err(error) => {
                let text = format!("no account at the certificate authority: {error:#}");
                return self.fail_before_order(due, text, OWN_FAULT.to_owned()).await;
            }
        };
        let is_proxied = match self.app.check_points_here(&due.name).await {
            AddressCheck::LeadsHere => false,
            AddressCheck::Proxied if self.settings.has_http => true,
            AddressCheck::Proxied => {
                let text =
                    "the name is proxied by Cloudflare; switch its record to \"DNS only\" (grey cloud)";
                return self.fail_before_order(due, text.to_owned(), text.to_owned()).await;
            }
            AddressCheck::Problem(text) => {
                return self.fail_before_order(due, text.clone(), text).await;
            }
        };
        let (result, retry_after) =
            with_retry_after(Box::pin(self.obtain(account, due, is_proxied, stopping))).await;
        match result {
            Ok(new) => {
                self.record(&due.name, &new).await?;
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
                let (text, owner_text) = (failure.text(), failure.owner_text(&due.name));
                self.fail(due, OrderFailure { text, owner_text, retry_after, was_ordered: true }).await?;
            }
        }
        Ok(())
    }

    /// Stores a certificate. Authorities limit how many they issue, so a short failure of the database must not lose it.
    async fn record(&self, name: &str, new: &NewCertificate) -> Result<()> {
        let mut attempt = 1;
        loop {
            match self.app.record_certificate(name, new).await {
                Err(error) if attempt < RECORD_ATTEMPTS => {
                    tracing::warn!(name, %error, "certificate not stored, will retry");
                    attempt += 1;
                    tokio::time::sleep(RECORD_PAUSE).await;
                }
                done => return Ok(done?),
            }
        }
    }

    async fn fail_before_order(&self, due: &Certificate, text: String, owner_text: String) -> Result<()> {
        self.fail(due, OrderFailure { text, owner_text, retry_after: None, was_ordered: false }).await
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

//! Puts pages before the operator that a signal after publishing points at, and before their viewers a warning if the operator
//! wants it. Changes note what may have reached a threshold; the sweep looks at it here, a bounded number at a time. The rules
//! are in `core::attention`.

use crate::app::App;
use crate::moderation::safety::requested_secret;
use crate::moderation::safety::stored_content::OnMissingBody;
use crate::publish::staging::Staged;
use dropleaf_core::attention::{Alert, Observation, RequestedSecret, Signal};
use dropleaf_core::report::{Reason, Report, ReportContent};
use dropleaf_core::site::{Site, State};
use dropleaf_core::{Error, Result, hex, network};
use dropleaf_store::attention::{self, AttentionCheck};
use dropleaf_store::{DbError, Stmt, reports, sites};
use std::collections::HashSet;
use std::net::IpAddr;

/// Checks in one sweep, and how long after a failure one is repeated.
const CHECKS: i64 = 25;
const RETRY_SECONDS: i64 = 300;
/// Copies of one document that are looked at.
const COPIES: i64 = 1000;
/// How many of them are put before the operator in one sweep, and altogether if their viewers are not warned.
const COPIES_RAISED: usize = 20;
/// How long a check is remembered at least, and for how long closed signals are searched for what they left behind; longer than
/// an upgrade takes.
const REMEMBERED_SECONDS: i64 = 2 * 86_400;
const WARNINGS: i64 = 100;

impl App {
    /// Whether this page is shown only after a warning.
    pub fn warns_before(&self, site: &Site) -> bool {
        self.settings.safety.attention.warns_before(site)
    }

    /// The network that sent a report about a page, as a keyed hash that differs from page to page. An IPv6 /48 is one network.
    pub(crate) fn hash_reporter(&self, site_id: &str, ip: Option<IpAddr>) -> Option<String> {
        ip.map(|ip| self.hash_client(&format!("{site_id}\0{}", network::wide_network(ip))))
    }

    /// A viewer's report about the page may be one of many.
    pub(crate) fn note_report(&self, site_id: &str) -> Option<Stmt> {
        let threshold = self.settings.safety.attention.threshold(Signal::ManyReports);
        threshold.map(|_| attention::note_report(site_id, self.now()))
    }

    /// Content published without an account may be one of many copies. After its bodies are counted.
    pub(crate) fn note_copy(&self, staged: &Staged) -> Option<Stmt> {
        let threshold = self.settings.safety.attention.threshold(Signal::ManyCopies)?;
        let document = staged.document.as_ref()?;
        Some(attention::note_copy(document, hex::encode(document), threshold, self.now()))
    }

    /// A young page without an account was viewed. After its views are counted.
    pub(crate) fn note_views(&self, site_id: &str) -> Option<Stmt> {
        let (rules, now) = (self.settings.safety.attention, self.now());
        let threshold = rules.threshold(Signal::ManyViews)?;
        Some(attention::note_views(site_id, threshold, rules.views_since(now), now))
    }

    /// Looks at what was noted. Returns how many pages were put before the operator.
    pub(crate) async fn check_attention(&self) -> Result<usize> {
        self.end_outdated_warnings().await?;
        let mut fired = 0;
        for check in self.store.list_attention_checks(self.now(), CHECKS).await? {
            let done = match self.run_check(&check).await {
                Ok(count) => {
                    fired += count;
                    attention::finish(&check, self.now())
                }
                Err(error) => {
                    tracing::warn!(%error, signal = check.signal.as_str(), "attention check failed, will retry");
                    attention::postpone(&check, self.now() + RETRY_SECONDS)
                }
            };
            self.store.commit(vec![done]).await?;
        }
        let since = self.now() - REMEMBERED_SECONDS;
        let old = since.min(self.settings.safety.attention.views_since(self.now()));
        self.store.commit(vec![attention::delete_old(old), reports::forget_networks(since)]).await?;
        Ok(fired)
    }

    async fn run_check(&self, check: &AttentionCheck) -> Result<usize> {
        if check.signal == Signal::ManyCopies {
            return self.check_copies(check).await;
        }
        let Some(site) = self.find_live_site(&check.subject).await? else { return Ok(0) };
        let rules = self.settings.safety.attention;
        let seen = match check.signal {
            Signal::ManyViews if rules.watches_views(&site, check.noted_at) => {
                Observation::Views { at: check.noted_at, secret: self.find_requested_secret(&site).await? }
            }
            Signal::ManyReports => {
                Observation::Reports { networks: self.store.count_report_networks(&site.id).await? }
            }
            Signal::ManyViews | Signal::ManyCopies => return Ok(0),
        };
        match rules.evaluate(&site, seen) {
            Some(alert) => Ok(usize::from(self.raise(&site, alert).await?)),
            None => Ok(0),
        }
    }

    /// Each copy is put before the operator by itself, because each has to be taken down by itself. Beyond a number, they add
    /// nothing to the queue: the page of a case lists pages with the same document.
    async fn check_copies(&self, check: &AttentionCheck) -> Result<usize> {
        let document = hex::decode(&check.subject).and_then(|hash| <[u8; 32]>::try_from(hash).ok());
        let document = document.ok_or_else(|| Error::internal("attention check without a document"))?;
        let copies = self.store.list_anonymous_copies(&document, COPIES).await?;
        let networks: HashSet<&str> = copies.iter().map(|copy| copy.network.as_str()).collect();
        let networks = i64::try_from(networks.len()).unwrap_or(i64::MAX);
        let rules = self.settings.safety.attention;
        let (raised, others): (Vec<_>, Vec<_>) = copies.iter().partition(|copy| copy.is_raised);
        let most = if rules.warns() { COPIES_RAISED } else { COPIES_RAISED.saturating_sub(raised.len()) };
        let mut fired = 0;
        for copy in others {
            if fired >= most {
                if rules.warns() {
                    self.store.commit(vec![attention::note_again(check, self.now())]).await?;
                }
                break;
            }
            let Some(site) = self.find_live_site(&copy.site_id).await? else { continue };
            let Some(alert) = rules.evaluate(&site, Observation::Copies { networks }) else { continue };
            fired += usize::from(self.raise(&site, alert).await?);
        }
        Ok(fired)
    }

    async fn find_live_site(&self, id: &str) -> Result<Option<Site>> {
        let site = self.store.find_site(id).await?;
        Ok(site.filter(|site| site.state_at(self.now()) == State::Live))
    }

    /// What the page asks its viewers for, by its stored content.
    async fn find_requested_secret(&self, site: &Site) -> Result<Option<RequestedSecret>> {
        let Some(bundle_id) = site.bundle_id.as_ref().filter(|_| !site.e2e) else { return Ok(None) };
        let rules = self.settings.safety.rules.clone();
        let find = move |bundle| requested_secret::find(&bundle, &rules);
        self.with_stored(bundle_id, OnMissingBody::Empty, find).await
    }

    /// Puts the page before the operator. Returns false if this signal did so before for the same version, or if the page has
    /// ended.
    async fn raise(&self, site: &Site, alert: Alert) -> Result<bool> {
        let now = self.now();
        let signal = alert.signal;
        let report = Report {
            id: self.minter.ordered_id("rep", now),
            site_id: site.id.clone(),
            content: ReportContent { reason: Reason::Phishing, comment: Some(alert.detail), contact: None },
            version: Some(site.version),
            created_at: now,
            closed: None,
            signal: Some(signal),
        };
        let mut stmts = vec![sites::lock_live(&site.id), reports::insert_signal(&report)];
        let warns = self.settings.safety.attention.warns();
        if warns {
            stmts.push(attention::warn(&site.id, now));
        }
        let outcome = if warns {
            self.commit_site(stmts, Some(site), site).await
        } else {
            self.store.commit(stmts).await.map(|_| ())
        };
        match outcome {
            Ok(()) => {
                tracing::info!(site = site.id, signal = signal.as_str(), warns, "page needs attention");
                Ok(true)
            }
            Err(DbError::Guard(reports::FIRED | sites::CHANGED)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The statements by which the dismissal of the reports about a page also dismisses later copies of its content, if that
    /// was the signal.
    pub(crate) async fn dismiss_copies_stmts(&self, site: &Site) -> Result<Vec<Stmt>> {
        let mut stmts = Vec::new();
        let open = self.store.list_open_signals(&site.id).await?;
        let copied = open.iter().filter(|report| report.signal == Some(Signal::ManyCopies));
        let copied: Vec<i64> = copied.filter_map(|report| report.version).collect();
        if copied.is_empty() {
            return Ok(stmts);
        }
        let versions = self.store.list_versions(&site.id).await?;
        for version in versions.iter().filter(|version| copied.contains(&version.version)) {
            let Some(bundle) = self.store.find_bundle(&version.bundle_id).await? else { continue };
            if let Some(document) = bundle.files.iter().find(|file| file.path == bundle.entry) {
                stmts.push(attention::dismiss_copies(hex::encode(&document.blob_hash), self.now()));
            }
        }
        Ok(stmts)
    }

    /// Ends the warning before a page whose signals were closed. Viewers on this node see it at once.
    pub(crate) async fn end_warning(&self, site: &Site) -> Result<()> {
        Ok(self.commit_site(vec![attention::end_warning(&site.id)], Some(site), site).await?)
    }

    /// Ends warnings that outlived their signals: the process stopped in between, or a node of the previous version, which
    /// knows no warnings, closed them.
    async fn end_outdated_warnings(&self) -> Result<()> {
        let since = self.now() - REMEMBERED_SECONDS;
        for site in self.store.list_closed_with_warning(since, WARNINGS).await? {
            self.end_warning(&site).await?;
        }
        Ok(())
    }
}

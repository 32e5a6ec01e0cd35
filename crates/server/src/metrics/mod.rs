//! Prometheus metrics, counted with plain atomics and served on a separate listener. Figures that have to be looked up, such
//! as free disk space, are refreshed in the background.

mod database;
mod latency;
#[cfg(test)]
mod monitoring_tests;
mod optional;
mod refresh;

pub(crate) use refresh::refresh;

use optional::OptionalGauge;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Metric, Registry};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Surface {
    Api,
    Page,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    surface: Surface,
    status: u16,
}

/// One label, for a metric whose lines come and go.
type OneLabel = [(&'static str, &'static str); 1];

/// Responses are counted by surface and status; the two most frequent ones without a lock.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    responses: Family<Labels, Counter>,
    latency: latency::Latency,
    page_ok: Counter,
    page_unchanged: Counter,
    pub connections: Gauge,
    pub connections_refused: Counter,
    /// Open streams of live pages, and those refused because there are too many.
    pub live_streams: Gauge,
    pub live_streams_refused: Counter,
    /// Views answered from the last known row, because the database did not answer.
    pub stale_views: Counter,
    pub tls_refused: Counter,
    /// Empty while there is no certificate.
    certificate_expiry: Family<OneLabel, Gauge>,
    pub certificate_failures: Counter,
    pub swept_pages: Counter,
    pub swept_bodies: Counter,
    /// Pages that a signal put before the operator.
    pub raised_pages: Counter,
    swept_at: OptionalGauge,
    emails: Family<OneLabel, Counter>,
    emails_waiting: Gauge,
    webhooks: Family<OneLabel, Counter>,
    webhooks_waiting: Gauge,
    database: database::DatabaseGauges,
    payments_open: Gauge,
    payments_unknown: Gauge,
    ledger_faults: OptionalGauge,
    ledger_audited_at: OptionalGauge,
    disk_free: OptionalGauge,
    disk_size: OptionalGauge,
    last_backup: OptionalGauge,
    backup_interval: OptionalGauge,
    pub backup_failures: Counter,
}

/// Registers a metric and returns a handle to it.
fn add<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("dropleaf");
        let of = &mut registry;
        let responses: Family<Labels, Counter> = add(of, "responses", "Responses by surface and status");
        let connections = add(of, "connections", "Open connections");
        let help = "Connections refused because their network reached its limit";
        let connections_refused = add(of, "connections_refused", help);
        let live_streams = add(of, "live_streams", "Open streams of live pages");
        let help = "Streams of live pages refused because there are too many";
        let live_streams_refused = add(of, "live_streams_refused", help);
        let help = "Views answered from the last known row of a page, because the database did not answer";
        let stale_views = add(of, "stale_views", help);
        let help = "TLS handshakes refused because the server has no certificate for the name";
        let tls_refused = add(of, "tls_handshakes_refused", help);
        let help = "When the first certificate expires, of the server's own names and of custom domains";
        let certificate_expiry = add(of, "certificate_expiry_timestamp_seconds", help);
        let certificate_failures = add(of, "certificate_failures", "Orders of certificates that failed");
        let swept_pages = add(of, "swept_pages", "Pages expired or erased by the sweep");
        let swept_bodies = add(of, "swept_bodies", "Bodies collected by the sweep");
        let raised_pages = add(of, "raised_pages", "Pages that a signal put before the operator");
        let help = "When a sweep last succeeded, on this node or by leaving it to another";
        let swept_at = add(of, "sweep_last_success_timestamp_seconds", help);
        let help = "Emails by outcome: sent (or written to the outbox), failed, dropped because too many were waiting";
        let emails = add(of, "emails", help);
        let emails_waiting = add(of, "emails_waiting", "Emails that are being sent or wait for it");
        let help = "Webhook attempts by outcome: delivered, failed; and deliveries that were given up: dead";
        let webhooks = add(of, "webhooks", help);
        let webhooks_waiting = add(of, "webhooks_waiting", "Webhook deliveries that wait, on all nodes");
        let database = database::DatabaseGauges::new(of);
        let payments_open = add(of, "payments_open", "Payments that are not decided yet, counted up to 1000");
        let help =
            "Payments whose outcome is unknown and that an operator may have to decide, counted up to 1000";
        let payments_unknown = add(of, "payments_unknown", help);
        let ledger_faults = add(of, "ledger_faults", "Faults that the last audit of the ledger found");
        let help = "When the ledger was last audited, whatever the audit found";
        let ledger_audited_at = add(of, "ledger_audit_timestamp_seconds", help);
        let help = "Space that the server can still use where the data folder is";
        let disk_free = add(of, "disk_free_bytes", help);
        let disk_size = add(of, "disk_size_bytes", "Size of the file system where the data folder is");
        let help = "When the last verified backup was taken";
        let last_backup = add(of, "backup_last_success_timestamp_seconds", help);
        let help = "Time between scheduled backups; absent without a schedule";
        let backup_interval = add(of, "backup_interval_seconds", help);
        let backup_failures = add(of, "backup_failures", "Scheduled backups that failed");
        let latency = latency::Latency::default();
        registry.register_collector(Box::new(latency.clone()));
        let page = |status| responses.get_or_create(&Labels { surface: Surface::Page, status }).clone();
        let (page_ok, page_unchanged) = (page(200), page(304));
        Self {
            registry,
            responses,
            latency,
            page_ok,
            page_unchanged,
            connections,
            connections_refused,
            live_streams,
            live_streams_refused,
            stale_views,
            tls_refused,
            certificate_expiry,
            certificate_failures,
            swept_pages,
            swept_bodies,
            raised_pages,
            swept_at,
            emails,
            emails_waiting,
            webhooks,
            webhooks_waiting,
            database,
            payments_open,
            payments_unknown,
            ledger_faults,
            ledger_audited_at,
            disk_free,
            disk_size,
            last_backup,
            backup_interval,
            backup_failures,
        }
    }
}

impl Metrics {
    /// Counts one response and its time. The two that make up nearly all page traffic skip the table.
    pub fn count(&self, surface: Surface, status: u16, took: Duration) {
        self.latency.observe(surface, took);
        match (surface, status) {
            (Surface::Page, 200) => self.page_ok.inc(),
            (Surface::Page, 304) => self.page_unchanged.inc(),
            _ => self.responses.get_or_create(&Labels { surface, status }).inc(),
        };
    }

    /// Sets when the first certificates expire; without one the metric is absent.
    pub fn set_certificate_expiry(&self, own: Option<i64>, custom_domains: Option<i64>) {
        for (names, at) in [("own", own), ("custom_domains", custom_domains)] {
            let labels = [("names", names)];
            match at {
                Some(at) => drop(self.certificate_expiry.get_or_create(&labels).set(at)),
                None => drop(self.certificate_expiry.remove(&labels)),
            }
        }
    }

    /// Sets when the last backup was taken; without one the metric is absent.
    pub fn set_last_backup(&self, at: Option<i64>) {
        match at {
            Some(at) => self.last_backup.set(at),
            None => self.last_backup.clear(),
        }
    }

    /// Sets the time between scheduled backups.
    pub fn set_backup_interval(&self, seconds: i64) {
        self.backup_interval.set(seconds);
    }

    /// Records that a sweep succeeded.
    pub fn set_swept(&self, now: i64) {
        self.swept_at.set(now);
    }

    /// Records the outcome of an audit of the ledger.
    pub fn set_ledger_audit(&self, faults: usize, now: i64) {
        self.ledger_faults.set(i64::try_from(faults).unwrap_or(i64::MAX));
        self.ledger_audited_at.set(now);
    }

    fn set_emails(&self, counts: dropleaf_app::MailCounts) {
        let dropleaf_app::MailCounts { sent, failed, dropped, waiting } = counts;
        for (outcome, count) in [("sent", sent), ("failed", failed), ("dropped", dropped)] {
            let counter = self.emails.get_or_create(&[("outcome", outcome)]);
            counter.inner().store(count, Ordering::Relaxed);
        }
        self.emails_waiting.set(waiting);
    }

    fn set_webhooks(&self, counts: dropleaf_app::WebhookCounts) {
        let dropleaf_app::WebhookCounts { delivered, failed, dead } = counts;
        for (outcome, count) in [("delivered", delivered), ("failed", failed), ("dead", dead)] {
            let counter = self.webhooks.get_or_create(&[("outcome", outcome)]);
            counter.inner().store(count, Ordering::Relaxed);
        }
    }

    /// Sets the free space and the size of the disk; without them the metrics are absent.
    fn set_disk(&self, space: Option<(u64, u64)>) {
        let gauges = [&self.disk_free, &self.disk_size];
        let Some((free, size)) = space else {
            return gauges.iter().for_each(|gauge| gauge.clear());
        };
        for (gauge, bytes) in gauges.into_iter().zip([free, size]) {
            gauge.set(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_times_are_counted_in_buckets() {
        let metrics = Metrics::default();
        for (surface, millis) in
            [(Surface::Page, 1), (Surface::Page, 2), (Surface::Page, 60_000), (Surface::Api, 30)]
        {
            metrics.count(surface, 200, Duration::from_millis(millis));
        }
        let text = metrics.render();
        for line in [
            "dropleaf_response_seconds_bucket{le=\"0.001\",surface=\"Page\"} 1",
            "dropleaf_response_seconds_bucket{le=\"0.0025\",surface=\"Page\"} 2",
            "dropleaf_response_seconds_bucket{le=\"10.0\",surface=\"Page\"} 2",
            "dropleaf_response_seconds_bucket{le=\"+Inf\",surface=\"Page\"} 3",
            "dropleaf_response_seconds_count{surface=\"Page\"} 3",
            "dropleaf_response_seconds_sum{surface=\"Page\"} 60.003",
            "dropleaf_response_seconds_bucket{le=\"0.025\",surface=\"Api\"} 0",
            "dropleaf_response_seconds_bucket{le=\"0.05\",surface=\"Api\"} 1",
            "dropleaf_response_seconds_count{surface=\"Other\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_absent_instead_of_zero() {
        let metrics = Metrics::default();
        let names = ["disk_free_bytes", "ledger_faults", "sweep_last_success_timestamp_seconds"];
        let has =
            |name: &str| metrics.render().lines().any(|line| line.starts_with(&format!("dropleaf_{name} ")));
        assert!(!names.iter().any(|name| has(name)));
        metrics.set_disk(Some((5, 10)));
        metrics.set_ledger_audit(0, 7);
        metrics.set_swept(7);
        assert!(names.iter().all(|name| has(name)), "{}", metrics.render());
        metrics.set_disk(None);
        assert!(!has("disk_free_bytes"));
    }

    #[test]
    fn the_last_backup_is_shown_only_if_there_is_one() {
        let metrics = Metrics::default();
        assert!(!metrics.render().contains("backup_last_success"));
        assert!(metrics.render().contains("\ndropleaf_backup_failures_total 0\n"));
        assert!(!metrics.render().contains("backup_interval"), "nothing is scheduled");
        metrics.set_backup_interval(21_600);
        assert!(metrics.render().contains("\ndropleaf_backup_interval_seconds 21600\n"));
        metrics.set_last_backup(Some(1_800_000_000));
        let text = metrics.render();
        assert!(text.contains("\ndropleaf_backup_last_success_timestamp_seconds 1800000000\n"), "{text}");
        metrics.set_last_backup(None);
        assert!(!metrics.render().contains("backup_last_success"));
    }

    #[test]
    fn the_expiry_is_shown_only_while_there_is_a_certificate() {
        let metrics = Metrics::default();
        let name = "dropleaf_certificate_expiry_timestamp_seconds";
        let value = |metrics: &Metrics| {
            metrics.render().lines().find_map(|line| {
                Some(line.strip_prefix(name)?.strip_prefix("{names=\"own\"}")?.trim().to_owned())
            })
        };
        assert_eq!(value(&metrics), None);
        metrics.set_certificate_expiry(Some(1_800_000_000), Some(1));
        assert_eq!(value(&metrics).as_deref(), Some("1800000000"));
        metrics.set_certificate_expiry(None, Some(1));
        assert_eq!(value(&metrics), None);
    }
}

//! Prometheus metrics, counted with plain atomics and served on a separate listener. Figures that have to be looked up, such
//! as free disk space, are refreshed in the background.

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
use prometheus_client::registry::Registry;
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
    pub tls_refused: Counter,
    /// Empty while there is no certificate.
    certificate_expiry: Family<OneLabel, Gauge>,
    pub certificate_failures: Counter,
    pub swept_pages: Counter,
    pub swept_bodies: Counter,
    swept_at: OptionalGauge,
    emails: Family<OneLabel, Counter>,
    emails_waiting: Gauge,
    payments_open: Gauge,
    payments_unknown: Gauge,
    ledger_faults: OptionalGauge,
    ledger_audited_at: OptionalGauge,
    disk_free: OptionalGauge,
    disk_size: OptionalGauge,
    last_backup: OptionalGauge,
    pub backup_failures: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("dropleaf");
        let responses = Family::<Labels, Counter>::default();
        registry.register("responses", "Responses by surface and status", responses.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let connections_refused = Counter::default();
        registry.register(
            "connections_refused",
            "Connections refused because their network reached its limit",
            connections_refused.clone(),
        );
        let tls_refused = Counter::default();
        registry.register(
            "tls_handshakes_refused",
            "TLS handshakes refused because the server has no certificate for the name",
            tls_refused.clone(),
        );
        let certificate_expiry = Family::<OneLabel, Gauge>::default();
        registry.register(
            "certificate_expiry_timestamp_seconds",
            "When the first certificate expires, of the server's own names and of custom domains",
            certificate_expiry.clone(),
        );
        let certificate_failures = Counter::default();
        registry.register(
            "certificate_failures",
            "Orders of certificates that failed",
            certificate_failures.clone(),
        );
        let swept_pages = Counter::default();
        registry.register("swept_pages", "Pages expired or erased by the sweep", swept_pages.clone());
        let swept_bodies = Counter::default();
        registry.register("swept_bodies", "Bodies collected by the sweep", swept_bodies.clone());
        let latency = latency::Latency::default();
        registry.register_collector(Box::new(latency.clone()));
        let optional = |registry: &mut Registry, name: &str, help: &str| {
            let gauge = OptionalGauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let swept_at = optional(
            &mut registry,
            "sweep_last_success_timestamp_seconds",
            "When a sweep last succeeded, on this node or by leaving it to another",
        );
        let emails = Family::<OneLabel, Counter>::default();
        registry.register(
            "emails",
            "Emails by outcome: sent (or written to the outbox), failed, dropped because too many were waiting",
            emails.clone(),
        );
        let emails_waiting = Gauge::default();
        registry.register(
            "emails_waiting",
            "Emails that are being sent or wait for it",
            emails_waiting.clone(),
        );
        let payments_open = Gauge::default();
        registry.register(
            "payments_open",
            "Payments that are not decided yet, counted up to 1000",
            payments_open.clone(),
        );
        let payments_unknown = Gauge::default();
        registry.register(
            "payments_unknown",
            "Payments whose outcome is unknown and that an operator may have to decide, counted up to 1000",
            payments_unknown.clone(),
        );
        let ledger_faults =
            optional(&mut registry, "ledger_faults", "Faults that the last audit of the ledger found");
        let ledger_audited_at = optional(
            &mut registry,
            "ledger_audit_timestamp_seconds",
            "When the ledger was last audited, whatever the audit found",
        );
        let disk_free = optional(
            &mut registry,
            "disk_free_bytes",
            "Space that the server can still use where the data folder is",
        );
        let disk_size =
            optional(&mut registry, "disk_size_bytes", "Size of the file system where the data folder is");
        let last_backup = optional(
            &mut registry,
            "backup_last_success_timestamp_seconds",
            "When the last verified backup was taken",
        );
        let backup_failures = Counter::default();
        registry.register("backup_failures", "Scheduled backups that failed", backup_failures.clone());
        let of = |status| responses.get_or_create(&Labels { surface: Surface::Page, status }).clone();
        let (page_ok, page_unchanged) = (of(200), of(304));
        Self {
            registry,
            responses,
            latency,
            page_ok,
            page_unchanged,
            connections,
            connections_refused,
            tls_refused,
            certificate_expiry,
            certificate_failures,
            swept_pages,
            swept_bodies,
            swept_at,
            emails,
            emails_waiting,
            payments_open,
            payments_unknown,
            ledger_faults,
            ledger_audited_at,
            disk_free,
            disk_size,
            last_backup,
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
            "dropleaf_response_seconds_bucket{surface=\"Page\",le=\"0.001\"} 1",
            "dropleaf_response_seconds_bucket{surface=\"Page\",le=\"0.0025\"} 2",
            "dropleaf_response_seconds_bucket{surface=\"Page\",le=\"10.0\"} 2",
            "dropleaf_response_seconds_bucket{surface=\"Page\",le=\"+Inf\"} 3",
            "dropleaf_response_seconds_count{surface=\"Page\"} 3",
            "dropleaf_response_seconds_sum{surface=\"Page\"} 60.003",
            "dropleaf_response_seconds_bucket{surface=\"Api\",le=\"0.025\"} 0",
            "dropleaf_response_seconds_bucket{surface=\"Api\",le=\"0.05\"} 1",
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

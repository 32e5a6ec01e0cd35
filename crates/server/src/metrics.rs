//! Prometheus metrics, counted with plain atomics and served on a separate listener.

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

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

/// For a metric that can be absent.
type ExpiryLabels = [(&'static str, &'static str); 1];

/// Responses are counted by surface and status; the two most frequent ones without a lock.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    responses: Family<Labels, Counter>,
    page_ok: Counter,
    page_unchanged: Counter,
    pub connections: Gauge,
    pub connections_refused: Counter,
    pub tls_refused: Counter,
    /// Empty while there is no certificate.
    certificate_expiry: Family<ExpiryLabels, Gauge>,
    pub certificate_failures: Counter,
    pub swept_pages: Counter,
    pub swept_bodies: Counter,
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
        let certificate_expiry = Family::<ExpiryLabels, Gauge>::default();
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
        let of = |status| responses.get_or_create(&Labels { surface: Surface::Page, status }).clone();
        let (page_ok, page_unchanged) = (of(200), of(304));
        Self {
            registry,
            responses,
            page_ok,
            page_unchanged,
            connections,
            connections_refused,
            tls_refused,
            certificate_expiry,
            certificate_failures,
            swept_pages,
            swept_bodies,
        }
    }
}

impl Metrics {
    /// Counts one response. The two that make up nearly all page traffic skip the table.
    pub fn count(&self, surface: Surface, status: u16) {
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

//! Compares the Grafana dashboard, the alert rules and the documentation with the metrics that the server exports.

use super::{Metrics, Surface};
use dropleaf_app::MailCounts;
use dropleaf_store::{LockWaits, PoolUse};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `/metrics` shows once everything has a value.
fn exported() -> String {
    let metrics = Metrics::default();
    for surface in [Surface::Api, Surface::Page, Surface::Other] {
        for status in [200, 404, 500, 507] {
            metrics.count(surface, status, Duration::from_millis(3));
        }
    }
    metrics.set_certificate_expiry(Some(1), Some(1));
    metrics.set_emails(MailCounts { sent: 1, failed: 1, dropped: 1, waiting: 1 });
    metrics.set_webhooks(dropleaf_app::WebhookCounts { delivered: 1, failed: 1, dead: 1 });
    let pool = |work| PoolUse { work, open: 2, idle: 1, waiting: 1, limit: 6 };
    metrics.database.set_connections(&["lookup", "list", "write", "ping"].map(pool));
    metrics.database.set_account_writes_waiting(1);
    metrics.database.set_lock_waits(LockWaits { count: 1, longest: Duration::from_secs(1) });
    metrics.database.set_replicas(&[Some(true), Some(false)]);
    metrics.set_swept(1);
    metrics.set_ledger_audit(0, 1);
    metrics.set_disk(Some((1, 2)));
    metrics.set_last_backup(Some(1));
    metrics.set_backup_interval(1);
    metrics.render()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Every metric in a text, with what follows its name.
fn named(text: &str) -> Vec<(&str, &str)> {
    text.match_indices("dropleaf_")
        .map(|(at, _)| {
            let rest = &text[at..];
            rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()))
        })
        .collect()
}

/// The names of the lines of `/metrics`.
fn names(exported: &str) -> BTreeSet<&str> {
    let lines = exported.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(|c| !is_name(c)).next().unwrap()).collect()
}

#[test]
fn every_metric_and_label_in_the_alerts_and_the_dashboard_is_exported() {
    let exported = exported();
    let known = names(&exported);
    for name in
        ["deploy/prometheus/alerts.yml", "deploy/prometheus/alerts_test.yml", "deploy/grafana/dropleaf.json"]
    {
        // In JSON, quotes inside a query are escaped.
        let text = file(name).replace("\\\"", "\"");
        let found = named(&text);
        assert!(found.len() > 20, "{name}");
        for (metric, rest) in found {
            assert!(known.contains(metric), "{name} names {metric}, which the server does not export");
            // The labels that are compared with one value; Prometheus itself adds job and instance.
            let selector = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or_default();
            for (label, value) in selector.split(',').filter_map(|pair| pair.split_once("=\"")) {
                if ["job", "instance", "le", "status"].contains(&label) || label.ends_with('!') {
                    continue;
                }
                let line = format!("{label}=\"{value}");
                let is_there =
                    |found: &str| found.starts_with(&format!("{metric}{{")) && found.contains(&line);
                assert!(exported.lines().any(is_there), "{name}: {metric} never has {line}");
            }
        }
    }
}

#[test]
fn every_exported_metric_is_documented() {
    let docs = file("docs/monitoring.md");
    let exported = exported();
    for line in exported.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(docs.contains(&format!("`{name}")), "docs/monitoring.md does not mention {name}");
    }
    let known = names(&exported);
    for (metric, _) in named(&docs) {
        let is_histogram = known.contains(format!("{metric}_bucket").as_str());
        assert!(known.contains(metric) || is_histogram, "docs/monitoring.md names {metric}");
    }
}

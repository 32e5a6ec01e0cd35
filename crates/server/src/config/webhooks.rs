//! The settings of `[webhooks]`: limits of what is sent to owners' programs.

use super::Config;
use anyhow::{Result, ensure};
use dropleaf_app::WebhookSettings;

/// An attempt must end well before its lease.
const LONGEST_TIMEOUT: u64 = 60;

impl Config {
    pub(super) fn webhooks(&self) -> Result<WebhookSettings> {
        let set = &self.webhooks;
        for (name, value) in [
            ("endpoints", set.endpoints),
            ("waiting", set.waiting),
            ("kept_days", set.kept_days),
            ("expiring_days", set.expiring_days),
        ] {
            ensure!(value > 0, "`webhooks.{name}` must be more than 0");
        }
        ensure!(set.parallel > 0, "`webhooks.parallel` must be more than 0");
        ensure!(
            (1..=LONGEST_TIMEOUT).contains(&set.timeout_seconds),
            "`webhooks.timeout_seconds` must be 1 to {LONGEST_TIMEOUT}"
        );
        Ok(WebhookSettings {
            endpoints: set.endpoints,
            waiting: set.waiting,
            kept: set.kept_days.saturating_mul(86_400),
            parallel: set.parallel,
            expiring: set.expiring_days.saturating_mul(86_400),
            allow_loopback: set.allow_loopback,
        })
    }
}

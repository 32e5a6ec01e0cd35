//! The settings of `[webhooks]`: limits of what is sent to owners' programs.

use super::Config;
use anyhow::{Result, ensure};
use dropleaf_app::WebhookSettings;
use dropleaf_core::webhook::MOST_ENDPOINTS;

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
        ensure!(set.endpoints <= MOST_ENDPOINTS, "`webhooks.endpoints` must be at most {MOST_ENDPOINTS}");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    fn endpoints(value: &str) -> Result<i64> {
        let flags = vec![("webhooks.endpoints".to_owned(), value.to_owned())];
        let config = Layers::load(&Sources { flags, ..Sources::default() })?.config()?;
        Ok(config.webhooks()?.endpoints)
    }

    #[test]
    fn an_account_has_at_least_one_and_at_most_100_webhooks() {
        assert_eq!((endpoints("1").unwrap(), endpoints("100").unwrap()), (1, 100));
        assert!(endpoints("0").is_err());
        let refused = endpoints("101").unwrap_err().to_string();
        assert_eq!(refused, "`webhooks.endpoints` must be at most 100");
    }
}

//! The settings of an application in tests.

use dropleaf_app::{Rates, Retention, Settings};
use dropleaf_content::Limits;
use dropleaf_core::plan::{Plan, Plans};
use dropleaf_core::rate::Rate;
use std::path::Path;
use std::time::Duration;

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// Live pages that an account may have.
pub(crate) const PLACES: usize = 4;
pub(crate) const VERSIONS_KEPT: usize = 3;

/// Small limits for what an account may have, and no limits on requests. Nothing is sold.
pub(crate) fn settings(spool_dir: &Path) -> Settings {
    let plenty = |name| Rate { name, limit: i64::MAX / 2, window_seconds: 60 };
    Settings {
        plans: Plans::new([Plan {
            name: "small".into(),
            active_pages: i64::try_from(PLACES).ok(),
            longest_life_seconds: None,
            publishes_a_day: None,
            executables: true,
            custom_domains: true,
        }]),
        default_plan: "small".into(),
        sign_up: dropleaf_core::sign_up::SignUp::Open,
        content: Limits::default(),
        safety: dropleaf_app::SafetySettings::default(),
        notified: dropleaf_app::NotificationRecipients::default(),
        rates: Rates {
            anonymous_hour: plenty("anonymous_hour"),
            anonymous_day: plenty("anonymous_day"),
            anonymous_attempts: plenty("anonymous_attempts"),
            paid_attempts: plenty("paid_attempts"),
            checks_minute: plenty("checks_minute"),
            appeals_day: plenty("appeals_day"),
            domain_checks_hour: plenty("domain_checks_hour"),
            key_minute: plenty("key_minute"),
            account_minute: plenty("account_minute"),
            gate_site_minute: plenty("gate_site_minute"),
            password_hashes: plenty("password_hashes"),
            code_address_hour: plenty("code_address_hour"),
            code_site_hour: plenty("code_site_hour"),
            sign_in_address_hour: plenty("sign_in_address_hour"),
            sign_in_client_hour: plenty("sign_in_client_hour"),
            code_client_hour: plenty("code_client_hour"),
        },
        retention: Retention {
            restore: 30 * DAY,
            unowned: DAY,
            slug_hold: 90 * DAY,
            tombstone: 365 * DAY,
            orphan: HOUR,
            evidence: 90 * 86_400,
            open_appeal: 30 * DAY,
            idempotency: DAY,
        },
        appeals_bytes: 1 << 30,
        anonymous_usage: dropleaf_app::UsageLimits { server_bytes: 1 << 40, network_bytes: 1 << 40 },
        unused_clients: 1000,
        exempt: Vec::new(),
        spool_dir: spool_dir.to_owned(),
        versions_kept: i64::try_from(VERSIONS_KEPT).unwrap(),
        count_views: true,
        cache_bytes: 1 << 20,
        stale_limit: Duration::ZERO,
        tolerates_lost_refresh: false,
        parallel_uploads: 1,
        domains_per_account: 5,
        webhooks: dropleaf_app::WebhookSettings {
            endpoints: 3,
            waiting: 20,
            kept: 30 * DAY,
            parallel: 8,
            expiring: 3 * DAY,
            allow_loopback: true,
        },
        payments: None,
        tls_mode: dropleaf_app::TlsMode::Off,
        backups: None,
    }
}

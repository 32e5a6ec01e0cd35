//! The settings as types, one field for each key of the defaults file.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub listen: String,
    pub base_url: String,
    pub site_url: String,
    pub site_host: String,
    pub agents_url: String,
    pub isolation: String,
    pub data_dir: String,
    pub database_url: String,
    pub blobs_url: String,
    pub secret_key: String,
    pub trusted_proxies: Vec<String>,
    pub database: Database,
    pub tls: Tls,
    pub dns: Dns,
    pub s3: S3,
    pub backup: Backup,
    pub operator: Operator,
    pub mail: Mail,
    pub accounts: Accounts,
    pub plans: BTreeMap<String, Plan>,
    pub limits: Limits,
    pub webhooks: Webhooks,
    pub anonymous: Anonymous,
    pub oauth: OAuth,
    pub mcp: Mcp,
    pub payments: Payments,
    pub stripe: Stripe,
    pub ap2: Ap2,
    pub safety: Safety,
    pub storage: Storage,
    pub retention: Retention,
    pub views: Views,
    pub sweep: Sweep,
    pub log: Log,
    pub metrics: Metrics,
    pub shutdown: Shutdown,
    pub runtime: Runtime,
}

macro_rules! section {
    ($name:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $(pub $field: $kind,)* }
    };
}

section!(Database { wait_seconds: u64, read_urls: Vec<String>, max_lag_ms: u64, listen_url: String });
section!(Tls {
    mode: String,
    cert_file: String,
    key_file: String,
    listen: String,
    http_listen: String,
    acme: Acme,
});
section!(Acme {
    directory_url: String,
    ca_file: String,
    email: String,
    profile: String,
    dns_hook: String,
    rfc2136_server: String,
    rfc2136_zone: String,
    rfc2136_key_name: String,
    rfc2136_key_secret: String,
    rfc2136_key_algorithm: String,
});
section!(Dns { servers: Vec<String>, timeout_seconds: u64 });
section!(S3 { access_key_id: String, secret_access_key: String });
section!(Backup {
    to: String,
    access_key_id: String,
    secret_access_key: String,
    key_file: String,
    every: String,
    keep: String,
});
section!(Operator { email: String, privacy_policy_url: String });
section!(Mail { mode: String, smtp_url: String, from: String });
section!(Accounts { default_plan: String, sign_up: String, allowed: Vec<String> });
section!(Webhooks {
    endpoints: i64,
    waiting: i64,
    kept_days: i64,
    parallel: usize,
    timeout_seconds: u64,
    expiring_days: i64,
    allow_loopback: bool,
});
section!(Anonymous { origins: Vec<String> });
section!(OAuth {
    refresh_reuse: String,
    client_documents: bool,
    allow_loopback_documents: bool,
    unused_clients: i64
});
section!(Mcp { allowed_origins: Vec<String> });
section!(Payments {
    mode: String,
    facilitator_url: String,
    facilitator_headers: Vec<String>,
    evm_network: String,
    evm_pay_to: String,
    evm_asset: String,
    evm_asset_name: String,
    evm_asset_version: String,
    evm_rpc_url: String,
    solana_rpc_url: String,
    confirm_settlements: bool,
    accept_submitted_elsewhere: bool,
    solana_network: String,
    solana_pay_to: String,
    timeout_seconds: u32,
    verify_timeout_seconds: u64,
    settle_timeout_seconds: u64,
    prices: Prices,
});
section!(Prices {
    publish: String,
    provision: String,
    make_permanent: String,
    custom_domain: String,
    higher_limits: String,
});
section!(Stripe {
    secret_key: String,
    webhook_secret: Vec<String>,
    api_url: String,
    version: String,
    token_parameter: String,
});
section!(Ap2 { issuers_file: String, merchant_id: String, payee_name: String });
section!(Safety {
    phishing_check: bool,
    pii_check: String,
    lists_dir: String,
    lists: String,
    checker_url: String,
    checker_headers: Vec<String>,
    checker_sends: String,
    checker_timeout_seconds: u64,
    checker_failure: String,
    attention: String,
    attention_reports: u32,
    attention_views: u32,
    attention_views_hours: u32,
    attention_copies: u32,
    notify: Vec<String>,
});
section!(Views { count: bool, stale_seconds: u64 });
section!(Sweep { every_seconds: u64, collect_every_minutes: u64 });
section!(Log { format: String, level: String });
section!(Metrics { listen: String });
section!(Shutdown { drain_seconds: u64 });
section!(Runtime { workers: usize });
section!(Storage { inline_bytes: usize, versions_kept: i64, cache_bytes: u64 });
section!(Retention {
    restore_days: i64,
    unowned_hours: i64,
    slug_hold_days: i64,
    tombstone_days: i64,
    orphan_minutes: i64,
    idempotency_hours: i64,
    evidence_days: i64,
    open_appeal_days: i64,
});
section!(Limits {
    upload_bytes: u64,
    publish_bytes: u64,
    unpacked_bytes: u64,
    files: usize,
    ratio: u64,
    name_bytes: usize,
    depth: usize,
    anonymous_per_hour: i64,
    anonymous_per_day: i64,
    anonymous_attempts_per_minute: i64,
    anonymous_bytes: i64,
    anonymous_network_bytes: i64,
    paid_attempts_per_minute: i64,
    key_per_minute: i64,
    account_per_minute: i64,
    checks_per_minute: i64,
    appeals_per_day: i64,
    appeals_bytes: i64,
    gate_tries_per_minute: i64,
    password_hashes_per_minute: i64,
    codes_per_address: i64,
    codes_per_site: i64,
    codes_per_client: i64,
    sign_ins_per_address: i64,
    sign_ins_per_client: i64,
    exempt: Vec<String>,
    connections: usize,
    connections_per_network: usize,
    unsent_bytes: u64,
    download_bytes_per_second: u64,
    header_seconds: u64,
    idle_seconds: u64,
    request_seconds: u64,
    upload_bytes_per_second: u64,
    parallel_uploads: usize,
    custom_domains: i64,
    domain_checks_per_hour: i64,
});

/// One plan; a missing or zero cap means none.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct Plan {
    pub active_pages: i64,
    pub longest_life_days: i64,
    pub publishes_a_day: i64,
    pub executables: bool,
    pub custom_domains: bool,
}

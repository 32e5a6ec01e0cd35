//! Turns settings into what the components need: fills in addresses, parses networks and plans, refuses invalid values.

use super::{AcmeSettings, Config, DnsSettings, FacilitatorSettings, OutboundEndpoint, StripeSettings};
use crate::mail::MailSettings;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{Rates, Retention, Settings, TlsMode, UsageLimits};
use dropleaf_content::Limits;
use dropleaf_core::allowed_origins::AllowedOrigins;
use dropleaf_core::host::{self, Hosts, Origin};
use dropleaf_core::number;
use dropleaf_core::plan::{Plan, Plans};
use dropleaf_core::rate::Rate;
use dropleaf_core::sign_up::{AllowListEntry, SignUp};
use dropleaf_store::PgOptions;
use ipnet::IpNet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Credentials expire without a notification, and another process may have revoked one.
const MCP_CHECK_EVERY: Duration = Duration::from_secs(10);

/// How long a start or a stop may be configured to take.
const LONGEST_WAIT_SECONDS: u64 = 3600;
/// The longest time that a page may be shown without having been read again.
const MAX_STALE_SECONDS: u64 = 3600;

/// Where to listen: a host name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    pub host: String,
    pub port: u16,
}

impl Listen {
    pub fn parse(text: &str) -> Result<Self> {
        let (host, port) = text.rsplit_once(':').context("a listen address must have the form host:port")?;
        let port = number::unsigned(port).with_context(|| format!("`{port}` is not a port"))?;
        let host = host.trim_matches(['[', ']']);
        Ok(Self { host: if host.is_empty() { "0.0.0.0".into() } else { host.into() }, port })
    }

    /// Where a server that listens here can be reached from this machine.
    pub(crate) fn local_authority(&self) -> String {
        let port = self.port;
        match self.host.as_str() {
            "0.0.0.0" | "localhost" => format!("127.0.0.1:{port}"),
            "::" => format!("[::1]:{port}"),
            host if host.contains(':') => format!("[{host}]:{port}"),
            host => format!("{host}:{port}"),
        }
    }
}

/// The settings, validated and complete.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub config: Config,
    pub hosts: Hosts,
    pub data_dir: PathBuf,
    pub database_url: String,
    /// Its replicas and its address for notifications.
    pub database_options: PgOptions,
    pub blobs_url: String,
    pub trusted_proxies: Vec<IpNet>,
    /// Web pages of other origins that may write without a credential.
    pub anonymous_origins: AllowedOrigins,
    /// Serialised as browsers send them.
    pub mcp_origins: Vec<String>,
    /// How often an open MCP stream checks its credential when no change was notified. No setting: tests make it longer.
    pub mcp_check_every: Duration,
    /// Whether views may be answered without hyper. No setting: tests compare both ways.
    pub fast_path: Arc<AtomicBool>,
    pub mail: MailSettings,
    /// The facilitator of live payments.
    pub facilitator: Option<Box<FacilitatorSettings>>,
    /// The card processor of live payments.
    pub stripe: Option<Box<StripeSettings>>,
    /// How certificates are obtained, if the server does so.
    pub acme: Option<Box<AcmeSettings>>,
    /// The operator's external content check.
    pub checker: Option<Box<OutboundEndpoint>>,
    /// Where custom domains are looked up.
    pub dns: DnsSettings,
    pub settings: Settings,
}

impl Config {
    /// `port` is the bound port of the address for clients, which differs from the setting if that is 0.
    pub fn resolve(self, port: u16) -> Result<Resolved> {
        Listen::parse(&self.listen).context("in `listen`")?;
        let hosts = self.hosts(&self.public_listen()?, port)?;
        let data_dir = PathBuf::from(&self.data_dir);
        let or = |set: &str, default: String| if set.is_empty() { default } else { set.to_owned() };
        let database_url =
            or(&self.database_url, format!("sqlite:{}", data_dir.join("dropleaf.db").display()));
        let blobs_url = or(&self.blobs_url, format!("file:{}", data_dir.join("blobs").display()));
        ensure!(
            database_url.starts_with("sqlite:")
                || database_url.starts_with("postgres://")
                || database_url.starts_with("postgresql://"),
            "`database_url` must begin with sqlite: or postgres://"
        );
        let database_options = self.database_options(&database_url)?;
        ensure!(
            blobs_url.starts_with("file:") || blobs_url.starts_with("s3://"),
            "`blobs_url` must begin with file: or s3://"
        );
        self.check_tls(&hosts)?;
        ensure!(
            self.secret_key.is_empty()
                || (self.secret_key.len() == 64 && self.secret_key.bytes().all(|b| b.is_ascii_hexdigit())),
            "`secret_key` must be 64 hexadecimal digits"
        );
        ensure!(
            matches!(self.log.format.as_str(), "auto" | "text" | "json"),
            "`log.format` must be auto, text or json"
        );
        ensure!(
            matches!(self.oauth.refresh_reuse.as_str(), "strict" | "tolerate_lost"),
            "`oauth.refresh_reuse` must be strict or tolerate_lost"
        );
        for (key, seconds) in [
            ("database.wait_seconds", self.database.wait_seconds),
            ("shutdown.drain_seconds", self.shutdown.drain_seconds),
        ] {
            ensure!(seconds <= LONGEST_WAIT_SECONDS, "`{key}` must be at most {LONGEST_WAIT_SECONDS}");
        }
        ensure!(self.limits.upload_bytes > 0, "`limits.upload_bytes` must be more than 0");
        ensure!(
            self.limits.password_hashes_per_minute > 0,
            "`limits.password_hashes_per_minute` must be more than 0"
        );
        ensure!(self.retention.idempotency_hours > 0, "`retention.idempotency_hours` must be more than 0");
        ensure!(self.storage.versions_kept > 0, "`storage.versions_kept` must be more than 0");
        if !self.metrics.listen.is_empty() {
            Listen::parse(&self.metrics.listen).context("in `metrics.listen`")?;
        }
        dropleaf_core::email::address(&self.operator.email)
            .map_err(|_| anyhow::anyhow!("`operator.email` is not an email address"))?;
        let privacy = self.operator.privacy_policy_url.trim();
        ensure!(
            privacy.is_empty() || privacy.starts_with("https://") || privacy.starts_with("http://"),
            "`operator.privacy_policy_url` must be an http or https URL"
        );
        let trusted_proxies = networks("trusted_proxies", &self.trusted_proxies)?;
        let mcp_origins = origins("mcp.allowed_origins", &self.mcp.allowed_origins)?;
        let anonymous_origins = AllowedOrigins::parse(&self.anonymous.origins).map_err(|text| {
            anyhow::anyhow!(
                "`anonymous.origins`: `{text}` is neither * nor an origin such as https://app.example.com"
            )
        })?;
        let mail = MailSettings::resolve(&self, &hosts.base)?;
        let settings = self.settings(&data_dir)?;
        let dns = DnsSettings::parse(&self.dns.servers, self.dns.timeout_seconds)?;
        let facilitator = self.facilitator()?;
        let stripe = self.stripe()?;
        let acme = self.acme()?;
        let checker = self.checker()?.map(Box::new);
        Ok(Resolved {
            hosts,
            data_dir,
            database_url,
            database_options,
            blobs_url,
            trusted_proxies,
            anonymous_origins,
            mcp_origins,
            mcp_check_every: MCP_CHECK_EVERY,
            fast_path: Arc::new(AtomicBool::new(true)),
            mail,
            facilitator,
            stripe,
            acme,
            checker,
            dns,
            settings,
            config: self,
        })
    }

    fn hosts(&self, listen: &Listen, port: u16) -> Result<Hosts> {
        let scheme = if self.tls_mode()? == TlsMode::Off { "http" } else { "https" };
        let base_url = if self.base_url.is_empty() {
            let any = matches!(listen.host.as_str(), "0.0.0.0" | "::");
            let host = if any { "localhost" } else { listen.host.as_str() };
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            format!("{scheme}://{host}:{port}")
        } else {
            self.base_url.clone()
        };
        let base = Origin::parse(&base_url)
            .context("`base_url` must be http://host[:port] or https://host[:port], without a path")?;
        let site = match self.site_url.as_str() {
            "" => base.clone(),
            url => Origin::parse(url)
                .context("`site_url` must be http://host[:port] or https://host[:port], without a path")?,
        };
        let site_host =
            if self.site_host.is_empty() { site.host.clone() } else { self.site_host.to_ascii_lowercase() };
        ensure!(
            Origin::parse(&format!("http://{site_host}")).is_some_and(|origin| origin.host == site_host),
            "`site_host` must be a host name without a port"
        );
        let isolated = match self.isolation.as_str() {
            "hosts" => true,
            "sandbox" => false,
            _ => bail!("`isolation` must be hosts or sandbox"),
        };
        let hosts = Hosts::new(base, site, site_host, isolated);
        if self.agents_url.is_empty() {
            return Ok(hosts);
        }
        let agents = Origin::parse(&self.agents_url)
            .context("`agents_url` must be http://host[:port] or https://host[:port], without a path")?;
        hosts.with_agents(agents).context(
            "`agents_url` must have its own host: not the host of base_url or site_url, and under site_host only a name that no \
             page can have, such as agents",
        )
    }

    fn sign_up(&self) -> Result<SignUp> {
        let accounts = &self.accounts;
        Ok(match accounts.sign_up.as_str() {
            "open" => SignUp::Open,
            "closed" => SignUp::Closed,
            "allow-list" => {
                let entries = accounts.allowed.iter().map(|text| {
                    AllowListEntry::parse(text).map_err(|_| {
                        anyhow::anyhow!(
                            "`accounts.allowed`: `{text}` is neither an email address nor a domain"
                        )
                    })
                });
                SignUp::AllowList(entries.collect::<Result<_>>()?)
            }
            _ => bail!("`accounts.sign_up` must be open, allow-list or closed"),
        })
    }

    fn database_options(&self, database_url: &str) -> Result<PgOptions> {
        let database = &self.database;
        let is_postgres = |url: &str| url.starts_with("postgres://") || url.starts_with("postgresql://");
        ensure!(
            database.read_urls.iter().all(|url| is_postgres(url)),
            "`database.read_urls` must contain postgres:// addresses"
        );
        ensure!(
            database.listen_url.is_empty() || is_postgres(&database.listen_url),
            "`database.listen_url` must begin with postgres://"
        );
        let is_used = !database.read_urls.is_empty() || !database.listen_url.is_empty();
        ensure!(
            !is_used || is_postgres(database_url),
            "`database.read_urls` and `database.listen_url` need a PostgreSQL database in `database_url`"
        );
        ensure!(database.max_lag_ms >= 100, "`database.max_lag_ms` must be at least 100");
        Ok(PgOptions {
            read_urls: database.read_urls.clone(),
            max_lag: Duration::from_millis(database.max_lag_ms),
            listen_url: Some(database.listen_url.clone()).filter(|url| !url.is_empty()),
        })
    }

    fn stale_limit(&self) -> Result<Duration> {
        let seconds = self.views.stale_seconds;
        ensure!(seconds <= MAX_STALE_SECONDS, "`views.stale_seconds` must be at most {MAX_STALE_SECONDS}");
        Ok(Duration::from_secs(seconds))
    }

    pub(crate) fn content_limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            unpacked_bytes: limits.unpacked_bytes,
            files: limits.files,
            ratio: limits.ratio,
            name_bytes: limits.name_bytes,
            depth: limits.depth,
        }
    }

    fn settings(&self, data_dir: &std::path::Path) -> Result<Settings> {
        let limits = &self.limits;
        let plans = Plans::new(self.plans.iter().map(|(name, plan)| Plan {
            name: name.clone(),
            active_pages: (plan.active_pages > 0).then_some(plan.active_pages),
            longest_life_seconds: (plan.longest_life_days > 0).then_some(plan.longest_life_days * 86_400),
            publishes_a_day: (plan.publishes_a_day > 0).then_some(plan.publishes_a_day),
            executables: plan.executables,
            custom_domains: plan.custom_domains,
        }));
        ensure!(plans.knows(&self.accounts.default_plan), "`accounts.default_plan` is not a configured plan");
        let rate = |name, limit, window_seconds| Rate { name, limit, window_seconds };
        let keep = &self.retention;
        Ok(Settings {
            plans,
            default_plan: self.accounts.default_plan.clone(),
            sign_up: self.sign_up()?,
            content: self.content_limits(),
            safety: self.safety()?,
            notified: self.notified()?,
            rates: Rates {
                anonymous_hour: rate("anonymous_hour", limits.anonymous_per_hour, 3600),
                anonymous_day: rate("anonymous_day", limits.anonymous_per_day, 86_400),
                anonymous_attempts: rate("anonymous_attempts", limits.anonymous_attempts_per_minute, 60),
                paid_attempts: rate("paid_attempts", limits.paid_attempts_per_minute, 60),
                key_minute: rate("key_minute", limits.key_per_minute, 60),
                account_minute: rate("account_minute", limits.account_per_minute, 60),
                checks_minute: rate("checks_minute", limits.checks_per_minute, 60),
                appeals_day: rate("appeals_day", limits.appeals_per_day, 86_400),
                domain_checks_hour: rate("domain_checks_hour", limits.domain_checks_per_hour, 3600),
                gate_site_minute: rate("gate_site_minute", limits.gate_tries_per_minute, 60),
                password_hashes: rate("password_hashes", limits.password_hashes_per_minute, 60),
                code_address_hour: rate("code_address_hour", limits.codes_per_address, 3600),
                code_site_hour: rate("code_site_hour", limits.codes_per_site, 3600),
                code_client_hour: rate("code_client_hour", limits.codes_per_client, 3600),
                sign_in_address_hour: rate("sign_in_address_hour", limits.sign_ins_per_address, 3600),
                sign_in_client_hour: rate("sign_in_client_hour", limits.sign_ins_per_client, 3600),
            },
            retention: Retention {
                restore: keep.restore_days * 86_400,
                unowned: keep.unowned_hours * 3600,
                slug_hold: keep.slug_hold_days * 86_400,
                tombstone: keep.tombstone_days * 86_400,
                orphan: keep.orphan_minutes * 60,
                idempotency: keep.idempotency_hours * 3600,
                evidence: keep.evidence_days * 86_400,
                open_appeal: keep.open_appeal_days * 86_400,
            },
            appeals_bytes: limits.appeals_bytes,
            anonymous_usage: UsageLimits {
                server_bytes: limits.anonymous_bytes,
                network_bytes: limits.anonymous_network_bytes,
            },
            unused_clients: self.oauth.unused_clients.max(1),
            exempt: networks("limits.exempt", &limits.exempt)?,
            spool_dir: data_dir.join("spool"),
            versions_kept: self.storage.versions_kept,
            count_views: self.views.count,
            cache_bytes: self.storage.cache_bytes(),
            stale_limit: self.stale_limit()?,
            tolerates_lost_refresh: self.oauth.refresh_reuse == "tolerate_lost",
            parallel_uploads: limits.parallel_uploads,
            domains_per_account: limits.custom_domains,
            webhooks: self.webhooks()?,
            payments: self.payments()?,
            tls_mode: self.tls_mode()?,
            backups: self.backups(data_dir)?,
        })
    }
}

fn networks(key: &str, list: &[String]) -> Result<Vec<IpNet>> {
    list.iter()
        .map(|text| {
            let alone = text.parse::<std::net::IpAddr>().map(IpNet::from);
            alone
                .or_else(|_| text.parse())
                .with_context(|| format!("`{key}`: `{text}` is not a network such as 10.0.0.0/8"))
        })
        .collect()
}

fn origins(key: &str, list: &[String]) -> Result<Vec<String>> {
    list.iter()
        .map(|text| {
            host::written_origin(text).with_context(|| {
                format!("`{key}`: `{text}` is not an origin such as https://app.example.com")
            })
        })
        .collect()
}

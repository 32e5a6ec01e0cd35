//! The settings of the operations, already validated.

use crate::backups::BackupSettings;
use crate::moderation::safety::SafetySettings;
use crate::notify::operator_notifications::NotificationRecipients;
use crate::notify::webhooks::WebhookSettings;
use crate::pay::PaymentSettings;
use dropleaf_content::Limits;
use dropleaf_core::plan::Plans;
use dropleaf_core::rate::Rate;
use dropleaf_core::sign_up::SignUp;
use dropleaf_store::anonymous_usage::UsageLimits;
use ipnet::IpNet;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Settings {
    pub plans: Plans,
    /// The plan of accounts created without naming one.
    pub default_plan: String,
    /// Who may create an account by signing in.
    pub sign_up: SignUp,
    pub content: Limits,
    pub safety: SafetySettings,
    /// Who is notified of reports and appeals by email.
    pub notified: NotificationRecipients,
    pub rates: Rates,
    pub retention: Retention,
    /// Storage limit of all open appeals, in bytes.
    pub appeals_bytes: i64,
    /// Storage limits of anonymous pages.
    pub anonymous_usage: UsageLimits,
    /// The most registered OAuth clients without a grant; beyond it the oldest are deleted.
    pub unused_clients: i64,
    /// Networks exempt from rate limits.
    pub exempt: Vec<IpNet>,
    /// Where large uploads are unpacked; on the same disk as the data.
    pub spool_dir: PathBuf,
    pub versions_kept: i64,
    pub count_views: bool,
    /// Of each of the two largest caches of pages; see [`Settings::all_caches_bytes`].
    pub cache_bytes: u64,
    /// How long after it was last read the row of a page without gates may be used if the database does not answer. Zero:
    /// never.
    pub stale_limit: Duration,
    /// A refresh token may be used again as long as none of the tokens issued for it was used, in case the response was
    /// lost.
    pub tolerates_lost_refresh: bool,
    /// Uploads that are checked and packed concurrently.
    pub parallel_uploads: usize,
    /// Custom domains that an account may have.
    pub domains_per_account: i64,
    pub webhooks: WebhookSettings,
    /// None: nothing is sold here.
    pub payments: Option<PaymentSettings>,
    pub tls_mode: TlsMode,
    /// None: no backups are scheduled.
    pub backups: Option<BackupSettings>,
}

impl Settings {
    /// What the caches of pages may use together: bodies and rows, and a quarter of it for file lists and for the last known rows.
    pub fn all_caches_bytes(&self) -> u64 {
        let quarters = if self.stale_limit.is_zero() { 9 } else { 10 };
        (self.cache_bytes / 4).saturating_mul(quarters)
    }
}

/// Where the certificates of this server come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// The server speaks plain HTTP; a reverse proxy may serve HTTPS.
    Off,
    /// From the operator's files.
    Files,
    /// The server obtains them itself, except for names that the operator's files cover.
    Acme,
}

#[derive(Debug, Clone, Copy)]
pub struct Rates {
    pub anonymous_hour: Rate,
    pub anonymous_day: Rate,
    /// Attempts by anonymous clients, successful or not; limits the work a client can cause.
    pub anonymous_attempts: Rate,
    /// Attempts to pay; generous, so that an agent can buy many pages.
    pub paid_attempts: Rate,
    pub key_minute: Rate,
    /// Requests of all keys and OAuth clients of one account together.
    pub account_minute: Rate,
    /// Dry runs of the checks, per client network.
    pub checks_minute: Rate,
    /// Appeals, per client network.
    pub appeals_day: Rate,
    /// Passwords and codes tried at one site, from any client.
    pub gate_site_minute: Rate,
    /// Passwords hashed for one client network, right or wrong, over all pages.
    pub password_hashes: Rate,
    /// Codes sent by email: to one address, for one site, requested by one client.
    pub code_address_hour: Rate,
    pub code_site_hour: Rate,
    pub code_client_hour: Rate,
    /// Sign-in emails: to one address, requested by one client.
    pub sign_in_address_hour: Rate,
    pub sign_in_client_hour: Rate,
    /// Checks of custom domains that one account requests.
    pub domain_checks_hour: Rate,
}

/// How long ended things are kept, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub restore: i64,
    pub unowned: i64,
    pub slug_hold: i64,
    pub tombstone: i64,
    pub orphan: i64,
    pub idempotency: i64,
    /// Sealed evidence of taken-down pages.
    pub evidence: i64,
    /// Undecided appeals from anonymous senders.
    pub open_appeal: i64,
}

//! What the acts need to know from configuration, already checked.

use crate::desk_mail::Notified;
use crate::pay::PaymentSettings;
use crate::safety::SafetySettings;
use dropleaf_content::Limits;
use dropleaf_core::plan::Plans;
use dropleaf_core::rate::Rate;
use dropleaf_core::sign_up::SignUp;
use dropleaf_store::anonymous_usage::UsageLimits;
use ipnet::IpNet;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Settings {
    pub plans: Plans,
    /// The plan of accounts made without naming one.
    pub default_plan: String,
    /// Who may make an account by signing in.
    pub sign_up: SignUp,
    pub content: Limits,
    pub safety: SafetySettings,
    /// Who hears of reports and appeals by mail.
    pub notified: Notified,
    pub rates: Rates,
    pub retention: Retention,
    /// What all appeals that wait may hold.
    pub appeals_bytes: i64,
    /// What pages without an account may take.
    pub anonymous_usage: UsageLimits,
    /// Programs that registered themselves and were never let in; the oldest make room.
    pub unused_clients: i64,
    /// Networks that rate limits leave alone.
    pub exempt: Vec<IpNet>,
    /// Where large uploads are unpacked; on the same disk as the data.
    pub spool_dir: PathBuf,
    pub versions_kept: i64,
    pub count_views: bool,
    pub cache_bytes: u64,
    /// A refresh token may be traded in again while nothing of what it gave was used: the answer was lost.
    pub tolerates_lost_refresh: bool,
    /// Uploads that are checked and packed at the same time.
    pub parallel_uploads: usize,
    /// None: nothing is sold here.
    pub payments: Option<PaymentSettings>,
}

#[derive(Debug, Clone, Copy)]
pub struct Rates {
    pub anonymous_hour: Rate,
    pub anonymous_day: Rate,
    /// Attempts, successful or not: what an address may make the server work.
    pub anonymous_attempts: Rate,
    /// Attempts to buy: an agent that pays for many pages is welcome.
    pub paid_attempts: Rate,
    pub key_minute: Rate,
    /// Requests of all keys and programs of one account together.
    pub account_minute: Rate,
    /// Dry runs of the check, per client network.
    pub checks_minute: Rate,
    /// Appeals, per client network.
    pub appeals_day: Rate,
    /// Passwords and codes tried at one site, wherever from.
    pub gate_site_minute: Rate,
    /// Passwords that are hashed for one client network, right or wrong, over all pages.
    pub password_hashes: Rate,
    /// Codes by e-mail: to one address, for one site, asked for by one client.
    pub code_address_hour: Rate,
    pub code_site_hour: Rate,
    pub code_client_hour: Rate,
    /// Letters to sign in with: to one address, asked for by one client.
    pub sign_in_address_hour: Rate,
    pub sign_in_client_hour: Rate,
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
    /// Sealed evidence of pages that were taken down.
    pub evidence: i64,
    /// Appeals of nobody in particular that wait for a decision.
    pub open_appeal: i64,
}

//! Custom domains: the states, the DNS records that prove a name, and what each check means for the state. Spec §2, §3.

use crate::hostname::Hostname;
use crate::secret::{self, Keys};

/// The label below which an owner of an apex domain proves it with a TXT record.
const TXT_LABEL: &str = "_dropleaf";
/// How long a verified name keeps working while its checks fail.
pub const GRACE_SECONDS: i64 = 3 * 86_400;
/// The time between two automatic checks of a verified name.
pub const CHECK_EVERY_SECONDS: i64 = 86_400;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainStatus {
    Pending,
    Verified,
    Failed,
}

impl DomainStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Verified => "verified",
            Self::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pending, Self::Verified, Self::Failed].into_iter().find(|status| status.as_str() == text)
    }
}

/// A host name that an account binds to one of its sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomDomain {
    pub hostname: Hostname,
    pub account_id: String,
    pub site_id: String,
    pub status: DomainStatus,
    /// The URL of the site shows this name while it is verified.
    pub is_primary: bool,
    pub created_at: i64,
    pub verified_at: Option<i64>,
    pub last_checked_at: Option<i64>,
    pub last_error: Option<String>,
    /// The first of the failing checks since the last success.
    pub failing_since: Option<i64>,
    pub next_check_at: i64,
}

/// A DNS record that the owner enters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsRecord {
    pub kind: &'static str,
    pub name: String,
    pub value: String,
}

/// The label of the CNAME target: different for each account and name, so that the record itself proves who owns it, and a
/// record that is left behind is of no use to another account.
pub fn target_label(keys: &Keys, account_id: &str, hostname: &Hostname) -> String {
    let name = secret::letters(&keys.mac("custom-domain", format!("{account_id}\0{hostname}").as_bytes()));
    format!("d-{}", &name[..20])
}

/// The records of which one is enough. A CNAME comes first, except at an apex, where DNS does not allow it.
pub fn records(hostname: &Hostname, target: &str) -> Vec<DnsRecord> {
    let cname = DnsRecord { kind: "CNAME", name: hostname.to_string(), value: target.to_owned() };
    let txt = DnsRecord { kind: "TXT", name: format!("{TXT_LABEL}.{hostname}"), value: target.to_owned() };
    if hostname.is_apex() { vec![txt, cname] } else { vec![cname, txt] }
}

//! Asks DNS whether an account has proven a name.

use super::dns::DnsFailure;
use crate::app::App;
use dropleaf_core::custom_domain::{CheckResult, CustomDomain, txt_name};
use dropleaf_core::domain_records::FoundRecords;
use std::time::Duration;

/// A check takes no longer, however many questions it asks.
pub(super) const CHECK_LIMIT: Duration = Duration::from_secs(15);

impl App {
    /// Looks up the records of a domain and says what they mean for its account.
    pub(super) async fn check_records(&self, domain: &CustomDomain) -> CheckResult {
        let found = tokio::time::timeout(CHECK_LIMIT, self.find_records(domain)).await;
        found.unwrap_or_else(|_| unknown(DnsFailure::Temporary("the check took too long".into())))
    }

    async fn find_records(&self, domain: &CustomDomain) -> CheckResult {
        let Some(dns) = &self.dns else {
            return CheckResult::Unknown(
                "The name could not be checked: this server has no DNS resolver.".into(),
            );
        };
        let name = &domain.hostname;
        let target = self.cname_target(&domain.account_id, name);
        let txt_name = txt_name(name);
        let (cname_chain, txt) =
            futures_util::future::join(dns.cname_chain(name.as_str()), dns.txt(&txt_name)).await;
        let mut found = FoundRecords::default();
        let failure = [take(cname_chain, &mut found.cname_chain), take(txt, &mut found.txt)];
        // One answer with the proof is enough, whatever happened to the other question.
        if found.prove(&target) {
            return CheckResult::Proven;
        }
        if let Some(failure) = failure.into_iter().flatten().next() {
            return unknown(failure);
        }
        if found.cname_chain.is_empty() && found.txt.is_empty() {
            if let Some(failure) = take(dns.addresses(name.as_str()).await, &mut found.addresses) {
                return unknown(failure);
            }
            if !found.addresses.is_empty() {
                // Only for a better explanation.
                let _ = take(dns.addresses(&target).await, &mut found.target_addresses);
            }
        }
        found.judge(name, &target)
    }
}

/// Stores an answer; returns the failure if there was none.
fn take<T>(answer: Result<Vec<T>, DnsFailure>, place: &mut Vec<T>) -> Option<DnsFailure> {
    answer.map(|found| *place = found).err()
}

fn unknown(failure: DnsFailure) -> CheckResult {
    let DnsFailure::Temporary(why) = failure;
    tracing::debug!(why, "custom domain not checked");
    CheckResult::Unknown(
        "The name could not be checked because a DNS server did not answer. Try again later.".into(),
    )
}

//! What the DNS records of a name say: whether they prove who owns it, and if not, what the owner should change.

use crate::custom_domain::{CheckResult, txt_name};
use crate::hostname::Hostname;
use ipnet::IpNet;
use std::net::IpAddr;

/// Addresses of Cloudflare's proxy, as published at <https://www.cloudflare.com/ips-v4> and `/ips-v6` (as of September 2026).
const CLOUDFLARE: [&str; 22] = [
    "173.245.48.0/20",
    "103.21.244.0/22",
    "103.22.200.0/22",
    "103.31.4.0/22",
    "141.101.64.0/18",
    "108.162.192.0/18",
    "190.93.240.0/20",
    "188.114.96.0/20",
    "197.234.240.0/22",
    "198.41.128.0/17",
    "162.158.0.0/15",
    "104.16.0.0/13",
    "104.24.0.0/14",
    "172.64.0.0/13",
    "131.0.72.0/22",
    "2400:cb00::/32",
    "2606:4700::/32",
    "2803:f800::/32",
    "2405:b500::/32",
    "2405:8100::/32",
    "2a06:98c0::/29",
    "2c0f:f248::/32",
];

/// The records found for a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRecords {
    /// The targets of the CNAME at the name, of the CNAME at that target, and so on.
    pub cname_chain: Vec<String>,
    /// The texts at `_dropleaf.` below the name.
    pub txt: Vec<String>,
    pub addresses: Vec<IpAddr>,
    /// The addresses of the CNAME target that the owner should enter.
    pub target_addresses: Vec<IpAddr>,
}

impl FoundRecords {
    /// Whether one of the records names the target, ignoring case and a trailing dot.
    pub fn prove(&self, target: &str) -> bool {
        let is_target = |text: &String| {
            let text = text.trim().trim_matches('"');
            text.strip_suffix('.').unwrap_or(text).eq_ignore_ascii_case(target)
        };
        self.cname_chain.iter().any(is_target) || self.txt.iter().any(is_target)
    }

    /// What the records mean, with a sentence for the owner if they prove nothing.
    pub fn judge(&self, hostname: &Hostname, target: &str) -> CheckResult {
        if self.prove(target) {
            return CheckResult::Proven;
        }
        let place = txt_name(hostname);
        if let Some(other) = self.txt.first() {
            let other = shown(other);
            return CheckResult::Refused(format!(
                "We found a TXT record at {place} with the value {other} instead of {target}."
            ));
        }
        // The last of a chain is where it leads, the first is what the owner entered.
        if let Some(first) = self.cname_chain.first() {
            let first = shown(first);
            return CheckResult::Refused(format!("We found a CNAME to {first} instead of {target}."));
        }
        if self.addresses.is_empty() {
            return CheckResult::Missing("No record yet. DNS changes can take an hour.".into());
        }
        if self.addresses.iter().all(|ip| is_cloudflare(*ip)) {
            return CheckResult::Refused(format!(
                "The name is proxied by Cloudflare, which hides the CNAME record. Switch the record to \"DNS only\" (grey \
                 cloud), or add a TXT record at {place} with the value {target}."
            ));
        }
        if self.addresses.iter().all(|ip| self.target_addresses.contains(ip)) {
            return CheckResult::Refused(format!(
                "The name has the addresses of this server, but its CNAME record is not visible: the DNS provider replaces it by \
                 addresses. Add a TXT record at {place} with the value {target}."
            ));
        }
        let found: Vec<String> = self.addresses.iter().take(3).map(ToString::to_string).collect();
        let more = if self.addresses.len() > found.len() { " and others" } else { "" };
        let remedy = if hostname.is_apex() {
            format!("Add a TXT record at {place} with the value {target}.")
        } else {
            format!("Replace the address record by a CNAME to {target}.")
        };
        CheckResult::Refused(format!("We found the address {}{more}. {remedy}", found.join(", ")))
    }
}

/// A value from DNS as it can be shown: it is untrusted and may be long.
fn shown(text: &str) -> String {
    const MOST: usize = 100;
    let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    let short: String = text.chars().take(MOST).map(plain).collect();
    if text.chars().nth(MOST).is_some() { format!("{short}…") } else { short }
}

/// Whether an address belongs to Cloudflare's proxy.
pub fn is_cloudflare(ip: IpAddr) -> bool {
    CLOUDFLARE.iter().any(|range| range.parse::<IpNet>().is_ok_and(|range| range.contains(&ip)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TARGET: &str = "d-abcdefghij0123456789.pages.example";

    fn name() -> Hostname {
        Hostname::parse_stored("reports.customer.example".into())
    }

    fn apex() -> Hostname {
        Hostname::parse_stored("customer.example".into())
    }

    fn chain(names: &[&str]) -> FoundRecords {
        FoundRecords {
            cname_chain: names.iter().map(ToString::to_string).collect(),
            ..FoundRecords::default()
        }
    }

    fn addresses(found: &[&str]) -> FoundRecords {
        FoundRecords {
            addresses: found.iter().map(|ip| ip.parse().unwrap()).collect(),
            ..FoundRecords::default()
        }
    }

    fn problem(found: &FoundRecords, hostname: &Hostname) -> String {
        match found.judge(hostname, TARGET) {
            CheckResult::Refused(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_cname_or_a_txt_record_proves_the_name() {
        let upper = format!("{}.", TARGET.to_uppercase());
        for found in
            [chain(&[TARGET]), chain(&[&upper]), chain(&["alias.customer.example", TARGET, "x.example"])]
        {
            assert_eq!(found.judge(&name(), TARGET), CheckResult::Proven, "{found:?}");
        }
        for text in [TARGET.to_owned(), upper, format!("\"{TARGET}\""), format!(" {TARGET} ")] {
            let found = FoundRecords { txt: vec!["v=spf1 -all".into(), text], ..chain(&["other.example"]) };
            assert_eq!(found.judge(&name(), TARGET), CheckResult::Proven, "{found:?}");
        }
    }

    #[test]
    fn a_name_that_only_contains_the_target_proves_nothing() {
        for near in
            [format!("{TARGET}.evil.example"), format!("x{TARGET}"), format!("x.{TARGET}"), String::new()]
        {
            assert_ne!(chain(&[&near]).judge(&name(), TARGET), CheckResult::Proven, "{near}");
        }
    }

    #[test]
    fn other_records_are_described() {
        assert_eq!(
            FoundRecords::default().judge(&name(), TARGET),
            CheckResult::Missing("No record yet. DNS changes can take an hour.".into())
        );
        let other = problem(&chain(&["old-host.example", "b.example"]), &name());
        assert_eq!(other, format!("We found a CNAME to old-host.example instead of {TARGET}."));
        let txt = problem(&FoundRecords { txt: vec!["hello".into()], ..FoundRecords::default() }, &name());
        assert!(txt.contains("TXT record at _dropleaf.reports.customer.example") && txt.contains("hello"));
        let address = problem(&addresses(&["192.0.2.7"]), &name());
        assert!(address.contains("192.0.2.7") && address.contains("by a CNAME"), "{address}");
        let address = problem(&addresses(&["192.0.2.7", "192.0.2.8", "192.0.2.9", "192.0.2.10"]), &apex());
        assert!(address.contains("and others. Add a TXT record"), "{address}");
    }

    #[test]
    fn the_proxy_of_cloudflare_is_recognized() {
        for proxied in [&["104.21.5.6"][..], &["172.67.1.2", "2606:4700:3030::1"]] {
            assert!(problem(&addresses(proxied), &name()).contains("proxied by Cloudflare"), "{proxied:?}");
        }
        assert!(!problem(&addresses(&["104.21.5.6", "192.0.2.1"]), &name()).contains("Cloudflare"));
        for range in CLOUDFLARE {
            range.parse::<IpNet>().expect(range);
        }
    }

    #[test]
    fn a_flattened_cname_needs_a_txt_record() {
        let ours = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        let found = FoundRecords { target_addresses: ours, ..addresses(&["192.0.2.1"]) };
        assert!(problem(&found, &apex()).contains("replaces it by addresses"));
        assert!(problem(&found, &apex()).contains("TXT record at _dropleaf.customer.example"));
    }

    #[test]
    fn what_dns_says_is_shown_short_and_plain() {
        assert_eq!(shown("a\u{202e}\n<b>"), "a??<b>");
        assert_eq!(shown(&"x".repeat(101)).chars().count(), 101);
    }

    proptest! {
        #[test]
        fn only_the_exact_target_proves(names in prop::collection::vec("[a-zA-Z0-9.-]{0,60}", 0..8)) {
            let found = chain(&names.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert!(!found.prove(TARGET));
        }
    }
}

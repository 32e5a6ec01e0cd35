//! Checks that a custom domain leads here before a certificate is ordered: authorities limit failed validations. A server
//! behind a load balancer does not know its own addresses, so those of the name are compared with those of our page host.

use crate::app::App;
use crate::domains::{DnsFailure, DnsLookup};
use dropleaf_core::domain_records::is_cloudflare;
use std::net::IpAddr;

/// Any name of this form.
const TARGET_LABEL: &str = "d-target";

impl App {
    /// Whether a certificate can be ordered for this name now. Our own names are not checked.
    pub async fn check_points_here(&self, name: &str) -> AddressCheck {
        let Some(dns) = self.dns.as_deref().filter(|_| !self.is_own_name(name)) else {
            return AddressCheck::LeadsHere;
        };
        match self.check_addresses(dns, name).await {
            Ok(checked) => checked,
            Err(DnsFailure::Temporary(why)) => {
                tracing::info!(name, why, "DNS records not read before the order of a certificate");
                AddressCheck::Problem("the DNS records of the name could not be read".to_owned())
            }
        }
    }

    async fn check_addresses(&self, dns: &dyn DnsLookup, name: &str) -> Result<AddressCheck, DnsFailure> {
        let site_host = &self.hosts.site_host;
        let chain = dns.cname_chain(name).await?;
        let theirs = dns.addresses(name).await?;
        let mut ours = dns.addresses(&self.hosts.site.host).await?;
        // Where the CNAME records of owners point to; often a wildcard record.
        ours.extend(dns.addresses(&format!("{TARGET_LABEL}.{site_host}")).await?);
        Ok(AddressFacts { chain: &chain, theirs: &theirs, ours: &ours }.check(site_host))
    }

    /// The TXT records of a name, or `None` if there is no resolver.
    pub async fn find_txt_records(&self, name: &str) -> Option<Vec<String>> {
        Some(self.dns.as_deref()?.txt(name).await.unwrap_or_default())
    }
}

/// Where a name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressCheck {
    LeadsHere,
    /// To the proxy of Cloudflare, which passes plain HTTP on to here and ends TLS itself.
    Proxied,
    /// Not here; with a sentence for the owner.
    Problem(String),
}

/// What DNS says about a name and about our page host.
#[derive(Debug)]
struct AddressFacts<'a> {
    /// The CNAME targets of the name.
    chain: &'a [String],
    theirs: &'a [IpAddr],
    ours: &'a [IpAddr],
}

impl AddressFacts<'_> {
    fn check(&self, site_host: &str) -> AddressCheck {
        let is_ours = |target: &String| {
            target == site_host || target.strip_suffix(site_host).is_some_and(|rest| rest.ends_with('.'))
        };
        // Nothing to compare with: the authority will find out.
        if self.chain.iter().any(is_ours) || self.ours.is_empty() {
            return AddressCheck::LeadsHere;
        }
        if self.theirs.is_empty() {
            return AddressCheck::Problem("the name has no address record yet".to_owned());
        }
        if self.theirs.iter().all(|ip| is_cloudflare(*ip)) {
            return AddressCheck::Proxied;
        }
        // The authority may choose either family.
        for is_v6 in [false, true] {
            let mut theirs = self.theirs.iter().filter(|ip| ip.is_ipv6() == is_v6).peekable();
            if let Some(first) = theirs.peek().copied()
                && !theirs.any(|ip| self.ours.contains(ip))
            {
                let record = if is_v6 { "AAAA" } else { "A" };
                return AddressCheck::Problem(format!(
                    "the name points elsewhere: its {record} record is {first}"
                ));
            }
        }
        AddressCheck::LeadsHere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(chain: &[&str], theirs: &[&str], ours: &[&str]) -> Option<String> {
        let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<IpAddr>>();
        let chain: Vec<String> = chain.iter().map(|&name| name.to_owned()).collect();
        let (theirs, ours) = (ips(theirs), ips(ours));
        match (AddressFacts { chain: &chain, theirs: &theirs, ours: &ours }).check("pages.example") {
            AddressCheck::LeadsHere => None,
            AddressCheck::Proxied => Some("proxied".to_owned()),
            AddressCheck::Problem(why) => Some(why),
        }
    }

    #[test]
    fn a_name_leads_here_by_cname_or_by_the_same_addresses() {
        assert_eq!(problem(&["d-abc.pages.example"], &[], &["192.0.2.1"]), None);
        assert_eq!(problem(&["alias.example", "pages.example"], &["192.0.2.9"], &["192.0.2.1"]), None);
        assert_eq!(problem(&[], &["192.0.2.1"], &["192.0.2.1", "192.0.2.2"]), None);
        assert_eq!(problem(&[], &["192.0.2.9", "192.0.2.2"], &["192.0.2.1", "192.0.2.2"]), None);
        assert_eq!(problem(&[], &["192.0.2.9"], &[]), None, "nothing to compare with");
    }

    #[test]
    fn a_proxied_name_is_recognized() {
        let proxied = problem(&[], &["104.21.5.6", "2606:4700:3030::1"], &["192.0.2.1"]);
        assert_eq!(proxied.as_deref(), Some("proxied"));
        assert_ne!(problem(&[], &["104.21.5.6", "198.51.100.1"], &["192.0.2.1"]).as_deref(), Some("proxied"));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_named_with_its_address() {
        assert!(
            problem(&[], &["198.51.100.1"], &["192.0.2.1"]).unwrap().contains("A record is 198.51.100.1")
        );
        assert!(problem(&["evilpages.example"], &["198.51.100.1"], &["192.0.2.1"]).is_some());
        assert!(problem(&[], &[], &["192.0.2.1"]).unwrap().contains("no address"));
        let stale = problem(&[], &["192.0.2.1", "2001:db8::9"], &["192.0.2.1", "2001:db8::1"]).unwrap();
        assert!(stale.contains("AAAA record is 2001:db8::9"));
        assert!(problem(&[], &["192.0.2.1", "2001:db8::9"], &["192.0.2.1"]).is_some());
    }
}

//! Which names need a certificate: our own, the wildcard of page hosts, and verified custom domains.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::host::{Hosts, Origin};
use dropleaf_store::{acme_challenges, certificates, revisions};
use std::collections::BTreeSet;

/// How long the certificate of a name that is no longer needed is kept, in case the name comes back.
const UNUSED_SECONDS: i64 = 7 * 86_400;
/// Names written in one transaction, and certificates deleted at a time.
const BATCH: u16 = 500;

impl App {
    /// Brings the managed names up to date. `has_wildcard`: DNS-01 challenges can be answered, which wildcards need.
    /// `is_covered`: the operator's own certificate files cover this name.
    pub async fn update_required_names(
        &self,
        has_wildcard: bool,
        is_covered: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let now = self.now();
        let mut required = own_names(&self.hosts, has_wildcard);
        required.extend(self.served_domain_names());
        required.retain(|name| !is_covered(name));
        let mut stmts = vec![acme_challenges::delete_expired(now)];
        let mut has_old = false;
        for known in self.store.list_certificates().await? {
            let is_required = required.remove(&known.name);
            match known.unused_since {
                None if !is_required => stmts.push(certificates::mark_unused(&known.name, now)),
                Some(_) if is_required => stmts.push(certificates::require(&known.name, now)),
                Some(since) => has_old |= since < now - UNUSED_SECONDS,
                None => {}
            }
        }
        stmts.extend(required.iter().map(|name| certificates::require(name, now)));
        if has_old {
            stmts.push(certificates::delete_unused(now - UNUSED_SECONDS, BATCH.into()));
            stmts.push(revisions::advance(revisions::CERTIFICATES));
        }
        while !stmts.is_empty() {
            let rest = stmts.split_off(stmts.len().min(BATCH.into()));
            self.store.commit(std::mem::replace(&mut stmts, rest)).await?;
        }
        Ok(())
    }
}

/// The names of our own addresses that are served over HTTPS.
fn own_names(hosts: &Hosts, has_wildcard: bool) -> BTreeSet<String> {
    let is_public = |origin: &&Origin| origin.scheme == "https" && !origin.is_ip() && !origin.is_loopback();
    let origins = [Some(&hosts.base), Some(&hosts.site), hosts.agents.as_ref()];
    let mut names: BTreeSet<String> =
        origins.into_iter().flatten().filter(is_public).map(|origin| origin.host.clone()).collect();
    if has_wildcard && hosts.isolated && is_public(&&hosts.site) {
        names.insert(format!("*.{}", hosts.site_host));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(base: &str, site: &str, agents: &str, has_wildcard: bool) -> Vec<String> {
        let origin = |url: &str| Origin::parse(url).unwrap();
        let site = origin(site);
        let site_host = site.host.clone();
        let hosts = Hosts::new(origin(base), site, site_host, true);
        let hosts = if agents.is_empty() { hosts } else { hosts.with_agents(origin(agents)).unwrap() };
        own_names(&hosts, has_wildcard).into_iter().collect()
    }

    #[test]
    fn own_https_names_need_a_certificate_and_each_only_one() {
        let (base, pages) = ("https://drop.example", "https://pages.example");
        assert_eq!(names(base, base, "", false), ["drop.example"]);
        assert_eq!(
            names(base, pages, "https://pay.example", true),
            ["*.pages.example", "drop.example", "pages.example", "pay.example"]
        );
    }

    #[test]
    fn no_authority_knows_addresses_and_local_names() {
        let local =
            ["http://drop.example", "https://127.0.0.1:8443", "https://[::1]", "https://localhost:8443"];
        for url in local {
            assert!(names(url, url, "", true).is_empty(), "{url}");
        }
    }
}

//! Judges DNS records, and whether clients elsewhere can reach the server.

use super::{Check, Finding, SelfCheck};
use crate::network;
use std::net::IpAddr;

/// The addresses of a name: empty if it has none, or why they could not be looked up.
pub type Addresses = Result<Vec<IpAddr>, String>;

/// One of the server's own names.
#[derive(Debug, Clone)]
pub struct NameFacts {
    pub setting: &'static str,
    pub host: String,
    /// A loopback name or an IP address: DNS has no part in it.
    pub is_fixed: bool,
    pub addresses: Addresses,
}

fn list(addresses: &[IpAddr]) -> String {
    addresses.iter().take(4).map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

pub fn dns(names: &[NameFacts]) -> Finding {
    const CHECK: Check = Check::Dns;
    let parts = names.iter().map(|name| {
        let NameFacts { setting, host, .. } = name;
        match &name.addresses {
            _ if name.is_fixed => Finding::ok(CHECK, format!("{host} needs no DNS record.")),
            Ok(found) if found.is_empty() => Finding::problem(
                CHECK,
                format!("{host}, the host of `{setting}`, has no address record."),
                format!("Create an A record (and AAAA, if you have IPv6) for {host} with the public address of this server."),
            ),
            Ok(found) => Finding::ok(CHECK, format!("{host} has the address {}.", list(found))),
            Err(why) => Finding::not_checked(CHECK, format!("{host} could not be looked up: {why}."))
                .with_fix("Check `dns.servers` or /etc/resolv.conf."),
        }
    });
    Finding::join(CHECK, parts.collect()).unwrap_or_else(|| Finding::ok(CHECK, "No names."))
}

/// A random name below `site_host`.
#[derive(Debug, Clone)]
pub struct WildcardFacts {
    pub site_host: String,
    /// Whether pages have hosts of their own.
    pub is_needed: bool,
    pub is_local: bool,
    pub random: Addresses,
    /// Where `base_url` and `site_url` lead.
    pub own: Vec<IpAddr>,
}

pub fn wildcard_dns(facts: &WildcardFacts) -> Finding {
    const CHECK: Check = Check::WildcardDns;
    let wildcard = format!("*.{}", facts.site_host);
    if !facts.is_needed {
        return Finding::ok(CHECK, "Pages share one host, so no wildcard record is needed.");
    }
    if facts.is_local {
        return Finding::ok(CHECK, format!("Browsers resolve {wildcard} to this machine."));
    }
    let own = list(&facts.own);
    match &facts.random {
        Err(why) => Finding::not_checked(
            CHECK,
            format!("A name below {} could not be looked up: {why}.", facts.site_host),
        )
        .with_fix("Check `dns.servers` or /etc/resolv.conf."),
        Ok(found) if found.is_empty() => {
            let target = if own.is_empty() { "the public address of this server".to_owned() } else { own };
            Finding::problem(
                CHECK,
                format!(
                    "Names below {} have no address, so pages do not open: each has its own host there.",
                    facts.site_host
                ),
                format!(
                    "Create the wildcard record `{wildcard}` with {target}, or set `isolation = \"sandbox\"`."
                ),
            )
        }
        Ok(found) if facts.own.is_empty() || found.iter().any(|ip| facts.own.contains(ip)) => {
            Finding::ok(CHECK, format!("{wildcard} leads to {}.", list(found)))
        }
        Ok(found) => Finding::warning(
            CHECK,
            format!("{wildcard} leads to {}, but the other names lead to {own}.", list(found)),
            format!("Point the record `{wildcard}` to {own}, unless a second proxy is intended."),
        ),
    }
}

/// Where the server listens and where clients look for it.
#[derive(Debug, Clone)]
pub struct Reachability {
    pub listen: String,
    pub listens_on_loopback: bool,
    pub url: String,
    /// `base_url` is for this machine only.
    pub is_local: bool,
    /// Whether the server ends TLS itself, so that no proxy is expected.
    pub ends_tls: bool,
    pub addresses: Vec<IpAddr>,
    /// Whether one of the addresses belongs to an interface of this machine.
    pub has_address: bool,
    pub self_check: SelfCheck,
}

pub fn reachability(facts: &Reachability) -> Finding {
    const CHECK: Check = Check::Reachability;
    let Reachability { listen, url, .. } = facts;
    if facts.is_local {
        return Finding::ok(CHECK, format!("{url} is for this machine only."));
    }
    let has_answered = matches!(facts.self_check, SelfCheck::Answered(_));
    if facts.listens_on_loopback && !has_answered {
        let fix = if facts.ends_tls {
            "Set `listen = \"0.0.0.0:443\"` (or `tls.listen`).".to_owned()
        } else {
            format!(
                "Set `listen = \"0.0.0.0:8080\"`, or run a reverse proxy on this machine that forwards {url} to {listen}."
            )
        };
        return Finding::problem(
            CHECK,
            format!(
                "The server listens on {listen}, which only this machine can reach, and {url} does not lead to it."
            ),
            fix,
        );
    }
    let elsewhere = format!("To be sure, run `curl -i {url}/healthz` on a machine in another network.");
    if !facts.addresses.is_empty() && facts.addresses.iter().all(|ip| network::is_inside(*ip)) {
        return Finding::ok(
            CHECK,
            format!("{url} leads to a private address, so only your network can open it."),
        );
    }
    if has_answered && facts.has_address {
        return Finding::ok(
            CHECK,
            format!("{url} leads to an address of this machine and was answered by this server. {elsewhere}"),
        );
    }
    if has_answered {
        return Finding::ok(
            CHECK,
            format!("{url} was answered by this server, through a proxy or a router. {elsewhere}"),
        );
    }
    let found = if facts.has_address {
        format!("{url} leads to an address of this machine; a firewall in front cannot be seen from here.")
    } else {
        format!("{url} leads to no address of this machine, as behind a router or a load balancer.")
    };
    Finding::not_checked(CHECK, found).with_fix(elsewhere)
}

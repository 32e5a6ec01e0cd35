//! Judges whether the server learns the addresses of its clients: quotas and limits depend on them.

use super::{Arrived, Check, Finding, SelfCheck};
use crate::network;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// How a request of ours arrived.
#[derive(Debug, Clone)]
pub struct ClientAddressFacts<'a> {
    pub result: &'a SelfCheck,
    /// Our end of the connection to the public address.
    pub local: Option<SocketAddr>,
    /// The address that we claimed in `X-Forwarded-For`, as a client with bad intentions would.
    pub claimed: IpAddr,
    pub trusted: &'a [IpNet],
    /// Whether `base_url` begins with https://.
    pub is_https: bool,
}

const SET_HEADER: &str = "Let the proxy set the header. nginx: `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`; Caddy does so by default.";

pub fn client_address(facts: &ClientAddressFacts<'_>) -> Finding {
    const CHECK: Check = Check::ClientAddress;
    let SelfCheck::Answered(arrived) = facts.result else {
        return Finding::not_checked(CHECK, "This needs an answer of the server through its public address.");
    };
    let peer = arrived.peer.ip().to_canonical();
    if facts.local.is_some_and(|local| is_same(local, arrived.peer)) {
        return Finding::ok(CHECK, "No proxy is in between: the server sees its clients directly.");
    }
    let lines = || arrived.forwarded_for.iter().map(String::as_str);
    let is_trusted = network::is_in(peer, facts.trusted);
    let entries: Vec<&str> = lines().flat_map(|line| line.split(',')).map(str::trim).collect();
    // Nothing was added to what we sent, so no proxy between wrote the header.
    let is_untouched = entries == [facts.claimed.to_string().as_str()];
    let trust = format!("Add it: `trusted_proxies = [\"{peer}\"]`.");
    // What follows our claim was added by proxies; if nothing does, the server would believe it.
    if is_trusted && entries.last() == Some(&facts.claimed.to_string().as_str()) {
        return Finding::problem(
            CHECK,
            format!(
                "The proxy at {peer} passes on any X-Forwarded-For that clients send, so they can claim every address."
            ),
            SET_HEADER,
        );
    }
    if is_trusted && entries.is_empty() {
        return Finding::problem(
            CHECK,
            format!(
                "The proxy at {peer} sends no X-Forwarded-For, so no client address is known and anonymous publishing is refused."
            ),
            SET_HEADER,
        );
    }
    if is_trusted {
        return Finding::ok(CHECK, format!("The proxy at {peer} is trusted and passes client addresses on."));
    }
    if entries.is_empty() || is_untouched {
        if !is_surely_proxied(arrived, facts, peer) {
            return Finding::not_checked(
                CHECK,
                format!(
                    "The request arrived from {peer}, which may be this machine behind a router or a proxy."
                ),
            );
        }
        return Finding::problem(
            CHECK,
            format!(
                "All clients appear as {peer}: the proxy there sends no X-Forwarded-For and is not trusted."
            ),
            format!("{SET_HEADER} {trust}"),
        );
    }
    Finding::problem(
        CHECK,
        format!(
            "All clients appear as {peer}: the proxy there is not in `trusted_proxies`, so its X-Forwarded-For is ignored."
        ),
        trust,
    )
}

fn is_same(local: SocketAddr, peer: SocketAddr) -> bool {
    local.ip().to_canonical() == peer.ip().to_canonical() && local.port() == peer.port()
}

/// A router also changes the address of a connection, but it does not end TLS, and it is not on this machine.
fn is_surely_proxied(arrived: &Arrived, facts: &ClientAddressFacts<'_>, peer: IpAddr) -> bool {
    (facts.is_https && !arrived.has_tls) || arrived.has_via || peer.is_loopback()
}

/// The shortest prefix that a network of proxies may have.
const SHORTEST_V4: u8 = 8;
const SHORTEST_V6: u8 = 16;

pub fn trusted_proxies(trusted: &[IpNet]) -> Finding {
    const CHECK: Check = Check::TrustedProxies;
    let is_too_wide = |net: &&IpNet| match net {
        IpNet::V4(net) => net.prefix_len() < SHORTEST_V4,
        IpNet::V6(net) => net.prefix_len() < SHORTEST_V6,
    };
    if let Some(net) = trusted.iter().find(is_too_wide) {
        return Finding::problem(
            CHECK,
            format!(
                "`trusted_proxies` contains {net}, so clients there can claim any address and evade every limit."
            ),
            "List only the addresses of your proxies, for example `trusted_proxies = [\"127.0.0.1/32\", \"::1/128\"]`.",
        );
    }
    match trusted {
        [] => Finding::ok(CHECK, "No proxy is trusted: the server takes the address of the connection."),
        nets => Finding::ok(CHECK, format!("{} trusted.", count(nets.len()))),
    }
}

fn count(networks: usize) -> String {
    if networks == 1 { "One network is".to_owned() } else { format!("{networks} networks are") }
}

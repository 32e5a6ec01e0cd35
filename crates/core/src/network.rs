//! Determines a request's client address, and which addresses count as one client.

use ipnet::{IpNet, Ipv6Net};
use std::net::IpAddr;

/// The client's address: the peer, unless the peer is a trusted proxy; then the right-most entry of `X-Forwarded-For` that is not
/// itself a trusted proxy. `None` when a trusted proxy passes no such address.
pub fn client_ip<'a>(
    peer: IpAddr,
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    trusted: &[IpNet],
) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    if !is_in(peer, trusted) {
        return Some(peer);
    }
    for entry in forwarded.rev().flat_map(|line| line.rsplit(',')) {
        let ip = parse_entry(entry.trim())?;
        if !is_in(ip, trusted) {
            return Some(ip);
        }
    }
    None
}

/// Parses an address as proxies write it: bare, with a port, or in brackets.
fn parse_entry(text: &str) -> Option<IpAddr> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Some(ip.to_canonical());
    }
    text.parse::<std::net::SocketAddr>().ok().map(|addr| addr.ip().to_canonical())
}

pub fn is_in(ip: IpAddr, networks: &[IpNet]) -> bool {
    let ip = ip.to_canonical();
    networks.iter().any(|net| net.contains(&ip))
}

/// Whether an address is only meaningful locally: loopback, private, link-local, unique local or unspecified.
pub fn is_inside(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
        IpAddr::V6(v6) => {
            v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_unspecified()
        }
    }
}

/// The network that counts as one client: the IPv4 address, or the IPv6 /64 that one customer gets.
pub fn client_network(ip: IpAddr) -> String {
    name(network_of(ip, 64))
}

/// The wider network of a client: the IPv4 address itself, or the IPv6 /48 that a provider may assign to one customer, who then
/// has 65,536 networks of [`client_network`].
pub fn wide_network(ip: IpAddr) -> String {
    name(network_of(ip, 48))
}

fn name(network: IpNet) -> String {
    match network {
        IpNet::V4(v4) => v4.addr().to_string(),
        IpNet::V6(v6) => v6.to_string(),
    }
}

/// The IPv4 address, or the IPv6 network of this prefix length.
pub fn network_of(ip: IpAddr, ipv6_prefix: u8) -> IpNet {
    match ip.to_canonical() {
        IpAddr::V4(v4) => IpNet::from(IpAddr::V4(v4)),
        IpAddr::V6(v6) => IpNet::V6(Ipv6Net::new_assert(v6, ipv6_prefix.min(128)).trunc()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(peer: &str, xff: &[&str], trusted: &[&str]) -> Option<String> {
        let nets: Vec<IpNet> = trusted.iter().map(|t| t.parse().unwrap()).collect();
        client_ip(peer.parse().unwrap(), xff.iter().copied(), &nets).map(|ip| ip.to_string())
    }

    #[test]
    fn an_untrusted_peer_cannot_lend_itself_an_address() {
        assert_eq!(ip("203.0.113.9", &["198.51.100.1"], &["10.0.0.0/8"]).unwrap(), "203.0.113.9");
        assert_eq!(ip("203.0.113.9", &["198.51.100.1"], &[]).unwrap(), "203.0.113.9");
    }

    #[test]
    fn the_right_most_untrusted_entry_counts() {
        let trusted = &["10.0.0.0/8"];
        assert_eq!(ip("10.0.0.1", &["1.2.3.4, 198.51.100.7, 10.0.0.2"], trusted).unwrap(), "198.51.100.7");
        assert_eq!(ip("10.0.0.1", &["1.2.3.4", "198.51.100.7:4711"], trusted).unwrap(), "198.51.100.7");
        assert_eq!(ip("::ffff:10.0.0.1", &["198.51.100.7"], trusted).unwrap(), "198.51.100.7");
    }

    #[test]
    fn a_proxy_that_names_nobody_leaves_no_address() {
        let trusted = &["10.0.0.0/8"];
        assert_eq!(ip("10.0.0.1", &[], trusted), None);
        assert_eq!(ip("10.0.0.1", &["unknown"], trusted), None);
        assert_eq!(ip("10.0.0.1", &["10.0.0.5"], trusted), None);
    }

    #[test]
    fn ipv6_clients_count_by_their_64() {
        let a = client_network("2001:db8:1:2:3:4:5:6".parse().unwrap());
        let b = client_network("2001:db8:1:2:ffff::1".parse().unwrap());
        assert_eq!(a, b);
        assert_eq!(client_network("::ffff:192.0.2.1".parse().unwrap()), "192.0.2.1");
        let wide = network_of("2001:db8:1:2:3:4:5:6".parse().unwrap(), 48);
        assert_eq!(wide.to_string(), "2001:db8:1::/48");
        assert_eq!(network_of("192.0.2.1".parse().unwrap(), 48).to_string(), "192.0.2.1/32");
        assert_eq!(wide_network("2001:db8:1:2::3".parse().unwrap()), "2001:db8:1::/48");
        assert_eq!(wide_network("::ffff:192.0.2.1".parse().unwrap()), "192.0.2.1");
    }
}

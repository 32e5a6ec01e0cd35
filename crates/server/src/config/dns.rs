//! The settings of `[dns]`: the servers that are asked about custom domains.

use anyhow::{Context, Result, ensure};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Where and how long to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsSettings {
    /// Empty: the system's servers.
    pub servers: Vec<SocketAddr>,
    pub timeout: Duration,
}

impl DnsSettings {
    /// Parses `dns.servers` and `dns.timeout_seconds`.
    pub(crate) fn parse(servers: &[String], timeout_seconds: u64) -> Result<Self> {
        ensure!(timeout_seconds > 0, "`dns.timeout_seconds` must be more than 0");
        let parse = |text: &String| {
            let alone = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 53));
            alone.or_else(|_| text.parse()).with_context(|| {
                format!(
                    "`dns.servers`: `{text}` is not an IP address with an optional port, such as 127.0.0.1:53"
                )
            })
        };
        let servers = servers.iter().map(parse).collect::<Result<_>>()?;
        Ok(Self { servers, timeout: Duration::from_secs(timeout_seconds) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_addresses_with_an_optional_port() {
        let parse =
            |text: &str| DnsSettings::parse(&[text.to_owned()], 5).map(|it| it.servers[0].to_string());
        assert_eq!(parse("192.0.2.1").unwrap(), "192.0.2.1:53");
        assert_eq!(parse("127.0.0.1:8053").unwrap(), "127.0.0.1:8053");
        assert_eq!(parse("2001:db8::1").unwrap(), "[2001:db8::1]:53");
        assert_eq!(parse("[::1]:8053").unwrap(), "[::1]:8053");
        for bad in ["", "dns.example.com", "127.0.0.1:", "127.0.0.1:99999", "udp://127.0.0.1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(DnsSettings::parse(&[], 0).is_err());
    }
}

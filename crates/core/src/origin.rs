//! Web origins: scheme, host and port, parsed from settings and from browsers' headers.

use std::net::IpAddr;

/// A public address of the service: scheme, host and port from a URL setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub scheme: &'static str,
    /// Lower case; an IPv6 address keeps its brackets.
    pub host: String,
    pub port: u16,
}

impl Origin {
    /// Parses `http://host[:port]` or `https://…`; a path, query or user name is an error.
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => "http",
            "https" => "https",
            _ => return None,
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = split_port(authority)?;
        let host = host.to_ascii_lowercase();
        if !is_host(&host) {
            return None;
        }
        Some(Self { scheme, host, port: port.unwrap_or_else(|| default_port(scheme)) })
    }

    fn port_suffix(&self) -> String {
        if self.port == default_port(self.scheme) { String::new() } else { format!(":{}", self.port) }
    }

    /// The URL without a trailing slash.
    pub fn url(&self) -> String {
        format!("{}://{}{}", self.scheme, self.host, self.port_suffix())
    }

    /// The URL of another host with the same scheme and port.
    pub fn url_of(&self, host: &str) -> String {
        format!("{}://{host}{}", self.scheme, self.port_suffix())
    }

    /// The host in reverse-DNS order, as namespaces are written: `org.example.drop`. An IP address is kept in order, with
    /// characters that a namespace cannot contain removed or replaced.
    pub fn namespace(&self) -> String {
        if self.is_ip() {
            return self.host.trim_matches(['[', ']']).replace(':', "-");
        }
        let mut labels: Vec<&str> = self.host.split('.').collect();
        labels.reverse();
        labels.join(".").replace('_', "-")
    }

    pub fn is_ip(&self) -> bool {
        self.host.starts_with('[') || self.host.parse::<IpAddr>().is_ok()
    }

    pub fn is_loopback(&self) -> bool {
        let ip = self.host.trim_matches(['[', ']']).parse::<IpAddr>();
        self.host == "localhost" || self.host.ends_with(".localhost") || ip.is_ok_and(|ip| ip.is_loopback())
    }

    /// Whether browsers accept a `Secure` cookie from here: over https, and from loopback names.
    pub fn takes_secure_cookies(&self) -> bool {
        self.scheme == "https" || self.is_loopback()
    }
}

/// Normalizes an origin as browsers write it: of a web page, or with another scheme, such as an extension's. `None` for anything
/// that is not an origin, and for `null`, which any page can have.
pub fn written_origin(text: &str) -> Option<String> {
    if let Some(origin) = Origin::parse(text) {
        return Some(origin.url());
    }
    let (scheme, rest) = text.split_once("://")?;
    let is_word = |text: &str, more: &[u8]| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || more.contains(&b))
    };
    let web = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
    (!web && is_word(scheme, b"+-.") && is_word(rest, b"-._:")).then(|| text.to_ascii_lowercase())
}

pub(crate) const fn default_port(scheme: &str) -> u16 {
    // "http" and "https" are the only schemes here.
    if scheme.len() == 4 { 80 } else { 443 }
}

/// Splits `host[:port]`, leaving IPv6 brackets on the host. `None` when the port is not a number.
pub(crate) fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let name_end = if authority.starts_with('[') {
        authority.find(']')? + 1
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, rest) = authority.split_at(name_end);
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((host, None)),
        Some(port) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            Some((host, Some(port.parse().ok()?)))
        }
        _ => None,
    }
}

fn is_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.strip_suffix(']').is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok());
    }
    !host.is_empty()
        && host.len() <= 253
        && host.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn origins_are_compared_as_browsers_write_them() {
        let written = |text| written_origin(text);
        assert_eq!(written("HTTPS://App.Example.com:443/").as_deref(), Some("https://app.example.com"));
        assert_eq!(written("http://localhost:6274").as_deref(), Some("http://localhost:6274"));
        assert_eq!(written("chrome-extension://AbC").as_deref(), Some("chrome-extension://abc"));
        for none in
            ["null", "", "*", "example.com", "https://a.example/path", "https://a:b@c", "x://", "x://a/b"]
        {
            assert_eq!(written(none), None, "{none}");
        }
    }

    #[test]
    fn namespaces_turn_names_around_and_leave_addresses() {
        for (url, namespace) in [
            ("https://drop.example.org", "org.example.drop"),
            ("http://localhost:8080", "localhost"),
            ("https://my_host.example", "example.my-host"),
            ("http://192.0.2.1:8080", "192.0.2.1"),
            ("http://[2001:db8::1]", "2001-db8--1"),
        ] {
            assert_eq!(Origin::parse(url).unwrap().namespace(), namespace, "{url}");
        }
    }

    #[test]
    fn odd_urls_are_no_origin() {
        for bad in [
            "",
            "localhost",
            "ftp://x",
            "http://",
            "http://a b",
            "http://x/path",
            "http://u@x",
            "http://x:99999",
            "http://[::1",
        ] {
            assert_eq!(Origin::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn reading_an_origin_never_panics(raw in ".*") {
            let _ = Origin::parse(&raw);
        }
    }
}

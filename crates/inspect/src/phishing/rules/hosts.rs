//! Classifies where a URL leads, by lists of hosts and by its form alone. Resolves nothing.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::phishing::fold::exact;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostKind {
    Bot,
    Relay,
    Nowhere,
    Payment,
    Neutral,
    /// Shows templates, whose copies are meant to be used.
    Template,
    /// Pages may not refer to it, by decision of the operator.
    Blocked,
    Brand(u16),
}

impl HostKind {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "bot" => Self::Bot,
            "relay" => Self::Relay,
            "nowhere" => Self::Nowhere,
            "payment" => Self::Payment,
            "neutral" => Self::Neutral,
            "template" => Self::Template,
            "blocked" => Self::Blocked,
            _ => return None,
        })
    }
}

/// Where a form or script would send data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nothing leaves the page: an empty action, a fragment, a `javascript:` URL.
    Nowhere,
    /// A relative path.
    Local(String),
    /// A relative path to a server-side script.
    ServerScript(String),
    Mail,
    /// A bare IP address.
    Address(String),
    Host(String, Option<HostKind>),
}

impl Target {
    /// The host, if data would leave the page for one.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::Host(host, _) | Self::Address(host) => Some(host),
            Self::Nowhere | Self::Local(_) | Self::ServerScript(_) | Self::Mail => None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// By host, each entry with its path prefix; most have none.
    known: HashMap<String, Vec<(String, HostKind)>>,
    /// Separate, because no more specific entry can make an exception.
    blocked: HashMap<String, Vec<String>>,
}

const SCRIPTS: [&str; 10] = ["php", "asp", "aspx", "ashx", "jsp", "cgi", "pl", "do", "cfm", "phtml"];
/// The form target of a well-known beginners' tutorial.
const EXAMPLE_SCRIPT: &str = "action_page.php";
const LONGEST: usize = 2048;

impl Hosts {
    pub(crate) fn add(&mut self, entry: &str, kind: HostKind) {
        let (host, path) = entry.split_once('/').unwrap_or((entry, ""));
        let (host, path) = (host.to_ascii_lowercase(), path.to_ascii_lowercase());
        if kind == HostKind::Blocked {
            self.blocked.entry(host).or_default().push(path);
        } else {
            self.known.entry(host).or_default().push((path, kind));
        }
    }

    /// Whether the operator blocks any host.
    pub(crate) fn has_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// The most specific entry for a host and path.
    pub(crate) fn kind(&self, host: &str, path: &str) -> Option<HostKind> {
        let path = path.trim_start_matches('/').as_bytes();
        let begins = |start: &str| {
            path.get(..start.len()).is_some_and(|path| path.eq_ignore_ascii_case(start.as_bytes()))
        };
        if self.is_blocked(host, begins) {
            return Some(HostKind::Blocked);
        }
        let mut name = host;
        loop {
            let entries = self.known.get(name).map(Vec::as_slice).unwrap_or_default();
            let fitting = entries.iter().filter(|(start, _)| begins(start));
            if let Some((_, kind)) = fitting.max_by_key(|(start, _)| start.len()) {
                return Some(*kind);
            }
            name = name.split_once('.')?.1;
        }
    }

    fn is_blocked(&self, host: &str, begins: impl Fn(&str) -> bool) -> bool {
        let starts = |name: &str| {
            self.blocked.get(name).is_some_and(|starts| starts.iter().any(|start| begins(start)))
        };
        let mut names = std::iter::successors(Some(host), |name| name.split_once('.').map(|(_, rest)| rest));
        !self.blocked.is_empty() && names.any(starts)
    }

    /// Classifies a URL as written in a page, with its character references.
    pub(crate) fn target(&self, address: &str) -> Target {
        if address.len() > LONGEST {
            return Target::Nowhere;
        }
        let address = plain(address);
        let (scheme, rest) = match address.split_once(':') {
            Some((scheme, rest)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+') => {
                (scheme, rest)
            }
            _ => ("", &*address),
        };
        match scheme {
            "mailto" => return Target::Mail,
            "" | "http" | "https" | "ws" | "wss" => {}
            _ => return Target::Nowhere,
        }
        let Some(after) = rest.strip_prefix("//") else { return local(rest) };
        let (authority, path) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let host = host.split(':').next().unwrap_or(host).trim_end_matches('.');
        if host.is_empty() {
            return Target::Nowhere;
        }
        match self.kind(host, path) {
            Some(HostKind::Nowhere) => Target::Nowhere,
            None if is_reserved(host) => Target::Nowhere,
            None if is_address(host) => Target::Address(host.to_owned()),
            kind => Target::Host(host.to_owned(), kind),
        }
    }
}

/// A URL as a browser reads it: character references decoded, lowercase, backslashes as slashes, no white space.
fn plain(address: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'&' | b',' | b'\\');
    if address.bytes().all(is_plain) {
        let has_capitals = address.bytes().any(|byte| byte.is_ascii_uppercase());
        return if has_capitals { address.to_ascii_lowercase().into() } else { address.into() };
    }
    let folded = exact(address);
    Cow::Owned(
        folded.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '\\' { '/' } else { c }).collect(),
    )
}

fn local(path: &str) -> Target {
    let bare = path.split(['?', '#']).next().unwrap_or_default();
    if bare.is_empty() || matches!(bare, "." | "./") {
        return Target::Nowhere;
    }
    let name = bare.rsplit('/').next().unwrap_or(bare);
    match name.rsplit_once('.') {
        Some((_, extension)) if SCRIPTS.contains(&extension) && name != EXAMPLE_SCRIPT => {
            Target::ServerScript(bare.to_owned())
        }
        _ if name == EXAMPLE_SCRIPT => Target::Nowhere,
        _ => Target::Local(bare.to_owned()),
    }
}

/// Single-label and local names, which lead nowhere on the public Internet (RFC 2606, RFC 6761).
fn is_reserved(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    !host.contains('.') && !host.starts_with('[') || matches!(last, "localhost" | "local")
}

fn is_address(host: &str) -> bool {
    let dotted = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && host.contains('.');
    dotted || host.starts_with('[') || host.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        let mut hosts = Hosts::default();
        hosts.add("relay.io", HostKind::Relay);
        hosts.add("brand.com", HostKind::Brand(1));
        hosts.add("cdn.brand.com", HostKind::Neutral);
        hosts.add("chat.com/hooks", HostKind::Bot);
        hosts
    }

    #[test]
    fn the_most_particular_entry_counts() {
        let hosts = hosts();
        assert_eq!(hosts.kind("www.brand.com", "/x"), Some(HostKind::Brand(1)));
        assert_eq!(hosts.kind("a.cdn.brand.com", ""), Some(HostKind::Neutral));
        assert_eq!(hosts.kind("notbrand.com", ""), None);
        assert_eq!(hosts.kind("chat.com", "/hooks/1"), Some(HostKind::Bot));
        assert_eq!(hosts.kind("chat.com", "/about"), None);
    }

    #[test]
    fn what_is_blocked_is_blocked_with_everything_under_it() {
        let mut hosts = hosts();
        hosts.add("Brand.com", HostKind::Blocked);
        hosts.add("drop.example/in", HostKind::Blocked);
        assert_eq!(hosts.kind("a.cdn.brand.com", "/x"), Some(HostKind::Blocked));
        assert_eq!(hosts.kind("drop.example", "/IN/1"), Some(HostKind::Blocked));
        assert_eq!(hosts.kind("drop.example", "/"), None);
    }

    #[test]
    fn addresses_are_read_as_browsers_read_them() {
        let hosts = hosts();
        let host = |name: &str, kind| Target::Host(name.to_owned(), kind);
        for (address, target) in [
            ("", Target::Nowhere),
            ("#", Target::Nowhere),
            ("javascript:void(0)", Target::Nowhere),
            ("mailto:a@b.c", Target::Mail),
            ("login.php?x=1", Target::ServerScript("login.php".to_owned())),
            ("/action_page.php", Target::Nowhere),
            ("next.html", Target::Local("next.html".to_owned())),
            ("//Relay.io/f/1", host("relay.io", Some(HostKind::Relay))),
            ("https:\\\\evil.org\\a", host("evil.org", None)),
            ("https://user:pw@evil.org:8443/a", host("evil.org", None)),
            ("ht&#116;ps://evil.org", host("evil.org", None)),
            ("h\nttps://evil.org", host("evil.org", None)),
            ("http://10.0.0.1/x", Target::Address("10.0.0.1".to_owned())),
            ("http://localhost:3000/login", Target::Nowhere),
        ] {
            assert_eq!(hosts.target(address), target, "{address}");
        }
    }
}

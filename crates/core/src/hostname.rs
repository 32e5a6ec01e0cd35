//! Host names of custom domains: which are accepted, and the form that is stored and compared.

use crate::host::Hosts;
use crate::{Error, Result};
use std::fmt;
use std::net::IpAddr;
use unicode_security::{GeneralSecurityProfile, MixedScript, skeleton};

/// The longest host name. RFC 1035 §2.3.4, without the trailing dot.
const LONGEST: usize = 253;
/// Top-level names that public DNS never resolves. Other reserved ones, such as `.test`, exist on private DNS servers.
const NEVER_PUBLIC: [&str; 7] = ["alt", "arpa", "internal", "invalid", "local", "localhost", "onion"];

/// A host name below a public suffix, in lower-case ASCII (IDNA) without a trailing dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hostname(String);

impl Hostname {
    /// Normalizes and checks a name that an owner wants to use. Refuses our own names, which others serve.
    pub fn parse(text: &str, hosts: &Hosts) -> Result<Self> {
        let name = Self::normalize(text)?;
        if hosts.covers(&name.0) {
            return Err(refused("is an address of this server; use a domain of your own"));
        }
        Ok(name)
    }

    fn normalize(text: &str) -> Result<Self> {
        let text = text.trim();
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.contains('*') {
            return Err(refused("must be one name; wildcards are not supported"));
        }
        if text.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
            return Err(refused("must be a host name, not an IP address"));
        }
        if text.contains([':', '/', '@', '?', '#']) {
            return Err(refused("must be a host name alone, without scheme, port or path"));
        }
        if text.len() > LONGEST && text.is_ascii() {
            return Err(refused("must have at most 253 characters"));
        }
        let name = idna::domain_to_ascii_strict(text)
            .map_err(|_| refused("must be a host name such as reports.example.com"))?;
        let top = name.rsplit('.').next().unwrap_or_default();
        if is_number(top) {
            return Err(refused("must be a host name, not an IP address"));
        }
        // `None` for a single label and for a public suffix such as co.uk or github.io.
        if psl::domain_str(&name).is_none() {
            return Err(refused("must be a name below a public suffix, such as reports.example.com"));
        }
        if NEVER_PUBLIC.contains(&top) {
            return Err(refused("must be a name that public DNS servers resolve"));
        }
        let name = Self(name);
        if name.unicode().split('.').any(is_deceptive) {
            return Err(refused("mixes alphabets, or has letters that look like Latin ones"));
        }
        Ok(name)
    }

    /// The stored form of a name in an address or a request. `None` if no domain can have it.
    pub fn normalize_lookup(text: &str) -> Option<String> {
        let text = text.trim();
        let text = text.strip_suffix('.').unwrap_or(text);
        (text.len() <= 4 * LONGEST).then(|| idna::domain_to_ascii_strict(text).ok()).flatten()
    }

    /// A name that was checked when it was stored; the rules may have become stricter since.
    pub const fn parse_stored(name: String) -> Self {
        Self(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the registered domain itself, where DNS allows no CNAME record.
    pub fn is_apex(&self) -> bool {
        psl::domain_str(&self.0) == Some(&self.0)
    }

    /// The domain that someone registered: the name below the public suffix, `example.com` of `reports.example.com`.
    pub fn registered_domain(&self) -> &str {
        psl::domain_str(&self.0).unwrap_or(&self.0)
    }

    /// As people read it: with Unicode letters instead of `xn--`.
    pub fn unicode(&self) -> String {
        idna::domain_to_unicode(&self.0).0
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a last label makes the whole an IPv4 address for browsers: decimal digits, or hexadecimal ones after `0x`.
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    hex || label.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a label could be mistaken for another one: it mixes scripts, has characters that no modern language writes, or is
/// written in another script with letters that all look like Latin ones. Unicode Technical Standard 39.
fn is_deceptive(label: &str) -> bool {
    if label.is_ascii() {
        return false;
    }
    let is_uncommon = |c: char| !c.is_ascii() && !c.identifier_allowed();
    let latin = label.chars().any(|c| c.is_ascii_alphabetic()) || {
        // Accented letters are Latin if their base letter is.
        use unicode_normalization::UnicodeNormalization;
        label.nfd().any(|c| c.is_ascii_alphabetic())
    };
    let looks_latin = || skeleton(label).all(|c| c.is_ascii());
    !label.is_single_script() || label.chars().any(is_uncommon) || (!latin && looks_latin())
}

fn refused(problem: &str) -> Error {
    Error::field("hostname", problem)
}

#[cfg(test)]
#[path = "hostname_tests.rs"]
mod tests;

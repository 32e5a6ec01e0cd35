//! Host names of custom domains: which are accepted, and the form that is stored and compared.

use crate::host::Hosts;
use crate::{Error, Result};
use std::fmt;

/// The longest host name. RFC 1035 §2.3.4, without the trailing dot.
const LONGEST: usize = 253;

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
        if text.contains([':', '/', '@']) {
            return Err(refused("must be a host name alone, without scheme, port or path"));
        }
        let name = idna::domain_to_ascii_strict(text)
            .map_err(|_| refused("must be a host name such as reports.example.com"))?;
        if name.len() > LONGEST {
            return Err(refused("must have at most 253 characters"));
        }
        // An address is no name; the last label of a name is never a number.
        if name.rsplit('.').next().is_none_or(|label| label.bytes().all(|b| b.is_ascii_digit())) {
            return Err(refused("must be a host name, not an IP address"));
        }
        // `None` for a single label and for a public suffix such as co.uk.
        if psl::domain_str(&name).is_none() {
            return Err(refused("must be a name below a public suffix, such as reports.example.com"));
        }
        Ok(Self(name))
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

fn refused(problem: &str) -> Error {
    Error::field("hostname", problem)
}

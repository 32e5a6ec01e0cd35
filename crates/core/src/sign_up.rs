//! Who may create an account by signing in: everyone, only those on a list, or no one.

use crate::{Error, Result, email};

/// The operator's setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignUp {
    Open,
    AllowList(Vec<AllowListEntry>),
    Closed,
}

/// An entry of the allow list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowListEntry {
    Address(String),
    /// All addresses of exactly this domain.
    Domain(String),
}

impl AllowListEntry {
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        // People also write a domain as `@example.com`.
        match text.strip_prefix('@') {
            None if text.contains('@') => email::address(text).map(Self::Address),
            rest => email::domain(rest.unwrap_or(text)).map(Self::Domain).ok_or_else(|| {
                Error::field("allowed", format!("`{text}` is neither an email address nor a domain"))
            }),
        }
    }
}

impl SignUp {
    /// Whether this normalized address (see [`email::address`]) may create an account.
    pub fn admits(&self, address: &str) -> bool {
        match self {
            Self::Open => true,
            Self::Closed => false,
            Self::AllowList(entries) => entries.iter().any(|entry| match entry {
                AllowListEntry::Address(one) => one == address,
                AllowListEntry::Domain(domain) => email::is_of_domain(address, domain),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_admits_its_addresses_and_exactly_its_domains() {
        let list = ["Ann@Example.com", "@team.example", "lab.example"];
        let list = SignUp::AllowList(list.map(|text| AllowListEntry::parse(text).unwrap()).to_vec());
        for good in ["ann@example.com", "x@team.example", "y@lab.example"] {
            assert!(list.admits(good), "{good}");
        }
        for bad in
            ["bob@example.com", "x@sub.team.example", "x@badteam.example", "ann@example.com.evil.example"]
        {
            assert!(!list.admits(bad), "{bad}");
        }
        assert!(SignUp::Open.admits("a@b.example") && !SignUp::Closed.admits("a@b.example"));
    }

    #[test]
    fn nonsense_is_no_entry() {
        for bad in ["", "@", "a b", "*.example.com", "a@b@c.example", "@a@b.example"] {
            assert!(AllowListEntry::parse(bad).is_err(), "{bad}");
        }
    }
}

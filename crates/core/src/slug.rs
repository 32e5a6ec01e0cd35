//! Slugs, the public names of pages: which are allowed, and their normalized form.

use crate::{Code, Error, Result};

/// Names with a meaning for browsers, mail or people, which no page may use.
const RESERVED: &[&str] = &[
    "www",
    "api",
    "app",
    "admin",
    "mail",
    "static",
    "cdn",
    "mta-sts",
    "autoconfig",
    "autodiscover",
    "localhost",
    "wpad",
    "isatap",
    "status",
    "docs",
    "help",
    "support",
    "pay",
    "login",
    "auth",
    "oauth",
    "mcp",
    "dashboard",
    "account",
    "billing",
    "security",
    "abuse",
    "postmaster",
    "webmaster",
    "hostmaster",
    "root",
    "smtp",
    "imap",
    "pop",
    "ftp",
    "assets",
    "agents",
];

/// A valid slug; always lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slug(String);

impl Slug {
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim().to_ascii_lowercase();
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let shaped = (3..=63).contains(&text.len())
            && text.bytes().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if !shaped {
            return Err(Error::plain(Code::InvalidSlug));
        }
        let ns = text.strip_prefix("ns").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        if text.starts_with("s-")
            || text.starts_with("d-")
            || text.starts_with("xn--")
            || ns
            || RESERVED.contains(&text.as_str())
        {
            return Err(Error::new(
                Code::InvalidSlug,
                format!("The slug `{text}` is reserved; choose another."),
            ));
        }
        Ok(Self(text))
    }

    /// A slug that was validated when it was stored; the rules may have become stricter since.
    pub fn parse_stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Slug;

    #[test]
    fn good_slugs_pass_in_lower_case() {
        let longest = "a".repeat(63);
        for good in ["abc", "my-report-2026", "0-0", &longest] {
            assert_eq!(Slug::parse(good).unwrap().as_str(), good);
        }
        assert_eq!(Slug::parse(" Report ").unwrap().as_str(), "report");
    }

    #[test]
    fn short_odd_and_reserved_slugs_are_refused() {
        let too_long = "a".repeat(64);
        for bad in [
            "", "a", "ab", "-ab", "ab-", "a_b", "a.b", "s-abc", "d-abc", "xn--abc", "www", "ns1", "api",
            "ünï", &too_long,
        ] {
            assert!(Slug::parse(bad).is_err(), "{bad}");
        }
    }
}

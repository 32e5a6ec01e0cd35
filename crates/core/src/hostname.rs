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
mod tests {
    use super::*;
    use crate::host::Origin;
    use proptest::prelude::*;

    fn hosts() -> Hosts {
        let base = Origin::parse("https://api.dropleaf.example").unwrap();
        let site = Origin::parse("https://pages.dropleaf.example").unwrap();
        let agents = Origin::parse("https://agents.other.example").unwrap();
        Hosts::new(base, site, "pages.dropleaf.example".into(), true).with_agents(agents).unwrap()
    }

    fn parse(text: &str) -> Result<Hostname> {
        Hostname::parse(text, &hosts())
    }

    #[test]
    fn names_are_stored_in_one_form() {
        for text in ["reports.customer.example", "Reports.CUSTOMER.example.", "  reports.customer.example "] {
            assert_eq!(parse(text).unwrap().as_str(), "reports.customer.example", "{text}");
        }
        let name = parse("Berichte.Bücher.example").unwrap();
        assert_eq!(name.as_str(), "berichte.xn--bcher-kva.example");
        assert_eq!(name.unicode(), "berichte.bücher.example");
        assert_eq!(parse("berichte.xn--bcher-kva.example").unwrap(), name);
        assert_eq!(Hostname::normalize_lookup("BERICHTE.bücher.example.").as_deref(), Some(name.as_str()));
    }

    #[test]
    fn an_apex_is_the_registered_domain() {
        for (name, is_apex) in [
            ("customer.example", true),
            ("customer.co.uk", true),
            ("someone.github.io", true),
            ("www.customer.co.uk", false),
            ("a.b.customer.example", false),
        ] {
            assert_eq!(parse(name).unwrap().is_apex(), is_apex, "{name}");
        }
    }

    #[test]
    fn names_that_cannot_be_custom_domains_are_refused() {
        let long_label = format!("{}.customer.example", "a".repeat(64));
        let long_name = format!("{}example", "abcdefg.".repeat(31));
        assert_eq!(long_name.len(), 255);
        let longest = format!("{}.com", ["a"; 125].join("."));
        assert_eq!(longest.len(), 253);
        assert!(parse(&longest).is_ok());
        // The limit is that of the ASCII form: one more character, and a name that is short only in Unicode.
        let one_more = format!("a{longest}");
        assert_eq!(one_more.len(), 254);
        let long_in_ascii = format!("{}example", "bücher.".repeat(18));
        assert_eq!((long_in_ascii.chars().count(), "xn--bcher-kva.".len() * 18 + 7), (133, 259));
        for bad in [
            "",
            ".",
            "..",
            "customer",
            "localhost",
            "com",
            "co.uk",
            "github.io",
            "s3.amazonaws.com",
            "api.dropleaf.example",
            "API.Dropleaf.Example.",
            "x.api.dropleaf.example",
            "pages.dropleaf.example",
            "s-abc.pages.dropleaf.example",
            "a.b.pages.dropleaf.example",
            "agents.other.example",
            "192.0.2.1",
            "192.0.2.1.",
            "2130706433",
            "0x7f000001",
            "127.0.0.0x1",
            "0177.0.0.1",
            "127.1",
            "::1",
            "[::1]",
            "2001:db8::1",
            "*.customer.example",
            "*",
            "reports.*.example",
            "https://reports.customer.example/",
            "reports.customer.example:443",
            "a@customer.example",
            "under_score.customer.example",
            "a..customer.example",
            ".customer.example",
            "customer.example..",
            "-a.customer.example",
            "a-.customer.example",
            "a b.customer.example",
            "a\u{0}.customer.example",
            "printer.local",
            "db.internal",
            "x.localhost",
            "x.onion",
            "1.0.0.127.in-addr.arpa",
            "x.invalid",
            "xn--.customer.example",
            "xn--a.customer.example",
            "customer.example/path",
            "customer.example?x",
            &long_label,
            &long_name,
            &one_more,
            &long_in_ascii,
        ] {
            let error = parse(bad).map(|name| name.to_string()).expect_err(bad);
            assert!(error.code == crate::Code::InvalidField && error.detail.contains("hostname"), "{bad}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_refused() {
        for bad in [
            // Cyrillic only, reads "apple"; mixed with Latin, reads "paypal"; Greek omicron in a Latin word.
            "аррӏе.example",
            "pаypal.example",
            "micrοsoft.example",
            // The same in ASCII, and below an honest name.
            "xn--80ak6aa92e.example",
            "www.аррӏе.example",
            "аррӏе.customer.example",
            // Latin letters that only phonetic notation uses.
            "ɡoogle.example",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        for good in [
            "bücher.example",
            "straße.example",
            "kadın.example",
            "пример.example",
            "例え.example",
            "日本語テスト.example",
            "παράδειγμα.example",
            "한국어.example",
            "مثال.example",
            "עברית.example",
            "łódź.example",
            "tiếngviệt.example",
        ] {
            assert!(parse(good).is_ok(), "{good}: {:?}", parse(good));
        }
    }

    #[test]
    fn names_below_reserved_test_suffixes_are_accepted() {
        for name in ["reports.customer.example", "reports.customer.test", "reports.corp"] {
            assert!(parse(name).is_ok(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_plain_stays_itself_and_is_none_of_ours(text in "\\PC{0,300}") {
            if let Ok(name) = parse(&text) {
                let stored = name.as_str();
                let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
                prop_assert!(stored.len() <= LONGEST && stored.bytes().all(is_plain));
                prop_assert!(stored.split('.').all(|label| (1..=63).contains(&label.len())));
                prop_assert!(!hosts().covers(stored) && stored.parse::<IpAddr>().is_err());
                prop_assert_eq!(&parse(stored).unwrap(), &name);
                prop_assert_eq!(&parse(&name.unicode()).unwrap(), &name);
            }
        }

        #[test]
        fn case_and_trailing_dot_make_no_difference(
            labels in prop::collection::vec("[a-z][a-z0-9]{0,20}", 2..5),
            upper in any::<bool>(),
            dot in any::<bool>(),
        ) {
            let plain = format!("{}.example", labels.join("."));
            let mut other = if upper { plain.to_uppercase() } else { plain.clone() };
            if dot {
                other.push('.');
            }
            prop_assert_eq!(parse(&plain).unwrap(), parse(&other).unwrap());
        }

        #[test]
        fn nothing_below_our_own_names_is_accepted(label in "[a-z0-9]{1,10}", own in 0..3_usize) {
            let own = ["api.dropleaf.example", "pages.dropleaf.example", "agents.other.example"][own];
            let name = format!("{label}.{own}");
            prop_assert!(parse(&name).is_err());
        }
    }
}

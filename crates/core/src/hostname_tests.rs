//! Host names: which are accepted, and in which form.

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

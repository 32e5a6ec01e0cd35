//! Email addresses and domains. Accepts only addresses that every mail server interprets in the same way: a person who proves one
//! may pass an email gate for its domain, so no mail server may read part of the name as a route to another host.

use crate::{Error, Result};

/// The longest deliverable address.
const ADDRESS_BYTES: usize = 254;

/// The longest local part. RFC 5321 §4.5.3.1.1.
const NAME_BYTES: usize = 64;

/// Normalizes an address to the form that is stored and compared: lower case, with the domain in its ASCII form.
pub fn address(text: &str) -> Result<String> {
    let bad = || Error::field("email", "is not an email address");
    let (name, host) = text.trim().split_once('@').ok_or_else(bad)?;
    let host = ascii_host(host, 1).ok_or_else(bad)?;
    let whole = format!("{}@{host}", name.to_ascii_lowercase());
    if !is_plain_name(name) || whole.len() > ADDRESS_BYTES {
        return Err(bad());
    }
    Ok(whole)
}

/// Whether the local part is a plain dot-atom (RFC 5321 §4.1.2). Refuses those atom characters that mail servers may interpret:
/// `!` and `%` route onwards (`other!user`, `user%other`), `|` and `/` name programs and files, `?` is part of an encoded word,
/// `$`, `` ` ``, `{` and `}` are expanded, a leading `-` is an option.
fn is_plain_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"&'+-=_~".contains(&b);
    name.len() <= NAME_BYTES
        && !name.starts_with('-')
        && name.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(plain))
}

/// Validates the domain of an email gate: a host name of at least two labels, in lower case and its ASCII form.
pub fn gate_domain(text: &str) -> Result<String> {
    ascii_host(text.trim().trim_start_matches('@').trim_end_matches('.'), 2)
        .ok_or_else(|| Error::field("email_gate_domain", "must be a domain such as example.com"))
}

/// Normalizes a domain to the form that is compared; `None` if it is not one.
pub fn domain(text: &str) -> Option<String> {
    ascii_host(text, 1)
}

/// Whether a normalized [`address`] is in exactly this domain. A subdomain is a different domain.
pub fn is_of_domain(address: &str, domain: &str) -> bool {
    address.split_once('@').is_some_and(|(_, host)| host == domain)
}

/// The host name in lower-case ASCII (IDNA, as browsers encode it), if it is valid.
fn ascii_host(text: &str, labels: usize) -> Option<String> {
    let host = idna::domain_to_ascii(text).ok()?;
    is_host_name(&host, labels).then_some(host)
}

fn is_host_name(text: &str, labels: usize) -> bool {
    text.len() <= 253
        && text.split('.').count() >= labels
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_addresses_pass_and_clever_ones_do_not() {
        assert_eq!(address(" Ann@Example.com ").unwrap(), "ann@example.com");
        assert_eq!(address("a.b+c_d@x.example").unwrap(), "a.b+c_d@x.example");
        assert!(address("operator@localhost").is_ok());
        let long = format!("{}@example.com", "a".repeat(243));
        for bad in [
            "",
            "a",
            "@x.com",
            "a@",
            "a@b@c.com",
            "a@c.com@example.com",
            "a b@c.com",
            "a\u{0}@c.com",
            "a@c.com\nBcc: b@c.com",
            "\"a\"@c.com",
            "a%b@c.com",
            "a@-c.com",
            "a,b@c.com",
            "a@c.com,b@c.com",
            "a@[127.0.0.1]",
            "a(x)@c.com",
            "ä@c.com",
            &long,
        ] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_that_a_mail_server_could_route_elsewhere_are_refused() {
        for bad in [
            "evil.example!attacker@corp.example",
            "evil!attacker@corp.example",
            "=?utf-8?q?attacker=40evil.example?=x@corp.example",
            "=?utf-8?b?YQ==?=@corp.example",
            "attacker%evil.example@corp.example",
            "@evil.example:attacker@corp.example",
            "@a.example,@b.example:attacker@corp.example",
            "\"attacker@evil.example\"@corp.example",
            "\"attacker\"@corp.example",
            "attacker\\@evil.example@corp.example",
            "attacker(evil.example)@corp.example",
            "attacker@(evil)corp.example",
            "<attacker@corp.example>",
            "Ann <ann@corp.example>",
            "attacker\t@corp.example",
            "attacker\r\n@corp.example",
            "attacker\u{7f}@corp.example",
            "attacker\u{ff20}evil.example@corp.example",
            "attacker@corp.example\u{ff20}evil.example",
            "|attacker@corp.example",
            "|/bin/sh@corp.example",
            "/var/mail/x@corp.example",
            "`id`@corp.example",
            "${x}@corp.example",
            "-oQ/tmp@corp.example",
            "-attacker@corp.example",
            ".attacker@corp.example",
            "attacker.@corp.example",
            "at..tacker@corp.example",
            "a*@corp.example",
            "attacker:@corp.example",
            "a;b@corp.example",
            "attacker@corp.example.",
            "attacker@corp%2eexample",
            "attacker@[IPv6:::1]",
            &format!("{}@corp.example", "a".repeat(65)),
        ] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ordinary_names_are_accepted() {
        for good in [
            "ann@corp.example",
            "ann.lee@corp.example",
            "a@corp.example",
            "ann+news@corp.example",
            "ann+a.b-c@corp.example",
            "ann_lee@corp.example",
            "ann-lee@corp.example",
            "o'brien@corp.example",
            "r&d@corp.example",
            "2026@corp.example",
            "bounce-ann=other.example@corp.example",
            "~ann@corp.example",
            "_dmarc@corp.example",
            &format!("{}@corp.example", "a".repeat(64)),
        ] {
            assert_eq!(address(good).unwrap(), good);
        }
    }

    #[test]
    fn a_gate_domain_needs_two_labels() {
        assert_eq!(gate_domain("@Example.COM.").unwrap(), "example.com");
        for bad in ["", "com", "a..b", "-a.com", "ex ample.com", "a@b.com"] {
            assert!(gate_domain(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_in_other_scripts_are_compared_in_their_ascii_form() {
        let domain = gate_domain("Bücher.example").unwrap();
        assert_eq!(domain, "xn--bcher-kva.example");
        assert!(is_of_domain(&address("ann@BÜCHER.example").unwrap(), &domain));
        assert!(is_of_domain(&address("ann@xn--bcher-kva.example").unwrap(), &domain));
        assert!(is_of_domain(&address("ann@ｂücher.example").unwrap(), &domain));
    }

    #[test]
    fn only_exactly_the_domain_matches() {
        let domain = gate_domain("example.com").unwrap();
        assert!(is_of_domain(&address("Ann@EXAMPLE.com").unwrap(), &domain));
        for other in ["a@sub.example.com", "a@badexample.com", "a@example.com.evil.org", "a@example.co"] {
            assert!(!is_of_domain(&address(other).unwrap(), &domain), "{other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_one_plain_line(text in ".{0,40}|[a-z@.%\" ,]{0,20}") {
            if let Ok(address) = address(&text) {
                prop_assert!(address.bytes().all(|b| b.is_ascii_graphic()));
                prop_assert_eq!(address.matches('@').count(), 1);
                prop_assert_eq!(super::address(&address).unwrap(), address);
            }
        }
    }
}

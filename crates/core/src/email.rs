//! E-mail addresses and domains, as far as the service reads them: exactly one `@`, nothing clever.

use crate::{Error, Result};

/// An address in the one spelling that is stored and compared.
pub fn address(text: &str) -> Result<String> {
    let text = text.trim().to_lowercase();
    let refused = |c: char| {
        c.is_control() || c.is_whitespace() || matches!(c, '"' | '%' | ',' | '<' | '>' | ';' | ':' | '\\')
    };
    let good = text.len() <= 254
        && !text.chars().any(refused)
        && text.split('@').count() == 2
        && text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && is_host_name(host, 1));
    if good { Ok(text) } else { Err(Error::field("email", "is not an e-mail address")) }
}

/// The domain of an e-mail gate: a host name of two labels or more, in lower case.
pub fn gate_domain(text: &str) -> Result<String> {
    let text = text.trim().trim_start_matches('@').trim_end_matches('.').to_lowercase();
    if is_host_name(&text, 2) {
        Ok(text)
    } else {
        Err(Error::field("email_gate_domain", "must be a domain such as example.com"))
    }
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

    #[test]
    fn plain_addresses_pass_and_clever_ones_do_not() {
        assert_eq!(address(" Ann@Example.com ").unwrap(), "ann@example.com");
        assert!(address("operator@localhost").is_ok());
        for bad in [
            "",
            "a",
            "@x.com",
            "a@",
            "a@b@c.com",
            "a b@c.com",
            "\"a\"@c.com",
            "a%b@c.com",
            "a@-c.com",
            "a,b@c.com",
        ] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_gate_domain_needs_two_labels() {
        assert_eq!(gate_domain("@Example.COM.").unwrap(), "example.com");
        for bad in ["", "com", "a..b", "-a.com", "ex ample.com", "a@b.com"] {
            assert!(gate_domain(bad).is_err(), "{bad}");
        }
    }
}

//! Finds lists of e-mail addresses. One address is a contact; many may be a customer list. Each `@` is examined once,
//! a bounded distance in both directions, so the time is linear.

use std::collections::HashSet;

/// How many different addresses make a list.
const LIST: usize = 20;
const LONGEST_NAME: usize = 64;
const LONGEST_HOST: usize = 100;
/// Domains reserved for documentation and tests.
const NOBODY: [&str; 6] = ["example.com", "example.org", "example.net", ".test", ".invalid", ".example"];

pub(crate) fn find(text: &str) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let mut first = 0;
    for at in memchr::memchr_iter(b'@', bytes) {
        let name = bytes[..at].iter().rev().take(LONGEST_NAME + 1).take_while(|byte| is_name(**byte)).count();
        let host = bytes[at + 1..].iter().take(LONGEST_HOST + 1).take_while(|byte| is_host(**byte)).count();
        let address = &bytes[at - name..=at + host];
        let domain = bytes[at + 1..=at + host].strip_suffix(b".").unwrap_or(&bytes[at + 1..=at + host]);
        let ends = domain.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let fits = (1..=LONGEST_NAME).contains(&name)
            && host <= LONGEST_HOST
            && domain.contains(&b'.')
            && ends.len() >= 2
            && ends.iter().all(u8::is_ascii_alphabetic);
        // `name@2x.png` and package versions are not addresses.
        let file = [&b"png"[..], b"jpg", b"svg", b"webp", b"js", b"css", b"gif"].contains(&ends);
        let nobody = NOBODY.iter().any(|end| domain.ends_with(end.as_bytes()));
        if !fits || file || nobody {
            continue;
        }
        if seen.is_empty() {
            first = at - name;
        }
        seen.insert(address);
        if seen.len() >= LIST {
            return Some((first, "list of email addresses"));
        }
    }
    None
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%')
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(count: usize, host: &str) -> String {
        (0..count).map(|number| format!("person{number}@{host}")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn many_addresses_are_a_list_and_few_are_not() {
        assert!(find(&addresses(20, "acorn.org")).is_some());
        assert!(find(&addresses(19, "acorn.org")).is_none());
        assert!(find(&"one@acorn.org ".repeat(500)).is_none());
        assert!(find(&addresses(50, "example.com")).is_none());
        assert!(find(&addresses(50, "2x.png")).is_none());
    }

    #[test]
    fn long_runs_take_no_longer_than_they_are() {
        assert!(find(&"a".repeat(1 << 20)).is_none());
        assert!(find(&"a@".repeat(1 << 19)).is_none());
    }
}

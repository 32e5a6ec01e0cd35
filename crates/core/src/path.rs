//! Decodes the path of a request into a file name: decoded once, to be matched exactly.

use std::borrow::Cow;

/// Decodes a URL path below a site's root. `None` when it cannot name a file: bad escapes, invalid UTF-8, control characters,
/// backslashes, or `.` and `..` segments.
pub fn decode(raw: &str) -> Option<Cow<'_, str>> {
    let decoded =
        if raw.as_bytes().contains(&b'%') { Cow::Owned(unescape(raw)?) } else { Cow::Borrowed(raw) };
    let bad = decoded.bytes().any(|b| b < 0x20 || b == 0x7f || b == b'\\')
        || decoded.split('/').any(|segment| segment == "." || segment == "..");
    (!bad).then_some(decoded)
}

/// Whether a URL path decodes to text: every escape is complete, and the result is UTF-8.
pub fn is_text(raw: &str) -> bool {
    !raw.as_bytes().contains(&b'%') || unescape(raw).is_some()
}

fn unescape(raw: &str) -> Option<String> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let [high, low, tail @ ..] = tail else { return None };
            out.push(hex(*high)? << 4 | hex(*low)?);
            rest = tail;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(out).ok()
}

const fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Percent-encodes a file name for use in a URL path.
pub fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&b) {
            out.push(char::from(b));
        } else {
            out.push('%');
            out.push(char::from(b"0123456789ABCDEF"[usize::from(b >> 4)]));
            out.push(char::from(b"0123456789ABCDEF"[usize::from(b & 15)]));
        }
    }
    out
}

/// The part of an address below a site's root, including the query, if following it cannot lead out of the site. Both are paths
/// on one host; the root ends with a slash.
pub fn below<'a>(root: &str, address: &'a str) -> Option<&'a str> {
    let tail = address.strip_prefix(root)?;
    let plain = address.len() <= 2048 && address.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let path = tail.split(['?', '#']).next().unwrap_or_default();
    // After a root of `/`, a tail that begins with a slash would name another host.
    (plain && !path.starts_with('/') && decode(path).is_some()).then_some(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_text_when_they_can_be_decoded() {
        for good in ["/sites/a", "/sites/a%20b", "/sites/%C3%BC", "/sites/a%00b", "/"] {
            assert!(is_text(good), "{good}");
        }
        for bad in ["/sites/%FF", "/sites/%C3", "/sites/%", "/sites/%4", "/sites/%zz"] {
            assert!(!is_text(bad), "{bad}");
        }
    }

    #[test]
    fn an_address_below_the_root_stays_there() {
        for (root, good, tail) in [
            ("/p/t/", "/p/t/", ""),
            ("/p/t/", "/p/t/a/b.html?x=1&y=%20", "a/b.html?x=1&y=%20"),
            ("/", "/a?to=//evil.example", "a?to=//evil.example"),
            ("/", "/", ""),
        ] {
            assert_eq!(below(root, good), Some(tail), "{good}");
        }
        for (root, bad) in [
            ("/", "//evil.example/"),
            ("/", "/\\evil.example"),
            ("/", "https://evil.example/"),
            ("/", ""),
            ("/p/t/", "/p/u/"),
            ("/p/t/", "/p/t"),
            ("/p/t/", "/p/t//evil.example"),
            ("/p/t/", "/p/t/../u/"),
            ("/p/t/", "/p/t/%2e%2E/u/"),
            ("/p/t/", "/p/t/a\r\nSet-Cookie: x"),
            ("/p/t/", "/p/t/\u{e9}"),
            ("/p/t/", "/p/t/%zz"),
        ] {
            assert_eq!(below(root, bad), None, "{bad}");
        }
    }

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(decode("a%20b.html").unwrap(), "a b.html");
        assert_eq!(decode("%2541").unwrap(), "%41");
        assert_eq!(decode("caf%C3%A9").unwrap(), "café");
    }

    #[test]
    fn tricks_name_nothing() {
        for bad in [
            "%", "%4", "%zz", "%00", "a%0Ab", "..", "a/../b", "%2e%2e/x", "./a", "a%5Cb", "a\\b", "%ff",
            "%C3",
        ] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(name in "[^\\x00-\\x1f\\x7f\\\\]{1,40}") {
            let dotted = name.split('/').any(|s| s == "." || s == "..");
            let encoded = encode(&name);
            let decoded = decode(&encoded).map(Cow::into_owned);
            prop_assert_eq!(decoded, (!dotted).then_some(name));
        }

        #[test]
        fn what_is_below_never_climbs(tail in "[./%2eE\\\\a?#]{0,12}") {
            if let Some(tail) = below("/", &format!("/{tail}")) {
                prop_assert!(!tail.starts_with('/') && !tail.contains('\\'));
                let path = tail.split(['?', '#']).next().unwrap_or_default();
                prop_assert!(path.split('/').all(|part| part != ".."));
            }
        }

        #[test]
        fn decoding_never_panics(raw in ".*") {
            let _ = decode(&raw);
        }
    }
}

//! What a request asks for beyond the file: a coding, a range, or only whether it changed. Pure functions over headers.

use dropleaf_app::Coding;
use std::ops::Range;

/// The coding to send: the best of those the client takes. Without a word about it, the plain bytes.
pub(super) fn coding(accept: Option<&str>) -> Coding {
    let Some(accept) = accept else { return Coding::Identity };
    let takes = |name: &str| {
        accept.split(',').any(|item| {
            let mut parts = item.split(';').map(str::trim);
            let named = parts.next().is_some_and(|coding| coding.eq_ignore_ascii_case(name));
            named
                && !parts
                    .any(|p| matches!(p.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    };
    // Zstd is the stored form and costs nothing; brotli is as small; gzip is what everybody else takes.
    if takes("zstd") {
        Coding::Zstd
    } else if takes("br") {
        Coding::Brotli
    } else if takes("gzip") {
        Coding::Gzip
    } else {
        Coding::Identity
    }
}

/// Whether `If-None-Match` names this validator.
pub(in crate::http) fn matches(condition: &str, etag: &[u8]) -> bool {
    condition.trim() == "*"
        || condition
            .split(',')
            .map(str::trim)
            .any(|tag| tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag)
}

/// What a `Range` header comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    Whole,
    Part(Range<u64>),
    Outside,
}

/// One range of bytes. Several at once, or anything not understood, is answered with the whole.
pub(super) fn range(value: &str, size: u64) -> Asked {
    let Some(spec) = value.trim().strip_prefix("bytes=") else { return Asked::Whole };
    let Some((first, last)) = spec.split_once('-') else { return Asked::Whole };
    let (first, last) = (first.trim(), last.trim());
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    if first.is_empty() {
        return match number(last) {
            Some(0) => Asked::Outside,
            Some(_) if size == 0 => Asked::Outside,
            Some(n) => Asked::Part(size.saturating_sub(n)..size),
            None => Asked::Whole,
        };
    }
    let Some(start) = number(first) else { return Asked::Whole };
    let end = match last {
        "" => size,
        last => match number(last) {
            Some(end) if end >= start => end.saturating_add(1).min(size),
            _ => return Asked::Whole,
        },
    };
    if start >= size { Asked::Outside } else { Asked::Part(start..end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_accepted_coding_is_chosen() {
        assert_eq!(coding(None), Coding::Identity);
        assert_eq!(coding(Some("gzip, deflate, br, zstd")), Coding::Zstd);
        assert_eq!(coding(Some("gzip, br")), Coding::Brotli);
        assert_eq!(coding(Some("GZIP")), Coding::Gzip);
        assert_eq!(coding(Some("br;q=0, gzip;q=0.5")), Coding::Gzip);
        assert_eq!(coding(Some("identity, deflate")), Coding::Identity);
        assert_eq!(coding(Some("zstd; q=0")), Coding::Identity);
    }

    #[test]
    fn validators_match_in_lists_and_weakly() {
        assert!(matches("\"a\", W/\"b\"", b"\"b\""));
        assert!(matches("*", b"\"b\""));
        assert!(!matches("\"a\"", b"\"b\""));
    }

    #[test]
    fn ranges_are_read_as_the_rfc_says() {
        assert_eq!(range("bytes=0-3", 10), Asked::Part(0..4));
        assert_eq!(range("bytes=4-", 10), Asked::Part(4..10));
        assert_eq!(range("bytes=-3", 10), Asked::Part(7..10));
        assert_eq!(range("bytes=-30", 10), Asked::Part(0..10));
        assert_eq!(range("bytes=5-100", 10), Asked::Part(5..10));
        assert_eq!(range("bytes=10-", 10), Asked::Outside);
        assert_eq!(range("bytes=-0", 10), Asked::Outside);
        for whole in
            ["bytes=0-1,3-4", "lines=1-2", "bytes=x-1", "bytes=5-2", "bytes=", "bytes=-", "bytes=+1-2"]
        {
            assert_eq!(range(whole, 10), Asked::Whole, "{whole}");
        }
    }
}

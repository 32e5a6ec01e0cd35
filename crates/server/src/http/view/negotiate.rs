//! Parses `Accept-Encoding`, `Range` and `If-None-Match`. Pure functions over headers.

use crate::http::quality::{self, Weight};
use dropleaf_app::ContentCoding;
use dropleaf_core::number;
use std::ops::Range;

/// Supported codings, best first: zstd is the stored form and costs nothing, brotli is as small, gzip is what all other
/// clients support.
const CODINGS: [(ContentCoding, &[&str]); 4] = [
    (ContentCoding::Zstd, &["zstd"]),
    (ContentCoding::Brotli, &["br"]),
    (ContentCoding::Gzip, &["gzip", "x-gzip"]),
    (ContentCoding::Identity, &["identity"]),
];

/// The coding to send: the one with the highest weight, and the best among equals (RFC 9110 §12.5.3). Identity need not
/// be listed and then ranks last; it is sent if the header is absent or nothing is acceptable.
pub(super) fn coding(accept: Option<&str>) -> ContentCoding {
    let Some(accept) = accept else { return ContentCoding::Identity };
    let mut named = [None; CODINGS.len()];
    let mut others = None;
    for item in quality::items(accept) {
        let is = |names: &[&str]| names.iter().any(|name| item.name.eq_ignore_ascii_case(name));
        if item.name == "*" {
            others = others.max(Some(item.weight));
        } else if let Some(at) = CODINGS.iter().position(|(_, names)| is(names)) {
            named[at] = named[at].max(Some(item.weight));
        }
    }
    let weights = CODINGS.iter().zip(named).map(|((coding, _), own)| (*coding, own.or(others)));
    let best = weights
        .filter_map(|(coding, weight)| Some((coding, weight.filter(|weight| *weight > Weight::ZERO)?)));
    // The first of those with the highest weight; `max_by_key` would take the last.
    let best = best.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map_or(ContentCoding::Identity, |(coding, _)| coding)
}

/// Whether `If-None-Match` contains this validator.
pub(in crate::http) fn matches(condition: &str, etag: &[u8]) -> bool {
    condition.trim() == "*"
        || condition
            .split(',')
            .map(str::trim)
            .any(|tag| tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag)
}

/// The meaning of a `Range` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RangeRequest {
    Whole,
    Part(Range<u64>),
    Outside,
}

/// Parses a single byte range. Several ranges, or an invalid header, get the whole file.
pub(super) fn range(value: &str, size: u64) -> RangeRequest {
    let Some(spec) = value.trim().strip_prefix("bytes=") else { return RangeRequest::Whole };
    let Some((first, last)) = spec.split_once('-') else { return RangeRequest::Whole };
    let (first, last) = (first.trim(), last.trim());
    let number = number::unsigned::<u64>;
    if first.is_empty() {
        return match number(last) {
            Some(0) => RangeRequest::Outside,
            Some(_) if size == 0 => RangeRequest::Outside,
            Some(n) => RangeRequest::Part(size.saturating_sub(n)..size),
            None => RangeRequest::Whole,
        };
    }
    let Some(start) = number(first) else { return RangeRequest::Whole };
    let end = match last {
        "" => size,
        last => match number(last) {
            Some(end) if end >= start => end.saturating_add(1).min(size),
            _ => return RangeRequest::Whole,
        },
    };
    if start >= size { RangeRequest::Outside } else { RangeRequest::Part(start..end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_accepted_coding_is_chosen() {
        assert_eq!(coding(None), ContentCoding::Identity);
        assert_eq!(coding(Some("gzip, deflate, br, zstd")), ContentCoding::Zstd);
        assert_eq!(coding(Some("gzip, br")), ContentCoding::Brotli);
        assert_eq!(coding(Some("GZIP")), ContentCoding::Gzip);
        assert_eq!(coding(Some("br;q=0, gzip;q=0.5")), ContentCoding::Gzip);
        assert_eq!(coding(Some("identity, deflate")), ContentCoding::Identity);
        assert_eq!(coding(Some("zstd; q=0")), ContentCoding::Identity);
    }

    #[test]
    fn weights_decide_before_our_own_order() {
        for (accept, chosen) in [
            ("", ContentCoding::Identity),
            ("gzip;q=1.0, zstd;q=0.5", ContentCoding::Gzip),
            ("gzip;q=0.8, br;q=0.9, zstd;q=0.1", ContentCoding::Brotli),
            ("gzip;q=0.5, identity;q=1", ContentCoding::Identity),
            ("identity;q=0.5, gzip;q=1.0", ContentCoding::Gzip),
            ("identity, gzip", ContentCoding::Gzip),
            ("gzip;q=0.001", ContentCoding::Gzip),
            ("gzip;q=0.000", ContentCoding::Identity),
            ("x-gzip", ContentCoding::Gzip),
            ("*", ContentCoding::Zstd),
            ("*;q=0.5, gzip", ContentCoding::Gzip),
            ("zstd;q=0, *", ContentCoding::Brotli),
            ("br;q=0, zstd;q=0, *;q=0.1", ContentCoding::Gzip),
            ("identity;q=0, *", ContentCoding::Zstd),
            ("gzip;q=0.5, *;q=0", ContentCoding::Gzip),
            ("gzip, identity;q=0", ContentCoding::Gzip),
            ("gzip; Q=0.3, br ;q=0.2", ContentCoding::Gzip),
            // Invalid entries are ignored.
            ("br;q=1.5, gzip;q=0.1", ContentCoding::Gzip),
            ("zstd;q=, br;q=-1, gzip;q=0.5000", ContentCoding::Identity),
            // Nothing is acceptable: identity is better than an error.
            ("identity;q=0", ContentCoding::Identity),
            ("*;q=0", ContentCoding::Identity),
            ("compress, deflate", ContentCoding::Identity),
        ] {
            assert_eq!(coding(Some(accept)), chosen, "{accept}");
        }
    }

    #[test]
    fn validators_match_in_lists_and_weakly() {
        assert!(matches("\"a\", W/\"b\"", b"\"b\""));
        assert!(matches("*", b"\"b\""));
        assert!(!matches("\"a\"", b"\"b\""));
    }

    #[test]
    fn ranges_are_read_as_the_rfc_says() {
        assert_eq!(range("bytes=0-3", 10), RangeRequest::Part(0..4));
        assert_eq!(range("bytes=4-", 10), RangeRequest::Part(4..10));
        assert_eq!(range("bytes=-3", 10), RangeRequest::Part(7..10));
        assert_eq!(range("bytes=-30", 10), RangeRequest::Part(0..10));
        assert_eq!(range("bytes=5-100", 10), RangeRequest::Part(5..10));
        assert_eq!(range("bytes=10-", 10), RangeRequest::Outside);
        assert_eq!(range("bytes=-0", 10), RangeRequest::Outside);
        for whole in
            ["bytes=0-1,3-4", "lines=1-2", "bytes=x-1", "bytes=5-2", "bytes=", "bytes=-", "bytes=+1-2"]
        {
            assert_eq!(range(whole, 10), RangeRequest::Whole, "{whole}");
        }
    }
}

//! Collects the external URLs in the text files of an upload, for checkers that keep a list of bad ones. Looks nothing up
//! itself.

use std::collections::BTreeSet;
use std::io;

use dropleaf_core::html::character_references::{Context, decode, reference};

use crate::bundle::{Bundle, File};
use crate::mime;
use crate::text::file_text::text_of;

/// A longer URL is treated as data and skipped.
const LONGEST: usize = 2048;
/// At most this many candidate positions of an upload are examined.
const MOST_CANDIDATES: usize = 100_000;
/// The ways to write a slash in text or in a script. A spelling that is a prefix of another comes after it.
const SLASHES: [&str; 5] = ["/", "\\/", "\\u002f", "\\x2f", "\\"];

/// Whether a file is read as text.
pub fn is_text(file: &File) -> bool {
    mime::is_text(file.mime) || mime::is_active(file.mime)
}

/// The text of a file of a bundle, decoded as a browser would.
pub fn text(file: &File) -> io::Result<String> {
    Ok(text_of(file, || Ok(None))?.into_owned())
}

/// The URLs found, and whether there were more.
#[derive(Debug, Default)]
pub struct ExternalUrls {
    pub urls: Vec<String>,
    pub is_truncated: bool,
}

/// The URLs in all text files of a bundle, each once, at most `most`. URLs that a page uses (`src`, `action`, scripts) come
/// before those it only links to (`href`), because links can be added in any number.
pub fn in_bundle(bundle: &Bundle, most: usize) -> io::Result<ExternalUrls> {
    let (mut used, mut linked) = (BTreeSet::new(), BTreeSet::new());
    let mut is_truncated = false;
    let mut candidates = 0;
    for file in bundle.files.iter().filter(|file| is_text(file)) {
        // URLs are ASCII, which is the same in every charset of scripts.
        let text = text_of(file, || Ok(None))?;
        for (candidate, url) in urls_in(&text) {
            candidates += 1;
            if candidates > MOST_CANDIDATES {
                is_truncated = true;
                break;
            }
            let Some(url) = url else { continue };
            let into = if is_link(&text.as_bytes()[..candidate.from]) { &mut linked } else { &mut used };
            if into.len() < most || into.contains(&url) {
                into.insert(url);
            } else {
                is_truncated = true;
            }
        }
    }
    linked.retain(|url| !used.contains(url));
    is_truncated |= used.len() + linked.len() > most;
    let urls = used.into_iter().chain(linked).take(most).collect();
    Ok(ExternalUrls { urls, is_truncated })
}

/// Where a URL may begin, and where its host begins.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    from: usize,
    host: usize,
    scheme: &'static str,
}

/// `http` and `https` anywhere, and `//` at the start of an attribute value.
fn candidates_in(text: &str) -> impl Iterator<Item = Candidate> {
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'h', b'H', b'/', bytes).filter_map(move |from| {
        let before = &bytes[..from];
        if bytes[from] == b'/' {
            let begins = bytes.get(from + 1) == Some(&b'/') && begins_attribute(before);
            return begins.then_some(Candidate { from, host: from + 2, scheme: "https" });
        }
        let scheme = ["https", "http"].into_iter().find(|scheme| {
            bytes
                .get(from..from + scheme.len())
                .is_some_and(|word| word.eq_ignore_ascii_case(scheme.as_bytes()))
        })?;
        let alone = before.last().is_none_or(|last| !last.is_ascii_alphanumeric());
        let rest = text.get(from + scheme.len()..).filter(|_| alone)?;
        let mut after = strip(rest, ":").or_else(|| strip_reference(rest, ':'))?;
        let mut slashes = 0;
        while let Some(next) =
            SLASHES.iter().find_map(|slash| strip(after, slash)).or_else(|| strip_reference(after, '/'))
        {
            after = next;
            slashes += 1;
        }
        (slashes > 0).then_some(Candidate { from, host: text.len() - after.len(), scheme })
    })
}

/// The text after a character that is written as a character reference.
fn strip_reference(text: &str, character: char) -> Option<&str> {
    let rest = text.strip_prefix('&')?;
    let (found, used) = reference(rest, Context::Attribute)?;
    (found.first == character && found.second.is_none()).then(|| &rest[used..])
}

fn strip<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let begins = text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    begins.then(|| &text[start.len()..])
}

/// The candidate positions in a text, each with the URL that begins there, if any. Candidates inside a URL are skipped, so
/// that nothing is read twice.
fn urls_in(text: &str) -> impl Iterator<Item = (Candidate, Option<String>)> {
    let mut read_to = 0;
    candidates_in(text).filter_map(move |candidate| {
        if candidate.from < read_to {
            return None;
        }
        let end = end_of(&text[candidate.host..]);
        read_to = candidate.host + end;
        let url =
            (end <= LONGEST).then(|| url_of(candidate.scheme, &text[candidate.host..read_to])).flatten();
        Some((candidate, url))
    })
}

/// The length of the URL, or how far the search for its end went.
fn end_of(rest: &str) -> usize {
    let goes_on = |at: usize| rest.as_bytes()[at] == b'\\' && rest.as_bytes().get(at + 1) == Some(&b'/');
    let mut chars = rest.char_indices().take(LONGEST + 1);
    let mut looked = 0;
    let end = chars.find(|(at, c)| {
        looked = at + c.len_utf8();
        is_end(*c) && !goes_on(*at)
    });
    end.map_or(looked, |(at, _)| at)
}

fn url_of(scheme: &str, text: &str) -> Option<String> {
    let rest = decode(text, Context::Attribute).replace("\\/", "/");
    let rest = rest.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let fits = host.contains(['.', ':']) && !host.starts_with('.');
    fits.then(|| format!("{scheme}://{rest}"))
}

fn begins_attribute(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    before.ends_with(b"=")
}

/// Whether the URL that begins here is only a link target.
fn is_link(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    before.len() >= 5 && before[before.len() - 5..].eq_ignore_ascii_case(b"href=")
}

fn is_end(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | ')' | '{' | '}' | '|' | '^')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        urls_in(text).filter_map(|(_, url)| url).collect()
    }

    #[test]
    fn addresses_are_found_wherever_they_stand() {
        let text = "<a href=https://a.example/x?y=1&amp;z=2>Http://b.example.</a> fetch('http://10.0.0.1:8080/in') \
                    <img src=\"//c.example/p.png\"> url(https://d.example/f.woff)";
        assert_eq!(
            found(text),
            [
                "https://a.example/x?y=1&z=2",
                "http://b.example",
                "http://10.0.0.1:8080/in",
                "https://c.example/p.png",
                "https://d.example/f.woff"
            ]
        );
    }

    #[test]
    fn what_is_no_address_elsewhere_is_left_out() {
        for text in [
            "// a comment.",
            "ftp://a.example",
            "xhttps://a.example",
            "https://",
            "https:// a.example",
            "a//b.c",
            "http://localhost",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
        assert_eq!(found(&format!("https://a.example/{}", "x".repeat(3000))), [""; 0]);
    }

    #[test]
    fn what_stands_inside_an_address_is_not_read_again() {
        let inside = "http://a.example/?to=http://b.example http://c.example";
        assert_eq!(found(inside), ["http://a.example/?to=http://b.example", "http://c.example"]);
        let run = "http://".repeat(100_000);
        assert!(urls_in(&run).count() <= run.len() / LONGEST + 1);
    }

    #[test]
    fn slashes_may_be_written_otherwise() {
        for text in [
            "a='https:\\/\\/a.example\\/x'",
            "<a href='https:&#47;&#47;a.example/x'>",
            "<a href='https&colon;&sol;&sol;a.example&sol;x'>",
            "<a href='https&#58&#47&#x2F;a.example&#0047x'>",
            "<a href='https:/\\a.example/x'>",
            "<a href='https:/a.example/x'>",
            "a='https:\\u002F\\u002fa.example/x'",
        ] {
            assert_eq!(found(text), ["https://a.example/x"], "{text}");
        }
    }

    #[test]
    fn many_links_hide_no_target_and_a_cut_is_said() {
        let links =
            (0..50).map(|n| format!("<a href=https://x{n}.example>x</a>")).collect::<Vec<_>>().concat();
        let page = format!("{links}<form action=https://z.example/in>\u{e9}");
        let bytes: Vec<u8> = page.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let upload = crate::Upload {
            filename: Some("a.html"),
            content_type: None,
            e2e: false,
            source: crate::Source::Memory(bytes.into()),
        };
        let spool = tempfile::tempdir().unwrap();
        let bundle = crate::prepare(upload, &crate::Limits::default(), spool.path()).unwrap();
        let few = in_bundle(&bundle, 10).unwrap();
        assert_eq!(
            (few.urls.len(), few.is_truncated, few.urls[0].as_str()),
            (10, true, "https://z.example/in")
        );
        let all = in_bundle(&bundle, 100).unwrap();
        assert_eq!((all.urls.len(), all.is_truncated), (51, false));
    }
}

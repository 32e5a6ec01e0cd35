//! A fast path for small pages that often replaces the full scan: it applies when the title is in its usual place and no
//! reference can be wrong. Everything else, and anything unusual, is left to [`super::page_scan`].

use memchr::{memchr, memchr_iter, memmem};

use crate::title;

/// How far the title is searched for.
const HEAD_BYTES: usize = 4096;
const TITLE_BYTES: usize = 1024;
/// The tags that may precede the title. None of them has text content, in which `<title>` would not be a tag.
const HEAD_TAGS: [&str; 5] = ["!doctype", "html", "head", "meta", "link"];
/// Prefixes of references that cannot be mistakes.
const HARMLESS: [&str; 7] = ["http:", "https:", "//", "#", "data:", "mailto:", "tel:"];

/// Text that starts a reference outside an attribute, or a frameset. A page that contains any needs the full scan.
const NEEDS_FULL_SCAN: [&str; 6] = ["url(", "import", "fetch(", "URL(", "<frameset", "<FRAMESET"];

/// The title of a page that needs no full scan; `None` if it needs one.
pub(crate) fn title_of(page: &[u8]) -> Option<String> {
    let page = std::str::from_utf8(page).ok()?;
    let title = title::clean_html(raw_title(page)?)?;
    // Styles and scripts refer to files too.
    if NEEDS_FULL_SCAN.iter().any(|word| memmem::find(page.as_bytes(), word.as_bytes()).is_some()) {
        return None;
    }
    // Every value follows an equals sign, so one search finds all references, however the attribute names are written.
    let harmless = |at: usize| !is_reference(&page.as_bytes()[..at]) || is_harmless(&page[at + 1..]);
    memchr_iter(b'=', page.as_bytes()).all(harmless).then_some(title)
}

/// Whether the text before an equals sign ends in the name of an attribute that holds a reference.
fn is_reference(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let ends = |name: &[u8]| {
        before.len() >= name.len() && before[before.len() - name.len()..].eq_ignore_ascii_case(name)
    };
    [&b"href"[..], b"src", b"srcset", b"poster", b"data", b"action"].into_iter().any(ends)
}

fn raw_title(page: &str) -> Option<&str> {
    let at = memmem::find(page.as_bytes().get(..HEAD_BYTES.min(page.len()))?, b"<title>")?;
    let mut head = page[..at].trim_ascii_start();
    while !head.is_empty() {
        let (tag, after) = head.strip_prefix('<')?.split_once('>')?;
        if !is_plain_head_tag(tag) {
            return None;
        }
        head = after.trim_ascii_start();
    }
    let rest = &page[at + "<title>".len()..];
    let (text, after) = rest.split_at(memchr(b'<', rest.as_bytes())?);
    (after.starts_with("</title>") && text.len() <= TITLE_BYTES).then_some(text)
}

/// Whether the text between the angle brackets is one of the [`HEAD_TAGS`], and ends where it seems to: not within a
/// quoted value.
fn is_plain_head_tag(tag: &str) -> bool {
    let name = tag.split(|c: char| c.is_ascii_whitespace() || c == '/').next().unwrap_or_default();
    let quotes = |quote: u8| memchr_iter(quote, tag.as_bytes()).count();
    HEAD_TAGS.iter().any(|known| name.eq_ignore_ascii_case(known))
        && !tag.contains('<')
        && quotes(b'"') % 2 == 0
        && quotes(b'\'') % 2 == 0
}

/// Whether a value begins with one of the [`HARMLESS`] prefixes.
fn is_harmless(after: &str) -> bool {
    let value = after.trim_ascii_start();
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    HARMLESS.iter().any(|start| value.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::page_scan::PageScan;
    use crate::paths::Paths;
    use crate::references::address_warnings::AddressWarnings;
    use crate::references::report::ReferenceReport;

    fn scanned(page: &str) -> (Option<String>, Vec<String>) {
        let files = Paths::new(["index.html"]);
        let mut scan = PageScan::new("index.html", ReferenceReport::new(&files));
        scan.write(page.as_bytes());
        let facts = scan.finish();
        assert_eq!(facts.report.address_warnings(), AddressWarnings::default());
        (facts.title, facts.report.warnings())
    }

    #[test]
    fn ordinary_pages_need_no_closer_look_and_it_would_say_the_same() {
        for page in [
            "<title>A</title>",
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>A &amp; B</title></head><body><p>x",
            "<!DOCTYPE html><link rel=x href=https://x.org/a.css><title> A\n B </title><a href=\"#top\">t</a><img src='data:,'>",
            "<title>Q</title><p>the word src and href, and srcset</p><a href = \"https://x.org\">",
        ] {
            let title = title_of(page.as_bytes());
            assert!(title.is_some(), "{page}");
            assert_eq!(scanned(page), (title, Vec::new()), "{page}");
        }
    }

    #[test]
    fn anything_odd_is_left_to_the_pass() {
        for page in [
            "",
            "<h1>No title</h1>",
            "<TITLE>Loud</TITLE>",
            "<title></title>",
            "<title>A<b></title>",
            "<!-- <title>No</title> --><title>A</title>",
            "<script>'<title>No</title>'</script>",
            "<svg><title>No</title></svg>",
            "<title>A</title><a href=/abs>",
            "<title>A</title><img src=missing.png>",
            "<title>A</title><a HREF=/abs>",
            "<title>A</title><a href=\"&#47;abs\">",
            "<base href=https://x.org><title>A</title>",
            "<title>\u{7}</title>",
            "<meta content='<title>No</title>'><title>A</title>",
            "<meta content='><title>No</title>'><title>A</title>",
            "<header><title>A</title>",
            "text<title>A</title>",
            "<title>A</title><img srcset='a.png 2x'>",
            "<title>A</title><video poster=a.png>",
            "<title>A</title><style>a { b: url(c.png) }</style>",
            "<title>A</title><script>fetch('a.json')</script>",
        ] {
            assert_eq!(title_of(page.as_bytes()), None, "{page}");
        }
        assert_eq!(title_of(b"<title>\xff</title>"), None);
    }
}

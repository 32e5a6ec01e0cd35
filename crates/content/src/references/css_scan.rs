//! Finds what a stylesheet loads: `url(…)` and `@import "…"`. A text search, not a parser: a reference inside a comment is
//! skipped only when the comment begins within [`COMMENT_BYTES`].

use std::ops::Range;

use memchr::memmem::rfind;
use memchr::{memchr2_iter, memchr3};

use crate::text::search_windows::{AHEAD, SearchWindows};

/// How far back the beginning of a comment is searched for.
const COMMENT_BYTES: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct CssScan(SearchWindows);

impl CssScan {
    pub(crate) fn write(&mut self, chunk: &[u8], mut found: impl FnMut(&str)) {
        self.0.push(chunk, |window, range| search(window, range, &mut found));
    }

    pub(crate) fn finish(&mut self, mut found: impl FnMut(&str)) {
        self.0.finish(|window, range| search(window, range, &mut found));
    }
}

/// The same for the value of a `style` attribute.
pub(crate) fn in_attribute(style: &str, mut found: impl FnMut(&str)) {
    search(style.as_bytes(), 0..style.len(), &mut found);
}

fn search(window: &[u8], range: Range<usize>, found: &mut impl FnMut(&str)) {
    let from = range.start;
    for at in memchr2_iter(b'(', b'@', &window[range]).map(|at| at + from) {
        let rest = &window[at + 1..window.len().min(at + AHEAD)];
        let value = if window[at] == b'(' {
            ends_with(&window[..at], b"url").then(|| in_brackets(rest))
        } else {
            rest.get(..6).filter(|word| word.eq_ignore_ascii_case(b"import")).map(|_| quoted(&rest[6..]))
        };
        if let Some(Some(url)) = value
            && !is_comment(&window[at.saturating_sub(COMMENT_BYTES)..at])
            && let Ok(url) = std::str::from_utf8(url)
            && !is_old_font(url)
        {
            found(url);
        }
    }
}

/// EOT fonts: no current browser loads them, and packages leave them out.
fn is_old_font(url: &str) -> bool {
    url.split(['?', '#']).next().is_some_and(|path| ends_with(path.as_bytes(), b".eot"))
}

fn ends_with(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text[text.len() - word.len()..].eq_ignore_ascii_case(word)
}

/// `url( "a.png" )`, with or without quotes.
fn in_brackets(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.trim_ascii_start();
    match rest.first()? {
        b'"' | b'\'' => quoted(rest),
        _ => {
            let end = memchr3(b')', b'"', b'(', rest).filter(|end| rest[*end] == b')')?;
            Some(rest[..end].trim_ascii_end())
        }
    }
}

fn quoted(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let end = memchr3(quote, b'\n', b'\\', &rest[1..])?;
    (rest[1 + end] == quote).then(|| &rest[1..=end])
}

fn is_comment(before: &[u8]) -> bool {
    let (begins, ends) = (rfind(before, b"/*"), rfind(before, b"*/"));
    begins.is_some_and(|begins| ends.is_none_or(|ends| ends < begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(css: &str) -> Vec<String> {
        let mut list = Vec::new();
        let mut scan = CssScan::default();
        css.as_bytes().chunks(3).for_each(|chunk| scan.write(chunk, |url| list.push(url.to_owned())));
        scan.finish(|url| list.push(url.to_owned()));
        list
    }

    #[test]
    fn urls_and_imports_are_found_in_every_spelling() {
        let css = "@import 'a.css'; @IMPORT \"b.css\" print; @import url(c.css);\n\
                   a { background: url( 'd e.png' ) } b { src: URL(/f.woff2) format('woff2'), url(\"g.ttf?x#y\") }";
        assert_eq!(found(css), ["a.css", "b.css", "c.css", "d e.png", "/f.woff2", "g.ttf?x#y"]);
    }

    #[test]
    fn comments_and_other_functions_are_passed_over() {
        assert_eq!(
            found("/* url(a.png) @import 'b.css' */ c { d: curl; e: attr(f); g: url(h.png) }"),
            ["h.png"]
        );
        assert_eq!(found("a { b: url(\"never closed"), [""; 0]);
        assert_eq!(found("a { src: url(a.eot?#iefix), url(a.woff2) }"), ["a.woff2"]);
        assert_eq!(found("@media print { } @importx 'a'"), [""; 0]);
    }

    #[test]
    fn hostile_text_takes_no_longer_than_it_is() {
        for piece in ["url(", "@import\"", "url(\"", "/*(", "url(url("] {
            assert!(found(&piece.repeat(200_000)).len() < 200_001);
        }
    }
}

//! Reads the selectors of style sheets as far as they name single elements, and removes the comments of style sheets.

use std::borrow::Cow;

/// What an element has to which a rule of a style sheet applies.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selector<'s> {
    Class(&'s str),
    Id(&'s str),
}

/// States that pass, and what is not the element itself: a rule for them does not hide the element.
const NOT_THE_ELEMENT: [&str; 13] = [
    ":", "hover", "focus", "active", "visited", "empty", "before", "after", "first-l", "checked", "target",
    "-webkit", "-moz",
];
/// Attributes that hide an element by themselves.
const HIDES_BY_ITSELF: [&str; 2] = ["[hidden", "[aria-hidden"];

/// What the elements have that a list of selectors matches: of each selector, the ID or the last class of its last part.
/// Every element that it matches has that, and some have it that it does not match.
pub(super) fn hidden_by(selectors: &str) -> impl Iterator<Item = Selector<'_>> {
    parts(selectors, |byte| byte == b',').filter_map(|selector| {
        let is_combinator = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'+' | b'~');
        let last = parts(selector, is_combinator).filter(|part| !part.is_empty()).last()?;
        name_in(last)
    })
}

/// The parts of a text between separators that are not in brackets.
fn parts(text: &str, is_separator: impl Fn(u8) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_usize;
        let end = text.bytes().position(|byte| {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && is_separator(byte)
        });
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// The ID or the last class of `p.a.b#c[d]:e`.
fn name_in(compound: &str) -> Option<Selector<'_>> {
    let (plain, more) = compound.split_at(compound.find([':', '[']).unwrap_or(compound.len()));
    let is_other =
        more.strip_prefix(':').is_some_and(|state| NOT_THE_ELEMENT.iter().any(|it| state.starts_with(it)));
    if is_other || HIDES_BY_ITSELF.iter().any(|it| more.starts_with(it)) {
        return None;
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_') || !b.is_ascii())
    };
    let after = |mark| {
        plain.rsplit_once(mark).and_then(|(_, rest)| rest.split(['.', '#']).next()).filter(|it| is_name(it))
    };
    after('#').map(Selector::Id).or_else(|| after('.').map(Selector::Class))
}

/// A style without its comments.
pub(super) fn without_comments(style: &str) -> Cow<'_, str> {
    let mut rest = style;
    let Some(first) = comment_in(rest) else { return Cow::Borrowed(style) };
    let mut plain = String::with_capacity(style.len());
    let mut next = Some(first);
    while let Some(at) = next {
        plain.push_str(&rest[..at]);
        rest = rest[at + 2..].split_once("*/").map_or("", |(_, after)| after);
        next = comment_in(rest);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The offset of the first comment. There is none inside quotes.
fn comment_in(style: &str) -> Option<usize> {
    let bytes = style.as_bytes();
    // Most styles have none.
    memchr::memmem::find(bytes, b"/*")?;
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'/', b'"', b'\'', &bytes[at..]).map(|found| at + found) {
        at = match bytes[found] {
            b'/' if bytes.get(found + 1) == Some(&b'*') => return Some(found),
            b'/' => found + 1,
            // A quoted text ends with its line at the latest.
            quote => {
                memchr::memchr2(quote, b'\n', &bytes[found + 1..]).map_or(bytes.len(), |end| found + end + 2)
            }
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_selector_names_what_it_hides() {
        let names = |selectors| {
            let names = hidden_by(selectors).map(|selector| match selector {
                Selector::Class(name) => format!(".{name}"),
                Selector::Id(name) => format!("#{name}"),
            });
            names.collect::<Vec<_>>().join(" ")
        };
        for (selectors, expected) in [
            (".a", ".a"),
            ("\n p.a , div > #b", ".a #b"),
            (".a .b+.c~i.d", ".d"),
            (".a.b", ".b"),
            ("p#a.b", "#a"),
            (".a:not(.b, .c .d)", ".a"),
            (".a:nth-child(2n + 1)", ".a"),
            (".a[data-x='> .y']", ".a"),
            ("p, *, [hidden], .a[hidden], .b:hover, .c::before, .d:empty, .e:after", ""),
            ("", ""),
        ] {
            assert_eq!(names(selectors), expected, "{selectors}");
        }
    }

    #[test]
    fn comments_are_removed_and_quotes_respected() {
        for (style, plain) in [
            ("a{b:c}", "a{b:c}"),
            ("display:/**/none", "display:none"),
            ("/* a */b/* c", "b"),
            ("a{content:'/*'}b{}/* c */", "a{content:'/*'}b{}"),
            ("a{content:\"'\"}/*'*/b", "a{content:\"'\"}b"),
            ("url(a/b)/*/ c */d", "url(a/b)d"),
        ] {
            assert_eq!(without_comments(style), plain, "{style}");
        }
    }
}

//! The attributes that untrusted HTML may use, each with its allowed values. No style, no event handler, no class.

use std::borrow::Cow;

use dropleaf_core::html::character_references::{Context, decode};

use super::url;

/// Ids and names are prefixed, so that they cannot collide with ours.
pub(crate) const ID_PREFIX: &str = "user-content-";

/// Further attributes of a tag are ignored, and longer ids are dropped.
const MOST: usize = 32;
const LONGEST_ID: usize = 200;

/// The attributes that a tag keeps.
#[derive(Debug, Default)]
pub(super) struct KeptAttributes {
    /// ` name="value"` for each, ready to be written.
    pub(super) text: String,
    pub(super) dropped_address: bool,
}

/// Names and values of a start tag as written; `None` if the tag does not end.
pub(super) fn read(tag: &str) -> Option<Vec<(&str, &str)>> {
    let bytes = tag.as_bytes();
    let skip = |mut at: usize, go_on: fn(u8) -> bool| {
        while at < bytes.len() && go_on(bytes[at]) {
            at += 1;
        }
        at
    };
    let mut found = Vec::new();
    let mut at = skip(1, |b| !b.is_ascii_whitespace() && b != b'/' && b != b'>');
    loop {
        at = skip(at, |b| b.is_ascii_whitespace() || b == b'/');
        if *bytes.get(at)? == b'>' {
            return Some(found);
        }
        let name_at = at;
        at = skip(at + 1, |b| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'>' | b'='));
        let name = tag.get(name_at..at)?;
        let after = skip(at, |b| b.is_ascii_whitespace());
        let mut value = "";
        if bytes.get(after) == Some(&b'=') {
            at = skip(after + 1, |b| b.is_ascii_whitespace());
            if let Some(quote @ (b'"' | b'\'')) = bytes.get(at) {
                let end = at + 1 + memchr::memchr(*quote, &bytes[at + 1..])?;
                value = tag.get(at + 1..end)?;
                at = end + 1;
            } else {
                let end = skip(at, |b| !b.is_ascii_whitespace() && b != b'>');
                value = tag.get(at..end)?;
                at = end;
            }
        }
        if found.len() < MOST {
            found.push((name, value));
        }
    }
}

/// Filters the attributes of an element. The first of each name counts, as in a browser.
pub(super) fn filter(element: &str, attributes: &[(&str, &str)]) -> KeptAttributes {
    let mut kept = KeptAttributes::default();
    if element == "center" {
        kept.text.push_str(" align=\"center\"");
    }
    let mut seen: Vec<String> = Vec::new();
    for (name, value) in attributes {
        let name = name.to_ascii_lowercase();
        if seen.contains(&name) {
            continue;
        }
        let value = decode(value, Context::Attribute);
        let value = value.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_control());
        match value_of(element, &name, value) {
            Some(value) => {
                kept.text.push(' ');
                kept.text.push_str(&name);
                kept.text.push_str("=\"");
                super::push_attribute(&mut kept.text, &value);
                kept.text.push('"');
            }
            None => kept.dropped_address |= matches!(name.as_str(), "href" | "src" | "srcset"),
        }
        seen.push(name);
    }
    kept
}

/// The value to write, if this element may have this attribute with this value.
fn value_of<'v>(element: &str, name: &str, value: &'v str) -> Option<Cow<'v, str>> {
    let fits = match (name, element) {
        ("title" | "aria-label", _)
        | ("sizes", "img" | "source")
        | ("media", "source")
        | ("alt", "img")
        | ("datetime", "time" | "del" | "ins") => true,
        ("id", _) | ("name", "a") => return id(value).map(Cow::Owned),
        ("dir", _) => one_of(value, "ltr rtl auto"),
        ("lang", _) => value.len() <= 35 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'),
        ("aria-hidden", _) => value == "true",
        ("align", _) if element != "center" => one_of(value, "left right center justify middle top bottom"),
        ("valign", "td" | "th" | "tr" | "thead" | "tbody" | "tfoot") => {
            one_of(value, "top middle bottom baseline")
        }
        ("width" | "height", "img" | "source" | "table" | "td" | "th" | "col") => {
            let digits = value.trim_end_matches("px").trim_end_matches('%');
            return is_number(digits, 4).then(|| value.trim_end_matches("px").to_owned().into());
        }
        ("href", "a") | ("cite", "blockquote" | "q" | "del" | "ins") => url::is_link(value),
        ("src", "img") => url::is_image(value),
        ("srcset", "img" | "source") => is_srcset(value),
        ("type", "source") => value.starts_with("image/"),
        ("type", "ol" | "ul" | "li") => {
            one_of(value, "1 a i disc circle square") || matches!(value, "A" | "I")
        }
        ("loading", "img") => one_of(value, "lazy eager"),
        ("open", "details") | ("reversed", "ol") => return Some(Cow::Borrowed("")),
        ("start", "ol") | ("value", "li") => is_number(value.trim_start_matches('-'), 6),
        ("colspan" | "rowspan" | "span", "td" | "th" | "col" | "colgroup") => is_number(value, 3),
        ("scope", "th") => one_of(value, "row col rowgroup colgroup"),
        _ => false,
    };
    fits.then_some(Cow::Borrowed(value))
}

fn one_of(value: &str, words: &str) -> bool {
    words.split(' ').any(|word| word.eq_ignore_ascii_case(value))
}

fn is_number(value: &str, most_digits: usize) -> bool {
    (1..=most_digits).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit())
}

fn id(value: &str) -> Option<String> {
    let fits = !value.is_empty() && value.len() <= LONGEST_ID && !value.contains(char::is_whitespace);
    fits.then(|| format!("{ID_PREFIX}{}", value.strip_prefix(ID_PREFIX).unwrap_or(value)))
}

/// Whether every candidate is an allowed image URL. `data:` URLs are not, because they contain commas, which separate
/// candidates.
fn is_srcset(value: &str) -> bool {
    value.split(',').all(|candidate| {
        let address = candidate.split_ascii_whitespace().next().unwrap_or_default();
        url::is_link(address) && url::is_image(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(tag: &str) -> String {
        let element = tag[1..].split([' ', '/', '>']).next().unwrap_or_default();
        read(tag).map(|attributes| filter(element, &attributes).text).unwrap_or_default()
    }

    #[test]
    fn what_pages_need_is_kept() {
        for (tag, expected) in [
            ("<a href=b.md TITLE='x \"y\"'>", " href=\"b.md\" title=\"x &quot;y&quot;\""),
            (
                "<img src=a.png width=20px height='50%' align=right>",
                " src=\"a.png\" width=\"20\" height=\"50%\" align=\"right\"",
            ),
            ("<p align = CENTER id=top>", " align=\"CENTER\" id=\"user-content-top\""),
            (
                "<source srcset='a.png 1x, https://b.example/c.png 2x' media=\"(x: y)\">",
                " srcset=\"a.png 1x, https://b.example/c.png 2x\" media=\"(x: y)\"",
            ),
            ("<details open>", " open=\"\""),
            ("<center>", " align=\"center\""),
            ("<a href=\"?a=1&copy=2&amp;b=3\">", " href=\"?a=1&amp;copy=2&amp;b=3\""),
            ("<a id=user-content-x name=y>", " id=\"user-content-x\" name=\"user-content-y\""),
        ] {
            assert_eq!(kept(tag), expected, "{tag}");
        }
    }

    #[test]
    fn everything_else_is_dropped() {
        for tag in [
            "<a style=x class=y onclick=z data-x=1 target=_blank rel=x ping=z>",
            "<a href='java&#10;script:alert(1)'>",
            "<a href=&#1;javascript:x>",
            "<a href=javascript&colon;alert(1)>",
            "<a href='vbscript:x' HREF=https://ok.example>",
            "<img src=data:image/svg+xml,x srcset='javascript:x 1x' sizes>x",
            "<img srcset='a.png, data:text/html,x'>",
            "<p width=3 align=\"x\" id='a b' dir=up lang='\"'>",
            "<td colspan=100000 rowspan=-1>",
            "<div title=\"unclosed>",
            "<div",
        ] {
            assert_eq!(kept(tag).replace(" sizes=\"\"", ""), "", "{tag}");
        }
    }
}

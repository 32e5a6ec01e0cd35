//! Parses one tag: its name and attributes, as a browser does.

use memchr::memchr;

use super::elements::Name;
use super::name_key::name_key;

/// The attributes that are read, sorted. Others are dropped while parsing: a tag may have a million of them.
const KNOWN: [&str; 31] = [
    "action",
    "alt",
    "aria-hidden",
    "aria-label",
    "autocomplete",
    "class",
    "content",
    "data",
    "data-label",
    "disabled",
    "download",
    "for",
    "formaction",
    "formcontrolname",
    "hidden",
    "href",
    "http-equiv",
    "id",
    "maxlength",
    "name",
    "open",
    "placeholder",
    "property",
    "readonly",
    "src",
    "srcdoc",
    "style",
    "title",
    "type",
    "value",
    "xlink:href",
];
const KEYS: [u128; KNOWN.len()] = {
    let mut keys = [0; KNOWN.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = name_key(KNOWN[at].as_bytes(), true);
        at += 1;
    }
    keys
};

#[derive(Debug, Default)]
pub struct Tag<'a> {
    pub name: Name,
    /// The first of each known name, all event handlers, and in XML all namespace declarations.
    pub attributes: Vec<(&'a str, &'a str)>,
    /// Self-closing: ends in a slash, which matters in XML and in foreign elements.
    pub closed: bool,
}

impl<'a> Tag<'a> {
    /// The raw value of an attribute. The first of its name wins, as in a browser.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&'a str> {
        debug_assert!(KNOWN.contains(&name), "{name} is dropped by `Tag::read`");
        self.attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    /// Parses the tag whose name begins at `name_at` and returns the offset after it. Replaces the previous content,
    /// so that a page needs one list of attributes. In XML, names may have a namespace prefix.
    pub fn read(&mut self, page: &'a str, name_at: usize, xml: bool) -> usize {
        let bytes = page.as_bytes();
        let mut at = skip(bytes, name_at, |b| !is_space(b) && b != b'/' && b != b'>');
        let name = &page[name_at..at];
        self.name = Name::new(if xml { local(name) } else { name });
        self.attributes.clear();
        self.closed = false;
        let mut seen = 0;
        loop {
            at = skip(bytes, at, |b| is_space(b) || b == b'/');
            match bytes.get(at) {
                None => return at,
                Some(b'>') => {
                    self.closed = bytes[at - 1] == b'/';
                    return at + 1;
                }
                Some(_) => {}
            }
            let key_at = at;
            // An equals sign may begin a name but not continue it.
            at = skip(bytes, at + 1, |b| !is_space(b) && b != b'/' && b != b'>' && b != b'=');
            let key = page.get(key_at..at).unwrap_or_default();
            let after = skip(bytes, at, is_space);
            let mut value = "";
            if bytes.get(after) == Some(&b'=') {
                at = skip(bytes, after + 1, is_space);
                (value, at) = value_at(page, at);
            }
            if is_wanted(key.as_bytes(), xml, &mut seen) {
                self.attributes.push((key, value));
            }
        }
    }
}

/// Whether to keep an attribute. `seen` has a bit for each known one.
fn is_wanted(key: &[u8], xml: bool, seen: &mut u32) -> bool {
    if let Ok(at) = KEYS.binary_search(&name_key(key, true)) {
        let bit = 1 << at;
        let first = *seen & bit == 0;
        *seen |= bit;
        return first;
    }
    let begins = |start: &[u8]| key.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    begins(b"on") || (xml && begins(b"xmlns"))
}

/// An XML name without its prefix.
pub fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn value_at(page: &str, at: usize) -> (&str, usize) {
    let bytes = page.as_bytes();
    let (from, end, next) = if let Some(quote @ (b'"' | b'\'')) = bytes.get(at) {
        let end = memchr(*quote, &bytes[at + 1..]).map_or(bytes.len(), |found| at + 1 + found);
        (at + 1, end, (end + 1).min(bytes.len()))
    } else {
        let end = skip(bytes, at, |b| !is_space(b) && b != b'>');
        (at, end, end)
    };
    (page.get(from..end).unwrap_or_default(), next)
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

fn skip(bytes: &[u8], mut at: usize, go_on: impl Fn(u8) -> bool) -> usize {
    while at < bytes.len() && go_on(bytes[at]) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, xml: bool) -> (Tag<'_>, usize) {
        let mut tag = Tag::default();
        let end = tag.read(text, 1, xml);
        (tag, end)
    }

    fn attributes(text: &str) -> Vec<(&str, &str)> {
        read(text, false).0.attributes
    }

    #[test]
    fn attributes_are_cut_as_browsers_cut_them() {
        assert_eq!(
            attributes("<a id=c src = 'e f' alt=\"h>\" data>"),
            [("id", "c"), ("src", "e f"), ("alt", "h>"), ("data", "")]
        );
        assert_eq!(attributes("<a/id=c/d=e>"), [("id", "c/d=e")]);
        assert_eq!(attributes("<a =id=c id=d>"), [("id", "d")]);
        assert_eq!(attributes("<a id='unclosed>"), [("id", "unclosed>")]);
        assert_eq!(attributes("<a id=c=' src>"), [("id", "c='"), ("src", "")]);
    }

    #[test]
    fn only_what_is_asked_for_is_kept_and_only_once() {
        assert!(KEYS.is_sorted_by(|a, b| a < b));
        let many = format!("<input {}>", "b class=x TYPE=text type=password typed=1 ".repeat(1000));
        assert_eq!(attributes(&many), [("class", "x"), ("TYPE", "text")]);
        assert_eq!(attributes("<a OnClick=a() on=b xmlns:x=c>"), [("OnClick", "a()"), ("on", "b")]);
        assert_eq!(read("<a xmlns:x=c>", true).0.attributes, [("xmlns:x", "c")]);
    }

    #[test]
    fn names_are_small_and_the_first_attribute_counts() {
        let (tag, end) = read("<INPUT Type=a TYPE=b />x", false);
        assert_eq!(
            (tag.name.text().as_str(), tag.get("type"), tag.closed, end),
            ("input", Some("a"), true, 23)
        );
    }

    #[test]
    fn nothing_of_the_tag_before_is_left() {
        let mut tag = Tag::default();
        tag.read("<br id=b/ />", 1, false);
        tag.read("<p>", 1, false);
        assert_eq!((tag.name.text().as_str(), tag.attributes.len(), tag.closed), ("p", 0, false));
    }

    #[test]
    fn prefixes_are_for_xml() {
        let name = |xml| read("<h:input>", xml).0.name.text();
        assert_eq!((name(true), name(false)), ("input".to_owned(), "h:input".to_owned()));
    }
}

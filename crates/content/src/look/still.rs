//! A copy of a page that does not make a browser knock elsewhere. A policy keeps scripts, forms and loads away; but it has
//! no say in `<link rel=preconnect>` and its kin, so those are taken out of the text. The scan knows nothing of where in a
//! document it is: no trick of nesting gets a tag past it, and what it spoils by mistake is only looked at.

/// What may stay of `<link>`; values are compared as they stand, so an entity in one is none of these.
const KEPT: [&str; 5] = ["stylesheet", "icon", "shortcut icon", "apple-touch-icon", "mask-icon"];
/// A tag that does not say within so many bytes what it is for does not stay: reading on would take longer with each.
const FAR: usize = 2048;

/// The same page without the links that connect.
pub fn still_html(text: &str) -> String {
    renamed(text, &|bytes, at| {
        let name = bytes.get(at..at + 4).is_some_and(|name| name.eq_ignore_ascii_case(b"link"));
        let ends = bytes.get(at + 4).is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>'));
        (name && ends && !is_kept(&bytes[at + 4..])).then_some(at)
    })
}

/// The same for a drawing or another document in XML, where names may have a prefix and texts may be built of entities of
/// its own. None when it is of the kind that cannot be seen through.
pub fn still_xml(text: &str) -> Option<String> {
    // Texts of its own, attributes of its own, and templates, which make elements of anything.
    let holds = |word: &str| {
        let word = word.as_bytes();
        text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
    };
    if ["<!ENTITY", "<!ATTLIST", "<?xml-stylesheet", "/XSL/Transform"].into_iter().any(holds) {
        return None;
    }
    Some(renamed(text, &|bytes, at| {
        let len =
            bytes[at..].iter().take_while(|b| !b.is_ascii_whitespace() && !b"/><=\"'".contains(b)).count();
        let name = &bytes[at..at + len];
        let local = name.rsplit(|b| *b == b':').next().unwrap_or(name);
        local.eq_ignore_ascii_case(b"link").then(|| at + len - 4)
    }))
}

/// The text with the names changed that `spoils` points at. It is asked after every `<`, `/` aside.
fn renamed(text: &str, spoils: &dyn Fn(&[u8], usize) -> Option<usize>) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for open in memchr::memchr_iter(b'<', bytes) {
        let at = open + 1 + usize::from(bytes.get(open + 1) == Some(&b'/'));
        if at >= bytes.len() {
            break;
        }
        if let Some(name) = spoils(bytes, at).filter(|name| *name >= from) {
            out.push_str(&text[from..name]);
            out.push_str("x-ln");
            from = name + 4;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Whether the attributes that begin here say plainly that the link is one of those that only load.
fn is_kept(bytes: &[u8]) -> bool {
    let mut rest = &bytes[..bytes.len().min(FAR)];
    loop {
        rest = rest.trim_ascii_start();
        match rest.first() {
            None | Some(b'>') => return false,
            Some(b'/') => rest = &rest[1..],
            Some(_) => {
                let (name, value, after) = attribute(rest);
                // The first of its name counts, as in a browser.
                if name.eq_ignore_ascii_case(b"rel") {
                    let value = value.trim_ascii().to_ascii_lowercase();
                    return KEPT.iter().any(|kept| kept.as_bytes() == value);
                }
                rest = after;
            }
        }
    }
}

/// Name and value of the attribute that begins here, and what comes after it.
fn attribute(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
    // An equals sign at the start belongs to the name.
    let len = 1 + bytes[1..].iter().take_while(|b| !b.is_ascii_whitespace() && !b"/>=".contains(b)).count();
    let (name, rest) = bytes.split_at(len);
    let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { return (name, b"", rest) };
    let value = value.trim_ascii_start();
    if let Some(quote @ (b'"' | b'\'')) = value.first() {
        let inner = &value[1..];
        let end = memchr::memchr(*quote, inner).unwrap_or(inner.len());
        return (name, &inner[..end], inner.get(end + 1..).unwrap_or_default());
    }
    let end = value.iter().take_while(|b| !b.is_ascii_whitespace() && **b != b'>').count();
    (name, &value[..end], &value[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_only_load_stay() {
        for kept in [
            "<link rel=stylesheet href=a.css>",
            "<LINK href='a.css' REL = \"Stylesheet\" />",
            "<link href=\"x>y\" rel='shortcut icon'>",
            "<p>linked</p><links>",
        ] {
            assert_eq!(still_html(kept), kept);
        }
    }

    #[test]
    fn links_that_connect_are_no_links_any_more() {
        for spoilt in [
            "<link rel=preconnect href=//evil.example>",
            "<LiNk\nrel=\"dns-prefetch\" href=//evil.example>",
            "<link rel='stylesheet preconnect' href=x>",
            "<link rel='&#112;reconnect' href=x>",
            "<link rel=preconnect rel=stylesheet href=x>",
            "<link a='>' rel=prefetch>",
            "<link / =rel=stylesheet rel=preconnect>",
            "<noscript><link rel=preconnect></noscript>",
            "<textarea></textarea><!-- --!><link rel=preconnect>",
            "<link/rel=preconnect/href=x>",
            "<link rel",
        ] {
            let still = still_html(spoilt);
            assert!(!still.to_lowercase().contains("<link") && still.contains("<x-ln"), "{spoilt}: {still}");
        }
        assert_eq!(still_html("<link"), "<link");
        assert_eq!(still_html("a<"), "a<");
    }

    #[test]
    fn drawings_lose_links_under_any_prefix() {
        let drawing =
            "<svg xmlns:h=\"http://www.w3.org/1999/xhtml\"><h:link rel='preconnect'/><g><LINK/></g></svg>";
        let still = still_xml(drawing).unwrap();
        assert!(still.contains("<h:x-ln rel") && still.contains("<x-ln/>"), "{still}");
        assert_eq!(still_xml("<svg><linearGradient/></svg>").unwrap(), "<svg><linearGradient/></svg>");
        assert_eq!(still_xml("<?XML-stylesheet href='#s'?><svg/>"), None);
        assert_eq!(still_xml("<x xmlns:y='http://www.w3.org/1999/XSL/Transform'/>"), None);
        assert_eq!(still_xml("<!DOCTYPE svg [<!entity x '&#60;h:link/>'>]><svg>&x;</svg>"), None);
    }
}

//! Defuses a page so that displaying it contacts no other host. The content security policy blocks scripts, forms and
//! loads, but it does not cover `<link rel=preconnect>` and the like, and browsers connect for a frame, or for a
//! clicked link, before they find that it is forbidden. So those elements are renamed in the text. The scan ignores
//! document structure: no nesting trick gets a tag past it, and an element renamed by mistake only looks different.

/// `rel` values of links that are kept. Values are compared undecoded, so one with a character reference matches none.
const KEPT_RELS: [&str; 5] = ["stylesheet", "icon", "shortcut icon", "apple-touch-icon", "mask-icon"];
/// A tag that does not state its purpose within this many bytes is renamed: reading on would take quadratic time.
const MAX_TAG_BYTES: usize = 2048;

/// Longer than any of the element names.
const LONGEST_NAME: usize = 16;
/// Elements that embed another document.
const FRAMES: [&str; 6] = ["iframe", "frame", "embed", "object", "fencedframe", "portal"];

/// The page without the links and frames that connect.
pub fn defuse_html(text: &str) -> String {
    rename_elements(text, |rest| {
        let part = &rest[..rest.len().min(LONGEST_NAME)];
        let len = part.iter().take_while(|b| !b.is_ascii_whitespace() && !b"/>".contains(b)).count();
        let (name, after) = rest.split_at(len);
        // A name cut off at the very end opens no element.
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        let opens = is_frame(name)
            || (is("link") && !is_loading_link(after))
            || ((is("a") || is("area")) && !is_local_link(after));
        (opens && !after.is_empty()).then_some(0)
    })
}

/// The same for SVG and other XML documents, where names may have a prefix. `None` if the document uses entities,
/// default attributes or stylesheets, which could create elements that this scan does not see.
pub fn defuse_xml(text: &str) -> Option<String> {
    // Entities, default attributes, and templates, which can create any element.
    let holds = |word: &str| {
        let word = word.as_bytes();
        text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
    };
    if ["<!ENTITY", "<!ATTLIST", "<?xml-stylesheet", "/XSL/Transform"].into_iter().any(holds) {
        return None;
    }
    Some(rename_elements(text, |rest| {
        let ends = |b: &u8| b.is_ascii_whitespace() || b"/><=\"'".contains(b);
        let name =
            &rest[..rest.iter().take(MAX_TAG_BYTES).position(ends).unwrap_or(rest.len().min(MAX_TAG_BYTES))];
        let local = name.rsplit(|b| *b == b':').next().unwrap_or(name);
        let opens =
            is_frame(local) || local.eq_ignore_ascii_case(b"link") || local.eq_ignore_ascii_case(b"a");
        opens.then(|| name.len() - local.len())
    }))
}

fn is_frame(name: &[u8]) -> bool {
    FRAMES.iter().any(|frame| name.eq_ignore_ascii_case(frame.as_bytes()))
}

/// Renames the elements for which `opens`, given the text after `<` or `</`, returns the offset of the name in it.
fn rename_elements(text: &str, opens: impl Fn(&[u8]) -> Option<usize>) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for open in memchr::memchr_iter(b'<', bytes) {
        let at = open + 1 + usize::from(bytes.get(open + 1) == Some(&b'/'));
        if let Some(name) = bytes.get(at..).and_then(&opens) {
            out.push_str(&text[from..at + name]);
            out.push_str("x-");
            from = at + name;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Whether the attributes that begin here clearly make the link one that only loads.
fn is_loading_link(bytes: &[u8]) -> bool {
    // The first of its name wins, as in a browser.
    let rel =
        attributes(bytes).and_then(|all| all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(b"rel")));
    rel.is_some_and(|(_, value)| {
        let value = value.trim_ascii().to_ascii_lowercase();
        KEPT_RELS.iter().any(|kept| kept.as_bytes() == value)
    })
}

/// Whether the attributes clearly make a link lead to a file next to the page, or nowhere.
fn is_local_link(bytes: &[u8]) -> bool {
    let beside = |value: &[u8]| {
        !value.starts_with(b"/")
            && value.iter().all(|b| b.is_ascii_alphanumeric() || b"._-~/#?=%".contains(b))
    };
    let leads =
        |name: &[u8]| name.to_ascii_lowercase().ends_with(b"href") || name.eq_ignore_ascii_case(b"ping");
    attributes(bytes).is_some_and(|all| all.iter().all(|(name, value)| !leads(name) || beside(value)))
}

/// The attributes of a tag. `None` if it does not end within [`MAX_TAG_BYTES`] bytes.
fn attributes(bytes: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut rest = &bytes[..bytes.len().min(MAX_TAG_BYTES)];
    let mut all = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        match rest.first()? {
            b'>' => return Some(all),
            b'/' => rest = &rest[1..],
            _ => {
                let (name, value, after) = attribute(rest);
                all.push((name, value));
                rest = after;
            }
        }
    }
}

/// The name and value of the attribute that begins here, and the rest.
fn attribute(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
    // A leading equals sign belongs to the name.
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
            assert_eq!(defuse_html(kept), kept);
        }
    }

    #[test]
    fn links_that_connect_are_no_links_any_more() {
        for page in [
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
            let defused = defuse_html(page);
            assert!(
                !defused.to_lowercase().contains("<link") && defused.to_lowercase().contains("<x-link"),
                "{page}: {defused}"
            );
        }
        assert_eq!(defuse_html("<link"), "<link");
        assert_eq!(defuse_html("a<"), "a<");
    }

    #[test]
    fn frames_are_no_frames_any_more() {
        let page = "<iframe src=//evil.example></iframe><FRAME src=x><object data=x>a</object><embed/src=x><frames><p>";
        let defused = "<x-iframe src=//evil.example></x-iframe><x-FRAME src=x><x-object data=x>a</x-object><x-embed/src=x><frames><p>";
        assert_eq!(defuse_html(page), defused);
    }

    #[test]
    fn links_lead_beside_the_page_or_nowhere() {
        for kept in [
            "<a href=next.html>",
            "<A HREF='sub/b.html?x=1#y'>",
            "<a name=x>",
            "<area href=''>",
            "<abbr title=//x>",
        ] {
            assert_eq!(defuse_html(kept), kept);
        }
        for page in [
            "<a href=https://evil.example>",
            "<a href=//evil.example>",
            "<a href='&#104;ttps://evil.example'>",
            "<a href='\\\\evil.example'>",
            "<a href=x ping=//evil.example>",
            "<a xlink:href=//evil.example>",
            "<area href='java\tscript:x'>",
        ] {
            assert!(defuse_html(page).starts_with("<x-a"), "{page}");
        }
    }

    #[test]
    fn drawings_lose_links_under_any_prefix() {
        let drawing = "<svg xmlns:h=\"http://www.w3.org/1999/xhtml\"><h:link rel='preconnect'/><g><LINK/></g><h:iframe/></svg>";
        let defused = defuse_xml(drawing).unwrap();
        assert!(
            defused.contains("<h:x-link rel")
                && defused.contains("<x-LINK/>")
                && defused.contains("<h:x-iframe/>"),
            "{defused}"
        );
        assert_eq!(defuse_xml("<svg><linearGradient/></svg>").unwrap(), "<svg><linearGradient/></svg>");
        assert_eq!(defuse_xml("<?XML-stylesheet href='#s'?><svg/>"), None);
        assert_eq!(defuse_xml("<x xmlns:y='http://www.w3.org/1999/XSL/Transform'/>"), None);
        assert_eq!(defuse_xml("<!DOCTYPE svg [<!entity x '&#60;h:link/>'>]><svg>&x;</svg>"), None);
    }
}

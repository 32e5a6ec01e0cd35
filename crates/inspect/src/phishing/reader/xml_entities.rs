//! Expands what an XML document declares: entities, and default attributes (`ATTLIST`). Plain-text entities are
//! substituted; a declaration that could produce markup cannot be checked, so its offset is reported.

use std::borrow::Cow;
use std::collections::HashMap;

use dropleaf_core::html::character_references::{Context, reference};
use memchr::{memchr, memchr_iter, memmem};

const MOST_NAMES: usize = 1000;
const LONGEST_NAME: usize = 64;
/// The most bytes that substituted entities may add to a document.
const MOST_ADDED: usize = 1 << 20;

pub(crate) struct Document<'a> {
    /// With plain-text entities substituted.
    pub(crate) text: Cow<'a, str>,
    /// The offset of a declaration that could produce markup.
    pub(crate) generated_markup_at: Option<usize>,
}

/// The document as a browser shows it. Adds the bytes examined to `work`.
pub(crate) fn expanded<'a>(text: &'a str, work: &mut usize) -> Document<'a> {
    *work += 2 * text.len();
    let mut generated_markup_at = memmem::find_iter(text.as_bytes(), b"<!ATTLIST").find(|at| {
        // A declaration nested in another is an error that no browser accepts, so nothing is read twice.
        let rest = &text[*at..];
        let end = memmem::find(&rest.as_bytes()[2..], b"<!").map_or(rest.len(), |next| next + 2);
        *work += end;
        declares_attributes(&rest[..end])
    });
    let mut names: HashMap<&str, String> = HashMap::new();
    for at in memmem::find_iter(text.as_bytes(), b"<!ENTITY") {
        let (entity, looked) = entity(&text[at + "<!ENTITY".len()..]);
        *work += looked;
        match entity {
            Entity::Text(name, value) if names.len() < MOST_NAMES => {
                // The first declaration of a name wins.
                names.entry(name).or_insert(value);
            }
            Entity::External => {}
            Entity::Text(..) | Entity::Markup => generated_markup_at = generated_markup_at.or(Some(at)),
        }
    }
    if names.is_empty() {
        return Document { text: Cow::Borrowed(text), generated_markup_at };
    }
    *work += text.len();
    match substitute_entities(text, &names) {
        Ok(text) => Document { text: Cow::Owned(text), generated_markup_at },
        Err(at) => {
            Document { text: Cow::Borrowed(text), generated_markup_at: generated_markup_at.or(Some(at)) }
        }
    }
}

enum Entity<'a> {
    Text(&'a str, String),
    /// External; browsers do not fetch it.
    External,
    Markup,
}

/// The declaration that starts here, and how many bytes were examined.
fn entity(declaration: &str) -> (Entity<'_>, usize) {
    let rest = declaration.trim_ascii_start();
    let looked = |rest: &str| declaration.len() - rest.len();
    // Parameter entities belong to declarations.
    if rest.starts_with('%') {
        return (Entity::Markup, looked(rest));
    }
    let end = rest.bytes().take(LONGEST_NAME).position(|byte| byte.is_ascii_whitespace());
    let Some((name, rest)) = end.map(|end| rest.split_at(end)) else {
        return (Entity::Markup, looked(rest) + LONGEST_NAME);
    };
    let rest = rest.trim_ascii_start();
    let Some(quote) = rest.bytes().next().filter(|b| matches!(b, b'"' | b'\'')) else {
        return (Entity::External, looked(rest));
    };
    let Some(end) = memchr(quote, &rest.as_bytes()[1..]) else { return (Entity::Markup, declaration.len()) };
    let entity = plain(&rest[1..=end]).map_or(Entity::Markup, |value| Entity::Text(name, value));
    (entity, looked(rest) + end)
}

/// A value without markup, numeric character references decoded.
fn plain(value: &str) -> Option<String> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        let number = rest[at + 1..].starts_with('#').then(|| reference(&rest[at + 1..], Context::Text));
        let (found, used) = number.flatten()?;
        text.push(found.first);
        rest = &rest[at + 1 + used..];
    }
    text.push_str(rest);
    (!text.contains(['<', '&'])).then(|| text.replace(['"', '\'', '\n'], " "))
}

/// Substitutes every entity. Fails with the offset at which the result becomes too large.
fn substitute_entities(text: &str, names: &HashMap<&str, String>) -> Result<String, usize> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut from, mut added) = (0, 0);
    for at in memchr_iter(b'&', bytes) {
        let name = &bytes[at + 1..bytes.len().min(at + 1 + LONGEST_NAME)];
        let Some(end) = memchr(b';', name).map(|len| at + 1 + len) else { continue };
        let Some(value) = text.get(at + 1..end).and_then(|name| names.get(name)) else { continue };
        added += value.len();
        if added > MOST_ADDED {
            return Err(at);
        }
        out.push_str(&text[from..at]);
        out.push_str(value);
        from = end + 1;
    }
    out.push_str(&text[from..]);
    Ok(out)
}

/// Whether the declaration gives elements default attributes other than namespaces.
fn declares_attributes(declaration: &str) -> bool {
    const LONGEST: usize = 4096;
    let mut words: Vec<&str> = Vec::new();
    let mut rest = declaration;
    loop {
        rest = rest.trim_ascii_start();
        match rest.bytes().next() {
            None | Some(b'>') => return false,
            Some(quote @ (b'"' | b'\'')) => {
                let back = 2 + usize::from(words.last() == Some(&"#FIXED"));
                let name = words.len().checked_sub(back).map_or("", |at| words[at]);
                if name != "xmlns" && !name.starts_with("xmlns:") {
                    return true;
                }
                let Some(end) = memchr(quote, &rest.as_bytes()[1..]) else { return true };
                rest = &rest[end + 2..];
            }
            Some(_) => {
                let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '>'));
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                words.push(word);
                rest = after;
            }
        }
        if words.len() > LONGEST {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Document<'_> {
        super::expanded(text, &mut 0)
    }

    #[test]
    fn plain_texts_are_put_where_their_names_stand() {
        for (text, expanded_to) in [
            ("<a>&b;</a>", "<a>&b;</a>"),
            (
                "<!ENTITY ns \"http://x/\"><svg xmlns='&ns;'>&lt;",
                "<!ENTITY ns \"http://x/\"><svg xmlns='http://x/'>&lt;",
            ),
            ("<!ENTITY nbsp '&#160;'>a&nbsp;b", "<!ENTITY nbsp '&#160;'>a\u{a0}b"),
            ("<!ENTITY a 'x'><!ENTITY a 'y'>&a;&", "<!ENTITY a 'x'><!ENTITY a 'y'>x&"),
        ] {
            let document = expanded(text);
            assert_eq!((&*document.text, document.generated_markup_at), (expanded_to, None));
        }
        let elsewhere = "<!ENTITY a SYSTEM 'b.xml'>&a;<!ATTLIST svg xmlns:x CDATA #FIXED 'y' id ID #IMPLIED>";
        assert_eq!((&*expanded(elsewhere).text, expanded(elsewhere).generated_markup_at), (elsewhere, None));
    }

    #[test]
    fn what_could_be_markup_is_said_to_be() {
        for text in [
            "<!ENTITY f '<form/>'>",
            "<!ENTITY f '&#60;form/>'>",
            "<!ENTITY f '&#x3c;form/>'>",
            "<!ENTITY f '&#38;#60;form/>'>",
            "<!ENTITY f '&g;'>",
            "<!ENTITY % f 'x'>",
            "<!ENTITY f 'unclosed",
            "<!ATTLIST input type CDATA 'password'>",
            "<!ATTLIST input xmlnsx CDATA #IMPLIED type CDATA #FIXED \"password\">",
            "<!ATTLIST input type (a | password) 'password'>",
        ] {
            assert_eq!(expanded(text).generated_markup_at, Some(0), "{text}");
        }
        let much = format!("<!ENTITY a '{}'>{}", "x".repeat(10_000), "&a;".repeat(1000));
        assert!(expanded(&much).generated_markup_at.is_some());
        let long = format!("<!ENTITY {} 'x'>", "a".repeat(LONGEST_NAME));
        assert_eq!(expanded(&long).generated_markup_at, Some(0), "such a name would not be looked for");
    }
}

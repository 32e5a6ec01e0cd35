//! The addresses elsewhere that the texts of an upload hold, for whoever keeps a list of bad ones. Nothing is looked up.

use std::collections::BTreeSet;
use std::io;

use crate::bundle::{Bundle, File};
use crate::file_text::text_of;

/// An address beyond this is data.
const LONGEST: usize = 2048;
const SCHEMES: [&str; 2] = ["https", "http"];

/// Whether a file is read as text: what has a charset is.
pub fn is_text(file: &File) -> bool {
    file.mime.contains("charset=") || file.mime.starts_with("image/svg")
}

/// The text of a file of a bundle, as a browser would read it.
pub fn text(file: &File) -> io::Result<String> {
    Ok(text_of(file)?.into_owned())
}

/// The addresses in all texts of a bundle, each once, at most so many.
pub fn in_bundle(bundle: &Bundle, most: usize) -> io::Result<Vec<String>> {
    let mut found = BTreeSet::new();
    for file in bundle.files.iter().filter(|file| is_text(file)) {
        for address in in_text(&text_of(file)?) {
            found.insert(address);
            if found.len() == most {
                return Ok(found.into_iter().collect());
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// `http://…` and `https://…` wherever they stand, and `//…` where an attribute begins with it.
fn in_text(text: &str) -> impl Iterator<Item = String> {
    memchr::memmem::find_iter(text.as_bytes(), b"//").filter_map(move |at| {
        let before = &text.as_bytes()[..at];
        let scheme = match before.strip_suffix(b":") {
            Some(before) => SCHEMES.into_iter().find(|scheme| {
                let start = before.len().checked_sub(scheme.len());
                start.is_some_and(|start| {
                    let alone = start.checked_sub(1).is_none_or(|at| !before[at].is_ascii_alphanumeric());
                    alone && before[start..].eq_ignore_ascii_case(scheme.as_bytes())
                })
            })?,
            None if begins_attribute(before) => "https",
            None => return None,
        };
        let rest = &text[at + 2..];
        let end = rest.find(is_end).unwrap_or(rest.len());
        let rest = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?']).replace("&amp;", "&");
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let fits = rest.len() <= LONGEST && host.contains(['.', ':']) && !host.starts_with('.');
        fits.then(|| format!("{scheme}://{rest}"))
    })
}

fn begins_attribute(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    before.ends_with(b"=")
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
        in_text(text).collect()
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
}

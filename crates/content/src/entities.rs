//! Character references in short HTML texts such as titles. It knows numbers, Latin-1 and the
//! usual typography; an unknown reference stays as it was written.

use std::borrow::Cow;

use crate::name_key::name_key;

/// Names for U+00A0 to U+00FF, in order.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo",
    "not", "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",
    "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute",
    "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash",
    "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde",
    "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc",
    "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave",
    "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

const OTHERS: [(&str, char); 30] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("bull", '•'),
    ("hellip", '…'),
    ("prime", '′'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("euro", '€'),
    ("trade", '™'),
    ("larr", '←'),
    ("uarr", '↑'),
    ("rarr", '→'),
    ("darr", '↓'),
    ("harr", '↔'),
    ("minus", '−'),
    ("infin", '∞'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'),
];

const LONGEST_NAME: usize = 12;

/// All of them as numbers, in order, so that they can be searched.
const NAMED: [(u128, char); LATIN_1.len() + OTHERS.len()] = {
    let mut named = [(0, ' '); LATIN_1.len() + OTHERS.len()];
    let mut next = 0;
    let mut latin: u8 = 0xa0;
    while next < named.len() {
        let (name, c) = if next < OTHERS.len() {
            OTHERS[next]
        } else {
            let c = latin as char;
            latin = latin.wrapping_add(1);
            (LATIN_1[next - OTHERS.len()], c)
        };
        let key = name_key(name.as_bytes(), false);
        let mut at = next;
        while at > 0 && named[at - 1].0 > key {
            named[at] = named[at - 1];
            at -= 1;
        }
        named[at] = (key, c);
        next += 1;
    }
    named
};

pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match reference(rest) {
            Some((c, used)) => {
                decoded.push(c);
                rest = &rest[used..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

/// The character that the text after `&` stands for, and how many bytes say so.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(LONGEST_NAME).position(|b| b == b';')?;
    let name = &text[..end];
    let found = match name.strip_prefix('#') {
        Some(number) => numeric(number)?,
        None => named(name)?,
    };
    Some((found, end + 1))
}

fn numeric(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok()?,
        None if number.bytes().all(|b| b.is_ascii_digit()) => number.parse().ok()?,
        // The parsers of the standard library take a plus sign; browsers do not.
        _ => return None,
    };
    Some(char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The character that a name stands for.
pub(crate) fn named(name: &str) -> Option<char> {
    let key = name_key(name.as_bytes(), false);
    let at =
        NAMED.binary_search_by_key(&key, |(known, _)| *known).ok().filter(|_| name.len() <= LONGEST_NAME)?;
    Some(NAMED[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found() {
        for (name, c) in OTHERS.into_iter().chain(LATIN_1.into_iter().zip('\u{a0}'..='\u{ff}')) {
            assert_eq!(named(name), Some(c), "{name}");
        }
        assert_eq!((named("nbs"), named("nbspx"), named("NBSP"), named("")), (None, None, None, None));
    }

    #[test]
    fn known_references_become_characters() {
        assert_eq!(decode("caf&eacute; &#8211; &#x2F; &yuml;&nbsp;&copy;"), "café – / ÿ\u{a0}©");
    }

    #[test]
    fn the_rest_stays_as_written() {
        for text in [
            "a & b",
            "&",
            "&;",
            "&bogus;",
            "&#;",
            "&#x110000000;",
            "&#-1;",
            "&#+65;",
            "&#x+41;",
            "&amp",
            "&é;",
        ] {
            assert_eq!(decode(text), text);
        }
    }

    #[test]
    fn impossible_code_points_are_replaced() {
        assert_eq!(decode("&#0;&#xD800;"), "\u{fffd}\u{fffd}");
    }
}

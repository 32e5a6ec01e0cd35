//! Character references as browsers read them: numbers of any length with or without a semicolon, and names that
//! imitate or hide letters, beyond those that [`crate::entities`] knows for titles.

use crate::entities;
use crate::name_key::name_key;

/// In order, so that they can be searched. The semicolon is required for all of them.
#[rustfmt::skip]
const NAMES: [(&str, char); 102] = [
    ("Acy", 'А'), ("Alpha", 'Α'), ("Beta", 'Β'), ("Chi", 'Χ'), ("DScy", 'Ѕ'), ("Delta", 'Δ'),
    ("Epsilon", 'Ε'), ("Eta", 'Η'), ("Gamma", 'Γ'), ("IEcy", 'Е'), ("IOcy", 'Ё'), ("Iota", 'Ι'),
    ("Iukcy", 'І'), ("Jsercy", 'Ј'), ("KHcy", 'Х'), ("Kappa", 'Κ'), ("Kcy", 'К'), ("Lambda", 'Λ'),
    ("Mcy", 'М'), ("Mu", 'Μ'), ("Ncy", 'Н'), ("NewLine", ' '), ("NoBreak", '\u{2060}'), ("Nu", 'Ν'),
    ("Ocy", 'О'), ("Omega", 'Ω'), ("Omicron", 'Ο'), ("Phi", 'Φ'), ("Pi", 'Π'), ("Psi", 'Ψ'),
    ("Rcy", 'Р'), ("Rho", 'Ρ'), ("Scy", 'С'), ("Sigma", 'Σ'), ("Tab", ' '), ("Tau", 'Τ'),
    ("Tcy", 'Т'), ("Theta", 'Θ'), ("Ucy", 'У'), ("Upsilon", 'Υ'), ("Vcy", 'В'), ("Xi", 'Ξ'),
    ("YIcy", 'Ї'), ("ZeroWidthSpace", '\u{200b}'), ("Zeta", 'Ζ'), ("acy", 'а'), ("alpha", 'α'), ("beta", 'β'),
    ("chi", 'χ'), ("colon", ':'), ("commat", '@'), ("delta", 'δ'), ("dscy", 'ѕ'), ("dstrok", 'đ'),
    ("epsilon", 'ε'), ("equals", '='), ("eta", 'η'), ("gamma", 'γ'), ("hstrok", 'ħ'), ("hyphen", '-'),
    ("iecy", 'е'), ("inodot", 'ı'), ("iocy", 'ё'), ("iota", 'ι'), ("iukcy", 'і'), ("jsercy", 'ј'),
    ("kappa", 'κ'), ("kcy", 'к'), ("khcy", 'х'), ("lambda", 'λ'), ("lowbar", '_'), ("lrm", '\u{200e}'),
    ("lstrok", 'ł'), ("mcy", 'м'), ("mu", 'μ'), ("ncy", 'н'), ("nu", 'ν'), ("ocy", 'о'),
    ("omega", 'ω'), ("omicron", 'ο'), ("period", '.'), ("phi", 'φ'), ("pi", 'π'), ("psi", 'ψ'),
    ("quest", '?'), ("rcy", 'р'), ("rho", 'ρ'), ("rlm", '\u{200f}'), ("scy", 'с'), ("sigma", 'σ'),
    ("sol", '/'), ("tau", 'τ'), ("tcy", 'т'), ("theta", 'θ'), ("ucy", 'у'), ("upsilon", 'υ'),
    ("vcy", 'в'), ("xi", 'ξ'), ("yicy", 'ї'), ("zeta", 'ζ'), ("zwj", '\u{200d}'), ("zwnj", '\u{200c}'),
];

const LONGEST_NAME: usize = 15;
const KEYS: [u128; NAMES.len()] = {
    let mut keys = [0; NAMES.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = name_key(NAMES[at].0.as_bytes(), false);
        at += 1;
    }
    keys
};

/// References that browsers know without a semicolon.
const BARE_NAMES: [(&str, char); 4] = [("nbsp", ' '), ("copy", '©'), ("shy", '\u{ad}'), ("amp", '&')];

/// The character that the text after `&` stands for, and how much of it says so.
pub(crate) fn reference(rest: &str) -> Option<(char, usize)> {
    if let Some(number) = rest.strip_prefix('#') {
        return numeric(number).map(|(c, len)| (c, len + 1));
    }
    let len = rest.bytes().take(LONGEST_NAME + 1).take_while(u8::is_ascii_alphanumeric).count();
    let name = &rest[..len];
    let has_end = rest.as_bytes().get(len) == Some(&b';');
    if let Some(c) = named(name).filter(|_| has_end) {
        return Some((c, len + 1));
    }
    let bare = BARE_NAMES.iter().find(|(known, _)| name.starts_with(known));
    bare.map(|(known, c)| (*c, known.len() + usize::from(rest[known.len()..].starts_with(';'))))
}

fn numeric(number: &str) -> Option<(char, usize)> {
    let (radix, digits) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (16, digits),
        None => (10, number),
    };
    let len = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let code = digits[..len].bytes().fold(0_u32, |code, byte| {
        code.saturating_mul(radix).saturating_add(char::from(byte).to_digit(radix).unwrap_or(0))
    });
    let semicolon = usize::from(digits[len..].starts_with(';'));
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    (len > 0).then_some((c, number.len() - digits.len() + len + semicolon))
}

fn named(name: &str) -> Option<char> {
    let known =
        KEYS.binary_search(&name_key(name.as_bytes(), false)).ok().filter(|_| name.len() <= LONGEST_NAME);
    known.map(|at| NAMES[at].1).or_else(|| entities::named(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        for (name, c) in NAMES {
            assert_eq!(named(name), Some(c));
        }
        assert_eq!((named("alph"), named("alphaa"), named("")), (None, None, None));
    }

    #[test]
    fn references_are_read_as_browsers_read_them() {
        for (rest, found) in [
            ("#97;x", Some(('a', 4))),
            ("#97x", Some(('a', 3))),
            ("#x61;", Some(('a', 5))),
            ("#0000000000097;", Some(('a', 15))),
            ("#99999999999;", Some((char::REPLACEMENT_CHARACTER, 13))),
            ("copy 2026", Some(('©', 4))),
            ("eacute;", Some(('é', 7))),
            ("alpha;yPal", Some(('α', 6))),
            ("alpha", None),
            ("é;", None),
            ("ZeroWidthSpace;", Some(('\u{200b}', 15))),
            ("ZeroWidthSpaceXYZ;", None),
            ("nbsp;;", Some(('\u{a0}', 5))),
            ("ampere", Some(('&', 3))),
            ("#;", None),
            ("bogus;", None),
            (" b", None),
        ] {
            assert_eq!(reference(rest), found, "{rest}");
        }
    }
}

//! Named references that imitate or hide letters, beyond those that [`crate::entities`] knows for titles.

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

/// The character that the text after `&` names, and the length of the name with its semicolon.
pub(crate) fn named(rest: &str) -> Option<(char, usize)> {
    let end = rest.bytes().take(16).position(|byte| byte == b';')?;
    let name = rest.get(..end)?;
    let at = NAMES.binary_search_by(|(known, _)| known.as_bytes().cmp(name.as_bytes())).ok()?;
    Some((NAMES[at].1, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(named("alpha;yPal"), Some(('α', 6)));
        assert_eq!(named("alpha"), None);
        assert_eq!(named("é;"), None);
    }
}

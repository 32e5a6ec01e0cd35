//! Tests of character references, with the examples of the HTML standard.

use super::*;

fn text(text: &str) -> Cow<'_, str> {
    decode(text, Context::Text)
}

fn attribute(text: &str) -> Cow<'_, str> {
    decode(text, Context::Attribute)
}

#[test]
fn all_names_of_the_standard_are_decoded() {
    let names = &NAMES.all;
    let bare: Vec<&Bare> = NAMES.bare.iter().flatten().collect();
    let longest = bare.iter().map(|name| name.len).max();
    assert_eq!(longest, Some(6), "they fit the number that they are compared by");
    let bare = bare.len();
    assert_eq!((names.len(), bare, names.len() + bare), (2125, 106, 2231));
    assert!(names.is_sorted_by(|a, b| a.text < b.text));
    assert_eq!(names.iter().map(|name| name.text.len()).max(), Some(LONGEST_NAME));
    assert_eq!(names.iter().map(|name| name.text.len()).min(), Some(SHORTEST));
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        let (name, codes) = line.split_once(' ').unwrap();
        let stands_for: String = codes
            .split(' ')
            .map(|code| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap())
            .collect();
        let plain = name.trim_end_matches(';');
        for (written, rest) in [(format!("&{plain};"), ""), (format!("&{plain};x"), "x")] {
            assert_eq!(text(&written), format!("{stands_for}{rest}"), "{written}");
            assert_eq!(attribute(&written), format!("{stands_for}{rest}"), "{written}");
        }
        if plain == name {
            for end in ["", " ", "<", "(", "\u{e9}", "&"] {
                let written = format!("&{plain}{end}");
                assert_eq!(text(&written), format!("{stands_for}{end}"), "{written}");
                assert_eq!(attribute(&written), format!("{stands_for}{end}"), "{written}");
            }
        } else {
            assert!(!text(&format!("&{plain} ")).starts_with(&stands_for), "{plain} needs a semicolon");
        }
    }
}

#[test]
fn the_longest_name_counts_and_attributes_are_careful() {
    for (written, in_text, in_attribute) in [
        ("I'm &notit; I tell you", "I'm ¬it; I tell you", "I'm &notit; I tell you"),
        ("I'm &notin; I tell you", "I'm ∉ I tell you", "I'm ∉ I tell you"),
        ("?art&copy", "?art©", "?art©"),
        ("?a=1&copy=2", "?a=1©=2", "?a=1&copy=2"),
        ("?a=1&copy2", "?a=1©2", "?a=1&copy2"),
        ("&ampere", "&ere", "&ampere"),
        ("&amp;lt;", "&lt;", "&lt;"),
        ("&ltform>", "<form>", "&ltform>"),
        ("&lt;form>", "<form>", "<form>"),
        ("&lt/form>", "</form>", "</form>"),
        ("&#60form>", "<form>", "<form>"),
        ("fetch&#40'x'&#41", "fetch('x')", "fetch('x')"),
        ("&lpar;&rpar;&colon;&Tab;&NewLine;", "():\t\n", "():\t\n"),
        ("&LT;&GT&QUOT;", "<>\"", "<>\""),
        ("&NotEqualTilde;", "\u{2242}\u{338}", "\u{2242}\u{338}"),
    ] {
        assert_eq!(text(written), in_text, "{written}");
        assert_eq!(attribute(written), in_attribute, "{written}");
    }
}

#[test]
fn numbers_are_read_as_browsers_read_them() {
    for (written, read) in [
        ("&#97;x", "ax"),
        ("&#97x", "ax"),
        ("&#x61;", "a"),
        ("&#X61g", "ag"),
        ("&#0000000000097;", "a"),
        ("&#128;&#x80;&#150;&#x9F;", "€€–Ÿ"),
        ("&#129;", "\u{81}"),
        ("&#0;&#xD800;&#xDFFF;&#x110000;&#99999999999999999999;", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ("&#xFFFE;&#13;&#1;", "\u{fffe}\r\u{1}"),
        ("&#x10FFFF;", "\u{10ffff}"),
    ] {
        assert_eq!(text(written), read, "{written}");
        assert_eq!(attribute(written), read, "{written}");
    }
}

#[test]
fn the_rest_stays_as_written() {
    for written in [
        "a & b",
        "&",
        "&;",
        "&bogus;",
        "&#;",
        "&#x;",
        "&#xg",
        "&#-1;",
        "&#+65;",
        "&#x+41;",
        "&alpha",
        "&é;",
        "&&",
        "AT&T",
        "&a",
        "& lt;",
        "&CounterClockwiseContourIntegralx;",
        "&zwnj",
    ] {
        assert_eq!(text(written), written);
        assert_eq!(attribute(written), written);
    }
}

#[test]
fn reading_takes_linear_time() {
    // Each `&` reads at most 32 of the following bytes, or the digits of one number.
    for piece in
        ["&", "&a", "&amp", "&#", "&#1", "&CounterClockwiseContourIntegra", "&#000000000000000000000000000"]
    {
        let long = piece.repeat(1 << 20 >> 4);
        assert!(text(&long).len() <= 3 * long.len());
    }
    let digits = format!("&#{}", "9".repeat(4 << 20));
    assert_eq!(text(&digits), "\u{fffd}");
}

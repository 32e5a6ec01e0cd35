//! The SVG attributes that a drawing may have, each with its allowed values.

use std::borrow::Cow;

const NUMBERS: &str = "cx cy dx dy fill-opacity font-size height markerHeight markerWidth offset opacity r refX refY rx ry \
                       stroke-miterlimit stroke-opacity stroke-width textLength width x x1 x2 y y1 y2";
const LISTS: &str = "points stroke-dasharray viewBox";
const COLOURS: &str = "fill stop-color stroke";
const REFERENCES: &str = "marker-end marker-mid marker-start";
/// Attributes with their allowed keywords.
const WORDS: [(&str, &str); 12] = [
    ("alignment-baseline", "auto baseline central mathematical middle"),
    ("clip-rule", "evenodd nonzero"),
    (
        "dominant-baseline",
        "alphabetic auto central hanging mathematical middle text-after-edge text-before-edge",
    ),
    ("fill-rule", "evenodd nonzero"),
    ("font-style", "italic normal oblique"),
    ("font-weight", "100 200 300 400 500 600 700 800 900 bold bolder lighter normal"),
    ("gradientUnits", "objectBoundingBox userSpaceOnUse"),
    ("lengthAdjust", "spacing spacingAndGlyphs"),
    ("markerUnits", "strokeWidth userSpaceOnUse"),
    ("stroke-linecap", "butt round square"),
    ("stroke-linejoin", "bevel miter round"),
    ("text-anchor", "end middle start"),
];
/// No drawing extends further, and browsers represent coordinates of this size precisely enough.
const FURTHEST: f32 = 1e6;
const LONGEST_COLOUR: usize = 80;
const LONGEST_ID: usize = 80;

/// What happens to an attribute.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AttributeValue<'v> {
    /// Written with this value.
    Kept(Cow<'v, str>),
    LeftOut,
    /// The value is not allowed: the whole drawing is rejected.
    Refused,
}

pub(super) fn check_attribute<'v>(
    element: &str,
    name: &str,
    value: &'v str,
    prefix: &str,
) -> AttributeValue<'v> {
    let as_it_is =
        |fits: bool| if fits { AttributeValue::Kept(Cow::Borrowed(value)) } else { AttributeValue::Refused };
    let as_reference = || {
        reference(value, prefix).map_or(AttributeValue::Refused, |value| AttributeValue::Kept(value.into()))
    };
    match name {
        "id" if matches!(element, "marker" | "linearGradient") => {
            if is_id(value) {
                AttributeValue::Kept(format!("{prefix}{value}").into())
            } else {
                AttributeValue::Refused
            }
        }
        "d" => as_it_is(is_path(value)),
        "transform" => as_it_is(is_transform(value)),
        "orient" => as_it_is(matches!(value, "auto" | "auto-start-reverse") || is_number(value)),
        _ if is_listed(NUMBERS, name) => as_it_is(is_number(value)),
        _ if is_listed(LISTS, name) => as_it_is(value == "none" || numbers(value).is_some()),
        _ if is_listed(REFERENCES, name) => as_reference(),
        _ if is_listed(COLOURS, name) => {
            if is_colour(value) {
                as_it_is(true)
            } else {
                as_reference()
            }
        }
        _ => match WORDS.iter().find(|(known, _)| *known == name) {
            Some((_, words)) => as_it_is(is_listed(words, value)),
            None => AttributeValue::LeftOut,
        },
    }
}

/// A colour by name, in hexadecimal, or by one of the four legacy functions; never a URL.
pub(super) fn is_colour(value: &str) -> bool {
    if value.is_empty() || value.len() > LONGEST_COLOUR {
        return false;
    }
    if let Some(digits) = value.strip_prefix('#') {
        return matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    if value.bytes().all(|b| b.is_ascii_alphabetic()) {
        return true;
    }
    ["rgb(", "rgba(", "hsl(", "hsla("]
        .iter()
        .find_map(|function| value.strip_prefix(function)?.strip_suffix(')'))
        .is_some_and(|inside| {
            inside.bytes().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b',' | b'.' | b'%' | b'-' | b'/'))
        })
}

/// A list of numbers, separated by spaces and commas.
pub(super) fn numbers(value: &str) -> Option<Vec<f32>> {
    let parts = value.split([' ', ',']).filter(|part| !part.is_empty());
    parts.map(|part| number(part.strip_suffix("px").unwrap_or(part))).collect()
}

fn number(value: &str) -> Option<f32> {
    // The standard library also parses "inf" and "nan".
    let is_plain = value.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    value.parse().ok().filter(|number: &f32| is_plain && number.abs() <= FURTHEST)
}

fn is_number(value: &str) -> bool {
    let unit = ["px", "em", "%"].iter().find_map(|unit| value.strip_suffix(unit));
    number(unit.unwrap_or(value)).is_some()
}

/// Commands and numbers. The numbers are parsed too, because one that is not finite breaks the drawing.
fn is_path(value: &str) -> bool {
    value.split(|c: char| "MmLlHhVvCcSsQqTtAaZz".contains(c)).all(|arguments| numbers(arguments).is_some())
}

fn is_transform(value: &str) -> bool {
    value.split(')').map(|step| step.trim_start_matches([' ', ','])).filter(|step| !step.is_empty()).all(
        |step| {
            step.split_once('(').is_some_and(|(name, arguments)| {
                matches!(name, "translate" | "rotate" | "scale" | "matrix") && numbers(arguments).is_some()
            })
        },
    )
}

/// A reference to a marker or gradient of the same drawing.
fn reference(value: &str, prefix: &str) -> Option<String> {
    let id = value.strip_prefix("url(#")?.strip_suffix(')')?;
    is_id(id).then(|| format!("url(#{prefix}{id})"))
}

fn is_id(value: &str) -> bool {
    (1..=LONGEST_ID).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn is_listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_told_from_everything_else() {
        for colour in [
            "none",
            "currentColor",
            "red",
            "#fff",
            "#ECECFF",
            "#ff00ff80",
            "rgb(1, 2.5, 3)",
            "hsl(240, 100%, 46.27%)",
        ] {
            assert!(is_colour(colour), "{colour}");
        }
        for value in [
            "",
            "#ff",
            "#ggg",
            "url(#x)",
            "url(https://evil.example/x)",
            "red;background:url(x)",
            "red\" onload=\"x",
            "rgb(url(x))",
            "var(--x)",
            "re\\64",
            "rgb(1,2,3",
            "image-set(x)",
        ] {
            assert!(!is_colour(value), "{value}");
        }
    }

    #[test]
    fn only_finite_numbers_of_a_sensible_size_are_kept() {
        for value in ["0", "-1.5", "12px", "1e3", "50%", "1em", "+4"] {
            assert!(is_number(value), "{value}");
        }
        for value in
            ["", "px", "NaN", "inf", "-inf", "infinity", "1e9", "1e309", "0x10", "1;", "calc(1)", "1 2"]
        {
            assert!(!is_number(value), "{value}");
        }
    }

    #[test]
    fn paths_and_transformations_have_nothing_but_numbers() {
        assert!(is_path("M 0 0 L 10,5 C1,2,3,4,5,6 A 1 1 0 0 1 2 2 z") && is_path("M-1.5,2e1L3 4"));
        assert!(is_transform("translate(1, 2) rotate(-45 3 4)") && is_transform("scale(2)"));
        for value in ["M NaN 0", "M 0 0 B 1", "M0 0;x", "M url(x)"] {
            assert!(!is_path(value), "{value}");
        }
        for value in ["translate(x)", "url(#a)", "translate", "skewX(1)x", "translate(1) evil(2)"] {
            assert!(!is_transform(value), "{value}");
        }
    }
}

//! Tells which styles make text invisible.

use dropleaf_core::html::character_references::{Context, decode};

use super::selectors::without_comments;

/// A larger negative offset in pixels puts text off the screen.
const FAR: f64 = -400.0;
/// The longest name of a property that may hide text.
const LONGEST_PROPERTY: usize = 18;

/// Whether the declarations of a style make text invisible. `paints` says that the page has a background of its own.
pub(super) fn hides(style: &str, paints: bool) -> bool {
    let decoded = decode(style, Context::Attribute);
    let style = without_comments(&decoded);
    let (mut color, mut background, mut tiny, mut cut) = (None, None, false, false);
    for declaration in style.split(';') {
        let Some((name, value)) = declaration.split_once(':') else { continue };
        let name = name.trim();
        let mut lower = [0; LONGEST_PROPERTY];
        let Some(lower) = lower.get_mut(..name.len()) else { continue };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        let value = || {
            let value = value.trim();
            let end = value.len().saturating_sub(IMPORTANT.len());
            let is_important = value.get(end..).is_some_and(|end| end.eq_ignore_ascii_case(IMPORTANT));
            if is_important { value[..end].trim_end() } else { value }
        };
        let is = |word: &str| value().eq_ignore_ascii_case(word);
        let begins =
            |start: &str| value().get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
        let number = || number_of(value());
        let is_relative = || has_unit(value(), "em");
        match &*lower {
            b"display" if is("none") => return true,
            b"visibility" if is("hidden") || is("collapse") => return true,
            b"opacity" if number().is_some_and(|opacity| opacity < 0.05) => return true,
            b"font-size"
                if number().is_some_and(|size| size < 2.0) && !is_relative() && !has_unit(value(), "v") =>
            {
                return true;
            }
            b"font-size" if number() == Some(0.0) => return true,
            b"left" | b"right" | b"top" | b"bottom" | b"text-indent" | b"margin-left" | b"margin-top"
                if number().is_some_and(|offset| offset <= FAR) =>
            {
                return true;
            }
            b"z-index" if number().is_some_and(|layer| layer < 0.0) => return true,
            b"transform" if begins("scale(0)") => return true,
            b"content-visibility" if is("hidden") => return true,
            b"clip" if begins("rect(0") || begins("rect(1px") => return true,
            b"clip-path" if begins("inset(50%") || begins("inset(100%") => return true,
            b"height" | b"width" | b"max-height"
                if number().is_some_and(|size| size < 2.0) && !is_relative() =>
            {
                tiny = true;
            }
            b"overflow" if is("hidden") || is("clip") => cut = true,
            b"color" => color = Some(plain_color(value())),
            b"background" | b"background-color" => background = Some(plain_color(value())),
            _ => {}
        }
    }
    let same_color = match (color, background) {
        (Some(text), Some(behind)) => text.eq_ignore_ascii_case(behind),
        (Some(text), None) => text == "transparent" || (!paints && text == "#ffffff"),
        _ => false,
    };
    same_color || (tiny && cut)
}

const IMPORTANT: &str = "!important";

/// Whether a value contains these letters, in any case.
fn has_unit(value: &str, unit: &str) -> bool {
    value.as_bytes().windows(unit.len()).any(|part| part.eq_ignore_ascii_case(unit.as_bytes()))
}

/// The number that a value begins with.
fn number_of(value: &str) -> Option<f64> {
    let end =
        value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '.' | '+'))).unwrap_or(value.len());
    let number: f64 = value[..end].parse().ok()?;
    let unit = &value[end..];
    let is_relative = ["em", "rem", "vw", "vh", "%"].iter().any(|it| unit.eq_ignore_ascii_case(it));
    // Relative lengths that far are off the screen too.
    Some(if is_relative && number < -50.0 { FAR } else { number })
}

/// A color in one spelling, where that is easy.
fn plain_color(value: &str) -> &str {
    const SPELLINGS: [(&str, &[&str]); 3] = [
        ("#ffffff", &["white", "#fff", "#ffffff", "rgb(255,255,255)", "rgb(255, 255, 255)"]),
        ("#000000", &["black", "#000", "#000000", "rgb(0,0,0)", "rgb(0, 0, 0)"]),
        ("transparent", &["transparent", "rgba(0,0,0,0)", "rgba(0, 0, 0, 0)"]),
    ];
    let spelled = |all: &[&str]| all.iter().any(|it| value.eq_ignore_ascii_case(it));
    SPELLINGS.iter().find(|(_, all)| spelled(all)).map_or(value, |(plain, _)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide_are_known() {
        for style in [
            "display:none",
            "color:red; display : none !important",
            "visibility: hidden",
            "opacity:0",
            "opacity: 0.01;",
            "font-size:0",
            "font-size: 1px",
            "position:absolute;left:-9999px",
            "text-indent:-100em",
            "position:absolute; z-index:-1",
            "height:0;overflow:hidden",
            "clip: rect(0 0 0 0)",
            "clip-path:inset(50%)",
            "transform:scale(0)",
            "color:#fff;background:white",
            "color:transparent",
            "display&colon;none",
            "DISPLAY:NONE !IMPORTANT",
            "top:&#45;9999px",
            "display:/**/none",
            "/* a */visibility/* b */:hidden/* c */",
            "display&colon;&#47;* *&#47;none",
            "content-visibility:hidden",
        ] {
            assert!(hides(style, true), "{style}");
        }
        assert!(hides("color:white", false));
        for style in [
            "display:flex",
            "opacity:0.8",
            "font-size:1em",
            "font-size:1.2vw",
            "left:-20px",
            "margin-left:-15px",
            "height:0",
            "overflow:hidden",
            "color:#fff;background:#036",
            "color:white",
            "z-index:10",
        ] {
            assert!(!hides(style, true), "{style}");
        }
    }
}

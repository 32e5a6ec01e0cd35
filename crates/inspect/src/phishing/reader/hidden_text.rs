//! Finds text that a page contains but does not show: hidden attributes, styles and style sheets that make an element
//! invisible. Such text earns no credit for being a text to read, but counts against the page: a script may show it.

use std::collections::HashSet;

use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::html::{Name, Tag};

use super::Reader;

/// More class names and IDs than pages hide.
const MOST_SELECTORS: usize = 500;
/// How much of the style sheets of a page is read, in bytes.
const MOST_STYLES: usize = 256 << 10;
/// Elements without content, which hide nothing.
const EMPTY: [&str; 12] =
    ["input", "img", "br", "hr", "meta", "link", "wbr", "base", "source", "col", "embed", "area"];
/// A larger negative offset in pixels puts text off the screen.
const FAR: f64 = -400.0;

/// Which elements of a page are invisible, and whether the reader is inside one.
#[derive(Debug, Default)]
pub(crate) struct Concealment {
    /// The classes and IDs that the page's own style sheets hide.
    classes: HashSet<String>,
    ids: HashSet<String>,
    styles_read: usize,
    /// Some style sets a background, so that white text may be visible.
    paints: bool,
    /// The outermost open invisible element, and how many elements of its name are open inside it.
    open: Option<(Name, usize)>,
}

impl Concealment {
    pub(crate) fn hides_now(&self) -> bool {
        self.open.is_some()
    }

    /// Reads a style sheet: which classes and IDs it hides. Rules with other selectors are ignored.
    pub(crate) fn read_sheet(&mut self, sheet: &str) {
        let room = MOST_STYLES.saturating_sub(self.styles_read);
        let sheet = sheet.get(..room.min(sheet.len())).unwrap_or_default();
        self.styles_read += sheet.len();
        self.paints |= sheet.contains("background");
        for rule in sheet.split('}') {
            let Some((selectors, style)) = rule.rsplit_once('{') else { continue };
            if self.classes.len() + self.ids.len() >= MOST_SELECTORS || !hides(style, self.paints) {
                continue;
            }
            let selectors = selectors.rsplit(['/', ';', '{']).next().unwrap_or_default();
            for selector in selectors.split(',').map(str::trim) {
                let Some((mark, name)) = selector.split_at_checked(1) else { continue };
                let is_simple = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
                match mark {
                    "." if is_simple => self.classes.insert(name.to_owned()),
                    "#" if is_simple => self.ids.insert(name.to_owned()),
                    _ => false,
                };
            }
        }
    }

    /// Notices a background that a tag sets.
    pub(crate) fn note_background(&mut self, tag: &Tag<'_>) {
        if !self.paints && tag.get("style").is_some_and(|style| style.contains("background")) {
            self.paints = true;
        }
    }

    /// Whether this element is invisible. Most have no attribute that could make it so.
    pub(crate) fn conceals(&self, tag: &Tag<'_>) -> bool {
        let by_attribute = |(name, value): &(&str, &str)| match name.len() {
            2 if name.eq_ignore_ascii_case("id") => !self.ids.is_empty() && self.ids.contains(*value),
            5 if name.eq_ignore_ascii_case("style") => hides(value, self.paints),
            5 if name.eq_ignore_ascii_case("class") => {
                !self.classes.is_empty()
                    && value.split_ascii_whitespace().any(|class| self.classes.contains(class))
            }
            6 => name.eq_ignore_ascii_case("hidden"),
            11 => name.eq_ignore_ascii_case("aria-hidden") && value.eq_ignore_ascii_case("true"),
            _ => false,
        };
        tag.attributes.iter().any(by_attribute) || tag.name.is_never_shown()
    }
}

impl Reader<'_> {
    pub(crate) fn style_sheet(&mut self, sheet: &str) {
        self.concealment.read_sheet(sheet);
    }

    pub(crate) fn conceal_from(&mut self, tag: &Tag<'_>) {
        match &mut self.concealment.open {
            Some((name, inside)) if *name == tag.name && !tag.closed => *inside += 1,
            Some(_) => {}
            None => {
                self.concealment.note_background(tag);
                let has_content =
                    || !tag.closed && !tag.name.has_raw_text() && !EMPTY.iter().any(|name| tag.name.is(name));
                if self.concealment.conceals(tag) && has_content() {
                    self.concealment.open = Some((tag.name, 0));
                    self.set_zones();
                }
            }
        }
    }

    pub(crate) fn conceal_until(&mut self, name: Name) {
        let Some((open, inside)) = &mut self.concealment.open else { return };
        if *open != name {
            return;
        }
        if let Some(fewer) = inside.checked_sub(1) {
            *inside = fewer;
        } else {
            self.concealment.open = None;
            self.set_zones();
        }
    }
}

/// The longest name of a property that may hide text.
const LONGEST_PROPERTY: usize = 16;

/// Whether the declarations of a style make text invisible. `paints` says that the page has a background of its own.
fn hides(style: &str, paints: bool) -> bool {
    let style = decode(style, Context::Attribute);
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

    #[test]
    fn sheets_name_what_they_hide() {
        let mut concealment = Concealment::default();
        concealment.read_sheet(
            "/* x */ .a{display:none} #b , .c:hover{opacity:0} .d .e{display:none} @media print{.f{visibility:hidden}} p{left:0}",
        );
        let mut classes: Vec<&str> = concealment.classes.iter().map(String::as_str).collect();
        classes.sort_unstable();
        assert_eq!(classes, ["a", "f"]);
        assert_eq!(concealment.ids.iter().collect::<Vec<_>>(), ["b"]);
    }
}

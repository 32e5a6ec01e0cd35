//! Finds text that a page contains but does not show: hidden attributes, styles and style sheets that make an element
//! invisible. Such text earns no credit for being a text to read, but counts against the page: a script may show it.

use std::collections::HashSet;

use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::html::{Element, Name, Tag};

use super::Reader;
use super::implied_ends::{ImpliedEnd, Scopes};
use super::selectors::{Selector, hidden_by, without_comments};
use super::styles::hides;

/// More class names and IDs than pages hide.
const MOST_SELECTORS: usize = 500;
/// How much of the style sheets of a page is read, in bytes.
const MOST_STYLES: usize = 256 << 10;
/// Elements without content, which hide nothing.
const EMPTY: [&str; 12] =
    ["input", "img", "br", "hr", "meta", "link", "wbr", "base", "source", "col", "embed", "area"];

/// Which elements of a page are invisible, and whether the reader is inside one.
#[derive(Debug, Default)]
pub(crate) struct Concealment {
    /// The classes and IDs that the page's own style sheets hide.
    classes: HashSet<String>,
    ids: HashSet<String>,
    styles_read: usize,
    /// Some style sets a background, so that white text may be visible.
    paints: bool,
    /// The outermost open invisible element.
    open: Option<HiddenElement>,
    scopes: Scopes,
}

#[derive(Debug)]
struct HiddenElement {
    name: Name,
    /// How many elements of its name are open inside it. Not counted for those whose end may be implied.
    inside: usize,
    end: Option<ImpliedEnd>,
}

impl Concealment {
    pub(crate) fn hides_now(&self) -> bool {
        self.open.is_some()
    }

    /// Reads a style sheet: which classes and IDs it hides. Of a selector, the last part counts.
    pub(crate) fn read_sheet(&mut self, sheet: &str) {
        let room = MOST_STYLES.saturating_sub(self.styles_read);
        let sheet = sheet.get(..room.min(sheet.len())).unwrap_or_default();
        self.styles_read += sheet.len();
        let sheet = without_comments(sheet);
        self.paints |= sheet.contains("background");
        for rule in sheet.split('}') {
            let Some((selectors, style)) = rule.rsplit_once('{') else { continue };
            if self.classes.len() + self.ids.len() >= MOST_SELECTORS || !hides(style, self.paints) {
                continue;
            }
            let selectors = selectors.rsplit([';', '{']).next().unwrap_or_default();
            for selector in hidden_by(selectors) {
                match selector {
                    Selector::Class(name) => self.classes.insert(name.to_owned()),
                    Selector::Id(name) => self.ids.insert(name.to_owned()),
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
            2 if name.eq_ignore_ascii_case("id") => {
                !self.ids.is_empty() && self.ids.contains(&*decode(value, Context::Attribute))
            }
            5 if name.eq_ignore_ascii_case("style") => hides(value, self.paints),
            5 if name.eq_ignore_ascii_case("class") => {
                !self.classes.is_empty()
                    && decode(value, Context::Attribute)
                        .split_ascii_whitespace()
                        .any(|class| self.classes.contains(class))
            }
            6 => name.eq_ignore_ascii_case("hidden"),
            11 => {
                name.eq_ignore_ascii_case("aria-hidden")
                    && decode(value, Context::Attribute).eq_ignore_ascii_case("true")
            }
            _ => false,
        };
        tag.attributes.iter().any(by_attribute) || is_not_rendered(tag)
    }
}

/// Whether a browser shows something else in place of the element's text.
fn is_not_rendered(tag: &Tag<'_>) -> bool {
    tag.name.is_never_shown()
        || (tag.name.is_shown_if_open() && tag.get("open").is_none())
        || (tag.name.element == Element::Frame
            && tag.name.is("object")
            && tag.get("data").is_some_and(|data| !data.trim().is_empty()))
}

impl Reader<'_> {
    pub(crate) fn style_sheet(&mut self, sheet: &str) {
        self.concealment.read_sheet(sheet);
    }

    pub(crate) fn conceal_from(&mut self, tag: &Tag<'_>) {
        let is_html = !self.origin.xml;
        // In HTML, the slash of `<div/>` closes nothing.
        let is_closed = tag.closed && !(is_html && (tag.name.breaks_out() || is_not_rendered(tag)));
        let concealment = &mut self.concealment;
        if is_html
            && concealment.open.as_ref().is_some_and(|hidden| hidden.ends_before(tag, &concealment.scopes))
        {
            concealment.open = None;
            self.set_zones();
        }
        let concealment = &mut self.concealment;
        let depth = concealment.scopes.len();
        if is_html && !is_closed {
            concealment.scopes.open(tag.name);
        }
        if let Some(hidden) = &mut concealment.open {
            if hidden.name == tag.name && !is_closed {
                hidden.inside += 1;
            }
            if let Some(end) = &mut hidden.end {
                end.pass(tag.name);
            }
            return;
        }
        concealment.note_background(tag);
        let has_content =
            || !is_closed && !tag.name.has_raw_text() && !EMPTY.iter().any(|name| tag.name.is(name));
        if concealment.conceals(tag) && has_content() {
            let end = if is_html { ImpliedEnd::of(tag.name, depth) } else { None };
            concealment.open = Some(HiddenElement { name: tag.name, inside: 0, end });
            self.set_zones();
        }
    }

    pub(crate) fn conceal_until(&mut self, name: Name) {
        let is_html = !self.origin.xml;
        let concealment = &mut self.concealment;
        if let Some(hidden) = &mut concealment.open
            && hidden.ends_at(name, &concealment.scopes)
        {
            concealment.open = None;
            self.set_zones();
        }
        if is_html {
            self.concealment.scopes.close(name);
        }
    }
}

impl HiddenElement {
    /// Whether an opening tag implies the end of the element.
    fn ends_before(&self, tag: &Tag<'_>, scopes: &Scopes) -> bool {
        self.end.as_ref().is_some_and(|end| end.is_before(tag.name, scopes))
    }

    /// Whether a closing tag ends the element.
    fn ends_at(&mut self, name: Name, scopes: &Scopes) -> bool {
        if let Some(end) = self.end.as_ref().filter(|_| !scopes.is_lost) {
            return (self.name == name && end.is_innermost(scopes)) || end.is_at(name, scopes);
        }
        if self.name != name {
            return false;
        }
        let is_own = self.inside == 0;
        self.inside = self.inside.saturating_sub(1);
        is_own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_name_what_they_hide() {
        let mut concealment = Concealment::default();
        concealment.read_sheet(
            "/* x */ .a{display:none} #b , .c:hover{opacity:0} .d .e{display:none} @media print{.f{visibility:hidden}} p{left:0}\
             p.g{display:none} .h > section#i{display/**/:none} .j/**/{display:none} .k:not(.l){display:none}",
        );
        let sorted = |names: &HashSet<String>| {
            let mut names: Vec<String> = names.iter().cloned().collect();
            names.sort_unstable();
            names.join(" ")
        };
        assert_eq!(sorted(&concealment.classes), "a e f g j k");
        assert_eq!(sorted(&concealment.ids), "b i");
    }
}

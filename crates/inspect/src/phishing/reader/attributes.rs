//! Reads attributes that any tag can have: event handlers, and styles that make text invisible.

use dropleaf_core::html::Tag;
use dropleaf_core::html::character_references::{Context, decode};

use super::Reader;
use super::script;
use super::selectors::without_comments;

impl Reader<'_> {
    /// Reads event handler attributes as scripts.
    pub(crate) fn handlers(&mut self, tag: &Tag<'_>, at: usize) {
        for (name, value) in &tag.attributes {
            let starts_on = name.len() > 3 && name.as_bytes()[..2].eq_ignore_ascii_case(b"on");
            if starts_on {
                // Handlers of clicks, keys and pointers run only when a person acts, so they count as buttons.
                let pressed = ["onclick", "onsubmit", "ondblclick", "onkeydown", "onkeyup", "onkeypress"];
                let moved = ["onmouse", "onpointer", "ontouch"];
                let begins =
                    |start: &&str| name.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
                let by_hand =
                    pressed.iter().any(|it| name.eq_ignore_ascii_case(it)) || moved.iter().any(begins);
                self.facts.buttons += usize::from(by_hand);
            }
            if starts_on && value.len() > 6 {
                let code = decode(value, Context::Attribute);
                script::read(&code, at, self.origin.depth, self.facts, self.rules);
            }
        }
    }
}

pub(crate) fn hides_text(style: &str) -> bool {
    let style = decode(style, Context::Attribute);
    let style: String = without_comments(&style)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect::<String>()
        .to_ascii_lowercase();
    ["display:none", "font-size:0", "visibility:hidden", "opacity:0;"]
        .iter()
        .any(|hiding| style.contains(hiding))
}

//! What attributes of any tag mean: scripts that run on events, and styles that make text invisible.

use super::reader::Reader;
use super::script;
use super::tag::Tag;

impl Reader<'_> {
    /// Scripts in attributes.
    pub(crate) fn handlers(&mut self, tag: &Tag<'_>, at: usize) {
        for (name, value) in &tag.attributes {
            let starts_on = name.len() > 3 && name.as_bytes()[..2].eq_ignore_ascii_case(b"on");
            if starts_on && value.len() > 6 {
                let code = crate::entities::decode(value);
                script::read(&code, at, self.origin.depth, self.facts, self.rules);
            }
        }
    }
}

pub(crate) fn hides(style: &str) -> bool {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    ["display:none", "font-size:0", "visibility:hidden", "opacity:0;"]
        .iter()
        .any(|hiding| style.contains(hiding))
}

//! What reading a document in XML adds: templates that make elements, and scripts that are not raw text, as in drawings.

use super::elements::{Element, Name};
use super::fold::exact;
use super::reader::Reader;
use super::script;
use super::tag::{Tag, local};

/// Attributes whose values decide what a page asks for and where it goes.
const DECISIVE: [&str; 6] = ["type", "action", "formaction", "srcdoc", "http-equiv", "content"];

impl Reader<'_> {
    /// Text that is not there to be read: true for that of scripts and styles.
    pub(crate) fn foreign_text(&mut self, text: &str, at: usize) -> bool {
        if let Some((_, code)) = &mut self.script {
            code.push_str(&crate::entities::decode(text));
            return true;
        }
        if self.styled {
            return true;
        }
        if self.templates {
            // A template may show it as markup.
            let page = crate::entities::decode(text);
            if script::looks_like_markup(&page) {
                script::packed_page(&page, at, self.origin, false, self.facts, self.rules);
            }
        }
        false
    }

    /// Reads the script that was open.
    pub(crate) fn end_script(&mut self) {
        let Some((at, code)) = self.script.take() else { return };
        if !code.trim_ascii().is_empty() {
            self.facts.has_script = true;
            self.facts.script_bytes += code.trim_ascii().len();
            script::read(&code, at, self.origin.depth, self.facts, self.rules);
        }
    }

    /// `<?xml-stylesheet …?>`: another document makes a page of this one.
    pub(crate) fn instruction(&mut self, text: &str, at: usize) {
        if text.starts_with("<?xml-stylesheet") {
            let text = exact(text);
            self.templates |= !text.contains("text/css");
            if text.contains("data:") {
                self.facts.built_at.get_or_insert(at);
            }
        }
    }

    /// What a template makes of a tag, if it is not that tag itself. What it computes cannot be seen.
    pub(crate) fn made<'a>(&mut self, tag: &Tag<'a>, at: usize) -> Option<Tag<'a>> {
        let space = |(key, value): &(&str, &str)| {
            key.starts_with("xmlns") && exact(value).contains("1999/xsl/transform")
        };
        self.templates |= tag.attributes.iter().any(space);
        if !self.templates {
            return None;
        }
        let value = |name: &str| tag.get(name).map(exact).unwrap_or_default();
        let name = value("name");
        let is_computed = |name: &str| value(name).contains('{');
        let (makes_element, makes_attribute) = (tag.name.is("element"), tag.name.is("attribute"));
        let built = match tag.name.element {
            Element::Field => is_computed("type") || is_computed("formaction"),
            Element::Form => is_computed("action"),
            Element::Button => is_computed("formaction"),
            _ if makes_element => name.contains('{'),
            _ if makes_attribute => {
                let local = local(name.trim());
                name.contains('{') || local.starts_with("on") || DECISIVE.contains(&local)
            }
            _ => false,
        };
        if built {
            self.facts.built_at.get_or_insert(at);
        }
        makes_element.then(|| Tag {
            name: Name::new(local(name.trim())),
            attributes: Vec::new(),
            closed: tag.closed,
        })
    }
}

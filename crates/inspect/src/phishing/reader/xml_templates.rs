//! Adds to the reader what XML documents have beyond HTML: templates (XSLT), which can create any element.

use dropleaf_core::html::{Element, Name, Tag, local};

use super::Reader;
use crate::phishing::fold::exact;

/// Attributes whose values decide what a page asks for and where it is sent.
const DECISIVE: [&str; 6] = ["type", "action", "formaction", "srcdoc", "http-equiv", "content"];

impl Reader<'_> {
    /// `<?xml-stylesheet …?>`: a stylesheet turns this document into a page.
    pub(crate) fn instruction(&mut self, text: &str, at: usize) {
        if text.starts_with("<?xml-stylesheet") {
            let text = exact(text);
            self.templates |= !text.contains("text/css");
            if text.contains("data:") {
                self.facts.generated_markup_at.get_or_insert(at);
            }
        }
    }

    /// The element that a template instruction creates, if it creates one. Names that are computed cannot be checked;
    /// their offset is recorded.
    pub(crate) fn created_element<'a>(&mut self, tag: &Tag<'a>, at: usize) -> Option<Tag<'a>> {
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
            self.facts.generated_markup_at.get_or_insert(at);
        }
        makes_element.then(|| Tag {
            name: Name::new(local(name.trim())),
            attributes: Vec::new(),
            closed: tag.closed,
        })
    }
}

//! Reads what is between tags but is not text for people: comments, scripts, styles, embedded pages.

use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::html::{Element, Name};

use super::Reader;
use super::saved_page::saved_from_url;
use super::script;
use crate::phishing::facts::zone;

impl Reader<'_> {
    pub(crate) fn comment(&mut self, text: &str, at: usize) {
        if self.origin.xml {
            self.instruction(text, at);
        }
        if self.facts.saved_from.is_none() {
            self.facts.saved_from = saved_from_url(text).map(|address| (at, address));
        }
    }

    pub(crate) fn raw(&mut self, name: Name, text: &str, at: usize) {
        match name.element {
            Element::Title => {
                self.zones = 0;
                self.begin_zone(zone::TITLE);
                self.facts.add_text(text, at);
                self.facts.empty_title.get_or_insert(!text.chars().any(char::is_alphabetic));
                self.end_zone(zone::TITLE);
            }
            Element::Script => {
                self.script = None;
                self.facts.has_script = true;
                self.facts.script_bytes += text.trim_ascii().len();
                script::read(text, at, self.origin.depth, self.facts, self.rules);
            }
            Element::Style => self.style_sheet(text),
            // Shown by browsers without frames. Only an attack nests it deeply, so it counts as encoded text.
            Element::Fallback => {
                script::read_embedded_page(text, at, self.origin, false, self.facts, self.rules);
            }
            _ => {}
        }
    }

    /// Handles text that is not to be read; true for scripts and styles.
    pub(crate) fn foreign_text(&mut self, text: &str, at: usize) -> bool {
        if let Some((_, code)) = &mut self.script {
            code.push_str(&decode(text, Context::Text));
            return true;
        }
        if self.styled {
            self.style_sheet(text);
            return true;
        }
        if self.templates {
            // A template may output it as markup.
            let page = decode(text, Context::Text);
            if script::looks_like_markup(&page) {
                script::read_embedded_page(&page, at, self.origin, false, self.facts, self.rules);
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
}

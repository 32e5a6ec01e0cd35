//! Reads a page once and collects its facts: what a person would see, what they could fill in, and where it would be sent.

pub(super) mod attributes;
mod embedded_file;
pub(crate) mod encodings;
mod forms;
pub(super) mod hidden_text;
mod implied_ends;
mod literals;
mod raw_text;
#[cfg(test)]
mod reader_tests;
mod redirect_target;
mod references;
mod saved_page;
pub(crate) mod script;
mod selectors;
mod styles;
mod xml_entities;
mod xml_templates;

use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::html::{Element, Name, Tag, Token, Tokens};

use super::facts::{PageFacts, zone};
use super::rules::Rules;
use attributes::hides_text;
use hidden_text::Concealment;

const LONGEST_LINK_TEXT: usize = 160;
/// Text in a longer `<select>` is read as page text, since it is unlikely to be a list of choices.
const LONGEST_CHOICES: usize = 32 << 10;
const LONGEST_HEADING: usize = 400;
/// Invisible text inside words is short; longer text may be shown later, so it is read.
const LONGEST_HIDDEN: usize = 64;
/// What is being read: a file, or text found encoded inside one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// The offset of the containing literal or attribute, if this is not a file itself.
    pub(crate) encoded_at: Option<usize>,
    pub(crate) hidden: bool,
    pub(crate) depth: u8,
    /// It is part of a script too long to be the page's own.
    pub(crate) library: bool,
    pub(crate) xml: bool,
}

pub(crate) const FILE: Origin =
    Origin { encoded_at: None, hidden: false, depth: 0, library: false, xml: false };

pub(crate) struct Reader<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) facts: &'r mut PageFacts,
    pub(crate) origin: Origin,
    pub(crate) zones: u16,
    /// The offset in the text at which the open heading, link or button began.
    pub(crate) zone_from: usize,
    pub(crate) quotes: usize,
    pub(crate) menus: usize,
    /// How many bytes of text the open `<select>` has held so far.
    pub(crate) choices: Option<usize>,
    pub(crate) form: Option<usize>,
    pub(crate) label: Option<(String, usize)>,
    pub(crate) last_field: usize,
    /// The open invisible element and how many bytes of text it has swallowed.
    pub(crate) hidden: Option<(Name, usize)>,
    pub(crate) concealment: Concealment,
    /// The open script in documents where scripts are not raw text (XML, SVG).
    pub(crate) script: Option<(usize, String)>,
    pub(crate) styled: bool,
    /// The document uses templates (XSLT), which create elements.
    pub(crate) templates: bool,
    drawn: bool,
}

pub(crate) fn read(page: &str, origin: Origin, facts: &mut PageFacts, rules: &Rules) {
    let last_field = facts.text.len();
    let mut reader = Reader {
        rules,
        facts,
        origin,
        zones: 0,
        zone_from: 0,
        quotes: 0,
        menus: 0,
        choices: None,
        form: None,
        label: None,
        last_field,
        hidden: None,
        concealment: Concealment::default(),
        script: None,
        styled: false,
        templates: false,
        drawn: false,
    };
    let expanded = if origin.xml { Some(xml_entities::expanded(page, &mut reader.facts.work)) } else { None };
    let page = expanded.as_ref().map_or(page, |document| &document.text);
    reader.facts.generated_markup_at = reader
        .facts
        .generated_markup_at
        .or(expanded.as_ref().and_then(|document| document.generated_markup_at));
    let mut tokens = Tokens::new(page, origin.xml);
    while let Some(token) = tokens.next() {
        reader.facts.work += 1;
        let at = origin.encoded_at.unwrap_or(tokens.start);
        match token {
            Token::Text(text) => reader.text(text, at),
            Token::Open => reader.open(&tokens.tag, at),
            Token::Close(name) => reader.close(name),
            Token::Comment(text) => reader.comment(text, at),
            Token::Raw(name, text) => reader.raw(name, text, at),
        }
    }
    reader.end_script();
    reader.facts.work += page.len();
    reader.zones = 0;
    reader.set_zones();
}

impl Reader<'_> {
    fn set_zones(&mut self) {
        let quote = if self.quotes > 0 { zone::QUOTE } else { 0 };
        let menu = if self.menus > 0 { zone::NAVIGATION } else { 0 };
        let packed = if self.origin.encoded_at.is_some() { zone::SCRIPT } else { 0 };
        let library = if self.origin.library { zone::LIBRARY } else { 0 };
        let hidden = if self.concealment.hides_now() { zone::HIDDEN } else { 0 };
        self.facts.set_zone(self.zones | quote | menu | packed | library | hidden);
    }

    fn text(&mut self, text: &str, at: usize) {
        if self.foreign_text(text, at) {
            return;
        }
        if let Some((_, swallowed)) = &mut self.hidden {
            *swallowed += text.len();
            if *swallowed <= LONGEST_HIDDEN {
                return;
            }
            self.hidden = None;
        }
        // Lists of countries and months are not page text.
        if let Some(held) = &mut self.choices {
            *held += text.len();
            if *held <= LONGEST_CHOICES {
                return;
            }
        }
        let hidden = self.concealment.hides_now();
        if self.quotes > 0 && !hidden {
            self.facts.quoted_bytes += text.len();
        }
        // Limits the effect of elements that are never closed.
        let longest = if self.zones & zone::HEADING != 0 { LONGEST_HEADING } else { LONGEST_LINK_TEXT };
        if self.zones != 0 && self.facts.text.len() > self.zone_from + longest {
            self.zones = 0;
            self.set_zones();
        }
        let before = self.facts.text.len();
        self.facts.add_text(text, at);
        self.facts.hidden_bytes += if hidden { self.facts.text.len() - before } else { 0 };
    }

    pub(crate) fn begin_zone(&mut self, zone: u16) {
        self.zones |= zone;
        self.zone_from = self.facts.text.len();
        self.set_zones();
    }

    pub(crate) fn end_zone(&mut self, zone: u16) {
        self.zones &= !zone;
        self.set_zones();
    }

    fn open(&mut self, tag: &Tag<'_>, at: usize) {
        self.end_script();
        self.styled = tag.name.element == Element::Style && !tag.closed;
        let made = if self.origin.xml { self.created_element(tag, at) } else { None };
        let tag = made.as_ref().unwrap_or(tag);
        if !tag.name.is_inline() {
            self.facts.text.break_line();
        } else if let Some(style) = tag.get("style")
            && hides_text(style)
            && self.hidden.is_none()
        {
            self.hidden = Some((tag.name, 0));
        }
        self.conceal_from(tag);
        match tag.name.element {
            Element::Heading => self.begin_zone(zone::HEADING),
            Element::Link => {
                self.begin_zone(zone::LINK);
                self.link(tag, at);
            }
            Element::Area => self.link(tag, at),
            Element::Button => {
                self.begin_zone(zone::BUTTON);
                self.facts.buttons += 1;
                self.form_target(tag.get("formaction"), at);
            }
            Element::Choice => self.begin_zone(zone::BUTTON),
            Element::Quote => {
                self.quotes += 1;
                self.set_zones();
            }
            Element::Navigation => {
                self.menus += 1;
                self.set_zones();
            }
            Element::Form => {
                self.choices = None;
                self.open_form(tag, at);
            }
            Element::Field => {
                self.field(tag, at);
                self.choices = tag.name.is("select").then_some(0);
            }
            Element::Label => {
                self.begin_zone(zone::BUTTON);
                let id = tag.get("for").map(|id| decode(id, Context::Attribute).into_owned());
                self.label = id.map(|id| (id, self.facts.text.len()));
            }
            Element::Image => self.image(tag, at),
            Element::Reference => self.reference(tag, at),
            Element::Script => {
                self.script_source(tag, at);
                self.script = (!tag.closed).then(|| (at, String::new()));
            }
            Element::Frame => self.frame(tag, at),
            Element::Meta => self.meta(tag, at),
            Element::Picture | Element::Drawing => {
                self.facts.pictures += 1;
                self.drawn |= tag.name.element == Element::Drawing;
            }
            // The title of an SVG. A page's title is raw text, except in XML.
            Element::Title if self.origin.xml && !self.drawn => self.begin_zone(zone::TITLE),
            Element::Title => self.begin_zone(zone::PICTURE),
            Element::Other | Element::Style | Element::Fallback | Element::Formula | Element::Island => {}
        }
        self.handlers(tag, at);
    }

    fn close(&mut self, name: Name) {
        self.end_script();
        self.styled = false;
        if self.hidden.as_ref().is_some_and(|(open, _)| *open == name) {
            self.hidden = None;
        }
        match name.element {
            Element::Heading => self.end_zone(zone::HEADING),
            Element::Link => self.end_zone(zone::LINK),
            Element::Field => {
                self.choices = None;
                self.end_zone(zone::BUTTON);
            }
            Element::Button | Element::Choice => self.end_zone(zone::BUTTON),
            Element::Quote => {
                self.quotes = self.quotes.saturating_sub(1);
                self.set_zones();
            }
            Element::Navigation => {
                self.menus = self.menus.saturating_sub(1);
                self.set_zones();
            }
            Element::Title => self.end_zone(zone::PICTURE | zone::TITLE),
            Element::Form => self.form = None,
            Element::Label => {
                self.close_label();
                self.end_zone(zone::BUTTON);
            }
            _ => {}
        }
        if !name.is_inline() {
            self.facts.text.break_line();
        }
        self.conceal_until(name);
    }
}

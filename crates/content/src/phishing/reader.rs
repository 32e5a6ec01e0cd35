//! Reads a page once and gathers its facts: what a person would see, could fill in, and where that would go.

use super::facts::{Facts, Field, Form, Use, UseKind, zone};
use super::fold::{exact, fold};
use super::hosts::Target;
use super::rules::Rules;
use super::script;
use super::tokens::{Name, Tag, Token, Tokens};

/// Attributes that say what a field is for.
const HINTS: [&str; 8] =
    ["name", "id", "placeholder", "aria-label", "autocomplete", "title", "data-label", "formcontrolname"];
const LONGEST_HINT: usize = 200;
const LONGEST_LINK_TEXT: usize = 160;
const LONGEST_HEADING: usize = 400;
/// Invisible text within words is short; what is longer may be shown later.
const LONGEST_HIDDEN: usize = 64;
const ACCOUNT_PATHS: [&str; 14] = [
    "login", "signin", "sign-in", "account", "password", "recover", "signup", "register", "forgot", "reset",
    "oauth", "terms", "legal", "privacy",
];

/// What is read: a file, or text that was found packed inside one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// Where all of it came from, if it is not a file itself.
    pub(crate) packed_at: Option<usize>,
    pub(crate) hidden: bool,
    pub(crate) depth: u8,
}

pub(crate) const FILE: Origin = Origin { packed_at: None, hidden: false, depth: 0 };

struct Reader<'r> {
    rules: &'r Rules,
    facts: &'r mut Facts,
    origin: Origin,
    zones: u8,
    /// Where the open heading, link or button began.
    zone_from: usize,
    quotes: usize,
    form: Option<usize>,
    label: Option<(String, usize)>,
    last_field: usize,
    /// The invisible element that is open and how much text it has swallowed.
    hidden: Option<(Name, usize)>,
}

pub(crate) fn read(page: &str, origin: Origin, facts: &mut Facts, rules: &Rules) {
    let last_field = facts.text.len();
    let mut reader = Reader {
        rules,
        facts,
        origin,
        zones: 0,
        zone_from: 0,
        quotes: 0,
        form: None,
        label: None,
        last_field,
        hidden: None,
    };
    let mut tokens = Tokens::new(page);
    while let Some(token) = tokens.next() {
        let at = origin.packed_at.unwrap_or(tokens.start);
        match token {
            Token::Text(text) => reader.text(text, at),
            Token::Open(tag) => reader.open(&tag, at),
            Token::Close(name) => reader.close(name),
            Token::Comment(text) => reader.comment(text, at),
            Token::Raw(name, text) => reader.raw(name, text, at),
        }
    }
    reader.zones = 0;
    reader.set_zones();
}

impl Reader<'_> {
    fn set_zones(&mut self) {
        let quote = if self.quotes > 0 { zone::QUOTE } else { 0 };
        let packed = if self.origin.packed_at.is_some() { zone::SCRIPT } else { 0 };
        self.facts.set_zone(self.zones | quote | packed);
    }

    fn text(&mut self, text: &str, at: usize) {
        if let Some((_, swallowed)) = &mut self.hidden {
            *swallowed += text.len();
            if *swallowed <= LONGEST_HIDDEN {
                return;
            }
            self.hidden = None;
        }
        if self.quotes > 0 {
            self.facts.quoted_bytes += text.len();
        }
        // Elements that were never closed do not reach over the whole page.
        let longest = if self.zones & zone::HEADING != 0 { LONGEST_HEADING } else { LONGEST_LINK_TEXT };
        if self.zones != 0 && self.facts.text.len() > self.zone_from + longest {
            self.zones = 0;
            self.set_zones();
        }
        self.facts.add_text(text, at);
    }

    fn begin_zone(&mut self, zone: u8) {
        self.zones |= zone;
        self.zone_from = self.facts.text.len();
        self.set_zones();
    }

    fn end_zone(&mut self, zone: u8) {
        self.zones &= !zone;
        self.set_zones();
    }

    fn open(&mut self, tag: &Tag<'_>, at: usize) {
        let name = tag.name.as_str();
        let inline = is_inline(name);
        if !inline {
            self.facts.text.break_line();
        } else if let Some(style) = tag.get("style")
            && hides(style)
            && self.hidden.is_none()
        {
            self.hidden = Some((tag.name, 0));
        }
        match name {
            "h1" | "h2" | "h3" | "legend" => self.begin_zone(zone::HEADING),
            "a" => self.link(tag, at),
            "button" => {
                self.begin_zone(zone::BUTTON);
                self.form_target(tag.get("formaction"), at);
            }
            "option" => self.begin_zone(zone::BUTTON),
            "pre" | "code" | "samp" | "kbd" => {
                // Keys to be pressed are an instruction, not a quotation.
                self.quotes += usize::from(name != "kbd");
                self.set_zones();
            }
            "form" => self.open_form(tag, at),
            "input" | "textarea" | "select" => self.field(tag, at),
            "label" => {
                self.begin_zone(zone::BUTTON);
                self.label = tag.get("for").map(|id| (id.to_owned(), self.facts.text.len()));
            }
            "img" | "image" => {
                self.facts.pictures += 1;
                for name in ["alt", "title"] {
                    if let Some(text) = tag.get(name) {
                        self.facts.add_aside(text, at, zone::PICTURE);
                    }
                }
                self.asset(tag.get("src").or(tag.get("xlink:href")).or(tag.get("href")), at);
            }
            "link" => self.asset(tag.get("href"), at),
            "script" => self.script_source(tag, at),
            "iframe" | "frame" | "embed" | "object" => self.frame(tag, at),
            "meta" => self.meta(tag, at),
            "base" => self.asset(tag.get("href"), at),
            "canvas" | "svg" => self.facts.pictures += 1,
            _ => {}
        }
        self.handlers(tag, at);
    }

    /// Scripts in attributes.
    fn handlers(&mut self, tag: &Tag<'_>, at: usize) {
        for (name, value) in &tag.attributes {
            let starts_on = name.len() > 3 && name.as_bytes()[..2].eq_ignore_ascii_case(b"on");
            if starts_on && value.len() > 6 {
                let code = crate::entities::decode(value);
                script::read(&code, at, self.origin.depth, self.facts, self.rules);
            }
        }
    }

    fn close(&mut self, name: Name) {
        if self.hidden.as_ref().is_some_and(|(open, _)| *open == name) {
            self.hidden = None;
        }
        match name.as_str() {
            "h1" | "h2" | "h3" | "legend" => self.end_zone(zone::HEADING),
            "a" => self.end_zone(zone::LINK),
            "button" | "option" | "select" => self.end_zone(zone::BUTTON),
            "pre" | "code" | "samp" => {
                self.quotes = self.quotes.saturating_sub(1);
                self.set_zones();
            }
            "form" => self.form = None,
            "label" => {
                self.close_label();
                self.end_zone(zone::BUTTON);
            }
            _ => {}
        }
        if !is_inline(name.as_str()) {
            self.facts.text.break_line();
        }
    }

    fn close_label(&mut self) {
        let Some((id, from)) = self.label.take() else { return };
        let text = &self.facts.text.bytes[from.min(self.facts.text.len())..];
        if text.len() <= LONGEST_HINT && self.facts.labels.len() < 2000 {
            self.facts.labels.push((id, String::from_utf8_lossy(text).trim().to_owned()));
        }
    }

    fn link(&mut self, tag: &Tag<'_>, at: usize) {
        self.begin_zone(zone::LINK);
        let Some(href) = tag.get("href") else { return };
        self.facts.links += 1;
        let target = self.rules.hosts.target(href);
        if target == Target::Nowhere && !exact(href).starts_with("tel:") {
            self.facts.dead_links += 1;
        }
        if matches!(target, Target::Host(..)) {
            let path = href.to_ascii_lowercase();
            let account = ACCOUNT_PATHS.iter().any(|word| path.contains(word));
            self.facts.add_use(Use { kind: UseKind::Link, target, account, at });
        }
        if href.len() > 8 && href.as_bytes()[..4].eq_ignore_ascii_case(b"tel:") {
            self.facts.phone.get_or_insert(at);
        }
        if href.len() > 20 && href.as_bytes()[..11].eq_ignore_ascii_case(b"javascript:") {
            script::read(&crate::entities::decode(href), at, self.origin.depth, self.facts, self.rules);
        }
    }

    fn asset(&mut self, address: Option<&str>, at: usize) {
        let Some(address) = address.filter(|address| !starts_with(address, "data:")) else { return };
        let target = self.rules.hosts.target(address);
        if matches!(target, Target::Host(..)) {
            self.facts.add_use(Use { kind: UseKind::Asset, target, account: false, at });
        }
    }

    fn script_source(&mut self, tag: &Tag<'_>, at: usize) {
        self.facts.has_script = true;
        let Some(source) = tag.get("src") else { return };
        match self.rules.hosts.target(source) {
            Target::Local(path) => self.facts.local_scripts.push(path),
            Target::Nowhere if starts_with(source, "data:") => {
                script::data_address(source, at, self.origin, self.facts, self.rules)
            }
            _ => self.asset(Some(source), at),
        }
    }

    fn frame(&mut self, tag: &Tag<'_>, at: usize) {
        if let Some(page) = tag.get("srcdoc") {
            let page = crate::entities::decode(page);
            script::packed_page(&page, at, self.origin, false, self.facts, self.rules);
        }
        for source in ["src", "data"].iter().filter_map(|name| tag.get(name)) {
            if starts_with(source, "data:") {
                script::data_address(source, at, self.origin, self.facts, self.rules);
            } else {
                let target = self.rules.hosts.target(source);
                self.facts.add_use(Use { kind: UseKind::Frame, target, account: false, at });
            }
        }
    }

    fn meta(&mut self, tag: &Tag<'_>, at: usize) {
        let Some(content) = tag.get("content") else { return };
        let key = tag.get("property").or(tag.get("name")).unwrap_or_default().to_ascii_lowercase();
        if matches!(
            key.as_str(),
            "og:site_name" | "og:title" | "application-name" | "apple-mobile-web-app-title"
        ) {
            self.facts.add_aside(content, at, zone::PICTURE);
        }
        let refreshes = tag.get("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh"));
        if refreshes && let Some(address) = content.find("data:").map(|from| &content[from..]) {
            script::data_address(address, at, self.origin, self.facts, self.rules);
        }
    }

    fn open_form(&mut self, tag: &Tag<'_>, at: usize) {
        let target = self.rules.hosts.target(tag.get("action").unwrap_or_default());
        self.form = Some(self.facts.forms.len());
        self.facts.forms.push(Form { target, at });
    }

    /// A button may send its form elsewhere.
    fn form_target(&mut self, action: Option<&str>, at: usize) {
        if let Some(action) = action {
            let target = self.rules.hosts.target(action);
            self.facts.sends.push((target, at));
        }
    }

    fn field(&mut self, tag: &Tag<'_>, at: usize) {
        let kind = exact(tag.get("type").unwrap_or_default()).trim().to_owned();
        self.facts.live_quote |= self.quotes > 0;
        if matches!(kind.as_str(), "submit" | "image" | "button") {
            self.form_target(tag.get("formaction"), at);
            for name in ["value", "alt"] {
                if let Some(text) = tag.get(name) {
                    self.facts.add_aside(text, at, zone::BUTTON);
                }
            }
            self.asset(tag.get("src"), at);
            return;
        }
        // Before the placeholder becomes a text of the page: it is not its own label.
        let before = self.text_before();
        for text in ["placeholder", "aria-label"].iter().filter_map(|name| tag.get(name)) {
            self.facts.add_aside(text, at, zone::BUTTON);
        }
        let mut hint = String::new();
        for value in HINTS.iter().filter_map(|name| tag.get(name)).filter(|value| value.len() <= LONGEST_HINT)
        {
            hint.push_str(&fold(value));
            hint.push('\n');
            hint.push_str(&fold(&words_of(value)));
            hint.push('\n');
        }
        let labelled = ["placeholder", "aria-label"]
            .iter()
            .any(|name| tag.get(name).is_some_and(|value| value.trim().len() > 1));
        if !labelled {
            hint.push_str(&before);
        }
        if self.origin.hidden && kind != "hidden" {
            self.facts.hidden_field.get_or_insert(at);
        }
        self.facts.add_field(Field {
            at,
            tag: match tag.name.as_str() {
                "textarea" => "textarea",
                "select" => "select",
                _ => "input",
            },
            kind,
            id: tag.get("id").unwrap_or_default().to_owned(),
            stem: tag.get("name").or(tag.get("id")).and_then(stem_of),
            hint,
            text_at: self.facts.text.len(),
            labelled,
            form: self.form,
            one_letter: tag.get("maxlength").is_some_and(|length| length.trim() == "1"),
            disabled: tag.get("disabled").is_some() || tag.get("readonly").is_some(),
        });
        self.last_field = self.facts.text.len();
    }

    /// The line before a field is its label if it is short.
    fn text_before(&self) -> String {
        let text = &self.facts.text.bytes[self.last_field.min(self.facts.text.len())..];
        let text = &text[text.len().saturating_sub(120)..];
        let text = String::from_utf8_lossy(text);
        let line = text.trim_end().rsplit('\n').next().unwrap_or_default().trim();
        if line.len() <= 48 { line.to_owned() } else { String::new() }
    }

    fn comment(&mut self, text: &str, at: usize) {
        if self.facts.copied.is_none() {
            self.facts.copied = super::copies::mark_in(text).map(|address| (at, address));
        }
    }

    fn raw(&mut self, name: Name, text: &str, at: usize) {
        match name.as_str() {
            "title" => {
                self.zones = 0;
                self.begin_zone(zone::TITLE);
                self.facts.add_text(text, at);
                self.end_zone(zone::TITLE);
            }
            "script" => {
                self.facts.has_script = true;
                script::read(text, at, self.origin.depth, self.facts, self.rules);
            }
            "noembed" | "noframes" => read(text, self.origin, self.facts, self.rules),
            _ => {}
        }
    }
}

/// Elements that do not end a word.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "em"
            | "font"
            | "i"
            | "kbd"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "u"
            | "var"
            | "wbr"
            | "ins"
            | "del"
            | "tt"
            | "nobr"
    )
}

fn starts_with(text: &str, start: &str) -> bool {
    text.trim_start().get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

fn hides(style: &str) -> bool {
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    ["display:none", "font-size:0", "visibility:hidden", "opacity:0;"]
        .iter()
        .any(|hiding| style.contains(hiding))
}

/// `word` of `word12`.
fn stem_of(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ']');
    (stem.len() < name.len() && !stem.is_empty() && stem.len() < 40).then(|| stem.to_owned())
}

/// `cardNumber_2` as `card Number 2`.
fn words_of(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut small = false;
    for c in name.chars() {
        if c.is_uppercase() && small {
            words.push(' ');
        }
        small = c.is_lowercase();
        words.push(if matches!(c, '_' | '-' | '.' | '[' | ']') { ' ' } else { c });
    }
    words
}

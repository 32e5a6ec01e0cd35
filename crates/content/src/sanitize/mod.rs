//! Sanitizes untrusted HTML: writes only allowed elements with allowed attributes, closes every one of them, and escapes all
//! other text. HTML may come in pieces with trusted markup between them, as in Markdown. No input is copied unparsed, and no
//! element that is written changes how a browser parses what follows, so a browser finds exactly the tags written here,
//! however it would have parsed the input. No tree is built: reopening formatting elements in every paragraph, as browsers do,
//! would make a small input enormous.

mod attributes;
mod elements;
#[cfg(test)]
mod tests;
pub(crate) mod url;

use std::borrow::Cow;
use std::collections::BTreeSet;

use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::html::{Token, Tokens};

use elements::{Element, Form};

pub(crate) use attributes::ID_PREFIX;

/// The maximum nesting of elements; deeper ones are dropped, and their text is kept.
const DEEPEST: usize = 100;
/// How many names of dropped elements are kept for a warning.
const MOST_NAMES: usize = 1000;
/// The longest name that is kept.
const LONGEST_NAME: usize = 64;

/// Sanitizes the pieces of one document.
#[derive(Debug)]
pub(crate) struct Sanitizer {
    open: Vec<OpenElement>,
    /// How many trusted elements are open around the next piece.
    level: usize,
    dropped: BTreeSet<String>,
    dropped_address: bool,
    /// Applied to text outside code before it is escaped.
    text: fn(&str) -> Cow<'_, str>,
}

/// An open element of the input.
#[derive(Debug)]
struct OpenElement {
    element: Element,
    level: usize,
}

/// Sanitizes a whole document.
pub(crate) fn sanitize(html: &str) -> String {
    let mut sanitizer = Sanitizer::new(unchanged);
    let mut made = sanitizer.write(html);
    made.push_str(&sanitizer.close_all());
    made
}

fn unchanged(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

impl Sanitizer {
    pub(crate) fn new(text: fn(&str) -> Cow<'_, str>) -> Self {
        Self { open: Vec::new(), level: 0, dropped: BTreeSet::new(), dropped_address: false, text }
    }

    /// A trusted element begins. Elements of the input that are opened inside it end with it.
    pub(crate) fn enter(&mut self) {
        self.level += 1;
    }

    /// A trusted element ends. Returns the end tags that have to precede its own.
    pub(crate) fn leave(&mut self) -> String {
        let ends = self.close_inside();
        self.level = self.level.saturating_sub(1);
        ends
    }

    /// The number of open trusted elements.
    pub(crate) fn level(&self) -> usize {
        self.level
    }

    /// Closes the elements that were opened inside the innermost trusted element, which stays open.
    pub(crate) fn close_inside(&mut self) -> String {
        let first = self.open.iter().position(|open| open.level >= self.level).unwrap_or(self.open.len());
        self.close_from(first)
    }

    /// A trusted block begins, which ends a paragraph as in HTML. Returns the end tags.
    pub(crate) fn end_paragraph(&mut self) -> String {
        self.find(&["p"], &["table", "td", "th"]).map(|at| self.close_from(at)).unwrap_or_default()
    }

    pub(crate) fn close_all(&mut self) -> String {
        self.close_from(0)
    }

    /// Whether an element of the input with this name is open.
    pub(crate) fn has_open(&self, name: &str) -> bool {
        self.open.iter().any(|open| open.element.name == name)
    }

    /// Saves the open elements and continues with none open, for text that is shown elsewhere; `resume` restores them.
    pub(crate) fn suspend(&mut self) -> SuspendedElements {
        SuspendedElements { open: std::mem::take(&mut self.open), level: std::mem::take(&mut self.level) }
    }

    pub(crate) fn resume(&mut self, aside: SuspendedElements) {
        (self.open, self.level) = (aside.open, aside.level);
    }

    pub(crate) fn dropped_address(&self) -> bool {
        self.dropped_address
    }

    /// Names of elements that were dropped, for a warning.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = &str> {
        self.dropped.iter().map(String::as_str)
    }

    /// The name of the element, if this piece begins with the start tag of one whose content is dropped.
    pub(crate) fn opens_dropped(html: &str) -> Option<String> {
        let name = name_of(html.strip_prefix('<')?);
        (elements::loses_content(&name) && !html.ends_with("/>")).then_some(name)
    }

    /// Whether this piece begins with a start tag that ends a paragraph.
    pub(crate) fn opens_block(html: &str) -> bool {
        html.strip_prefix('<').and_then(|rest| elements::find(&name_of(rest))).is_some_and(Element::is_block)
    }

    /// Sanitizes a piece. Elements that it leaves open stay open for the following pieces.
    pub(crate) fn write(&mut self, html: &str) -> String {
        let mut made = String::with_capacity(html.len() + html.len() / 4);
        let mut tokens = Tokens::new(html, false);
        // An element that is dropped with its content, and its nesting depth.
        let mut skipped: Option<(String, usize)> = None;
        while let Some(token) = tokens.next() {
            let source = &html[tokens.start..tokens.end()];
            match token {
                Token::Open => {
                    let name = name_of(&source[1..]);
                    if let Some((within, depth)) = &mut skipped {
                        *depth += usize::from(*within == name);
                        continue;
                    }
                    self.start_tag(&name, source, &mut made);
                    if elements::loses_content(&name) && !source.ends_with("/>") {
                        skipped = Some((name, 1));
                    }
                }
                Token::Close(_) => {
                    let name = name_of(source.get(2..).unwrap_or_default());
                    match &mut skipped {
                        Some((within, depth)) if *within == name => {
                            *depth -= 1;
                            skipped = skipped.filter(|(_, depth)| *depth > 0);
                        }
                        Some(_) => {}
                        None => made.push_str(&self.end_tag(&name)),
                    }
                }
                Token::Text(text) if skipped.is_none() => self.write_text(text, &mut made),
                Token::Text(_) | Token::Comment(_) | Token::Raw(..) => {}
            }
        }
        made
    }

    fn write_text(&self, text: &str, made: &mut String) {
        let text = decode(text, Context::Text);
        let is_code =
            self.open.iter().any(|open| matches!(open.element.name, "code" | "pre" | "tt" | "samp"));
        push_text(made, if is_code { text } else { (self.text)(&text).into_owned().into() }.as_ref());
    }

    fn start_tag(&mut self, name: &str, source: &str, made: &mut String) {
        let Some(attributes) = attributes::read(source) else { return };
        let Some(element) = elements::find(name) else {
            if self.dropped.len() < MOST_NAMES && name.len() <= LONGEST_NAME {
                self.dropped.insert(name.to_owned());
            }
            return;
        };
        let is_lost = (element.is_table_part() && !self.has_open("table"))
            || (name == "source" && !self.has_open("picture"));
        if is_lost {
            return;
        }
        if let Some((ended, barriers)) = element.ends()
            && let Some(at) = self.find(ended, barriers)
        {
            made.push_str(&self.close_from(at));
        }
        if element.form != Form::Void && self.open.len() >= DEEPEST {
            return;
        }
        let kept = attributes::filter(name, &attributes);
        self.dropped_address |= kept.dropped_address;
        made.push('<');
        made.push_str(element.output);
        made.push_str(&kept.text);
        made.push('>');
        if element.form != Form::Void {
            self.open.push(OpenElement { element, level: self.level });
        }
    }

    fn end_tag(&mut self, name: &str) -> String {
        let Some(element) = elements::find(name) else { return String::new() };
        let barriers: &[&str] = match element.name {
            "table" => &[],
            _ if element.is_table_part() => &["table"],
            _ => &["table", "td", "th", "caption"],
        };
        self.find(&[element.name], barriers).map(|at| self.close_from(at)).unwrap_or_default()
    }

    /// The innermost open element with one of these names, within the current trusted element and up to a barrier.
    fn find(&self, names: &[&str], barriers: &[&str]) -> Option<usize> {
        let here = self.open.iter().enumerate().rev().take_while(|(_, open)| open.level == self.level);
        for (at, OpenElement { element, .. }) in here {
            if names.contains(&element.name) {
                return Some(at);
            }
            if barriers.contains(&element.name) {
                return None;
            }
        }
        None
    }

    fn close_from(&mut self, first: usize) -> String {
        let mut ends = String::new();
        for open in self.open.drain(first..).rev() {
            ends.push_str("</");
            ends.push_str(open.element.output);
            ends.push('>');
        }
        ends
    }
}

/// See [`Sanitizer::suspend`].
#[derive(Debug)]
pub(crate) struct SuspendedElements {
    open: Vec<OpenElement>,
    level: usize,
}

/// The name at the start of a tag, in lower case. Only listed names matter, and those are short.
fn name_of(rest: &str) -> String {
    let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(rest.len());
    rest[..end].to_ascii_lowercase()
}

/// Escapes text between tags.
pub(crate) fn push_text(made: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '&' => made.push_str("&amp;"),
            '\0' => {}
            c => made.push(c),
        }
    }
}

/// Escapes an attribute value in double quotes.
pub(crate) fn push_attribute(made: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '&' => made.push_str("&amp;"),
            '"' => made.push_str("&quot;"),
            '`' => made.push_str("&#96;"),
            '\0' => {}
            c => made.push(c),
        }
    }
}

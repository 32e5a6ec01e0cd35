//! Tokenizes HTML as a browser does, in one forward pass without copying. A page that a browser tokenizes differently
//! could hide a form, so raw text, comments and foreign elements (SVG, MathML) follow the HTML standard.

use memchr::{memchr, memmem};

use super::elements::{Element, Name};
use super::raw_text;
use super::tag::Tag;

#[derive(Debug)]
pub enum Token<'a> {
    /// Text between tags, character references not yet decoded.
    Text(&'a str),
    /// An opening tag; see [`Tokens::tag`].
    Open,
    Close(Name),
    Comment(&'a str),
    /// The content of an element whose content is not markup, such as a script.
    Raw(Name, &'a str),
}

#[derive(Debug)]
pub struct Tokens<'a> {
    page: &'a str,
    at: usize,
    /// The offset at which the last token began.
    pub start: usize,
    /// The last tag.
    pub tag: Tag<'a>,
    /// Open SVG and MathML elements and the HTML islands inside them. Foreign elements contain no raw text.
    spaces: Vec<Name>,
    raw: Option<Name>,
    /// XML: names may have prefixes, nothing is raw text, and declarations end by other rules.
    xml: bool,
}

const DEEPEST: usize = 256;

fn is_drawing(name: Name) -> bool {
    matches!(name.element, Element::Drawing | Element::Formula)
}

/// The end of an XML processing instruction or declaration. Quoted brackets do not end it; declarations nested in
/// another are read one by one.
fn xml_end(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"<?") {
        return memmem::find(rest, b"?>").map(|at| at + 1);
    }
    let mut at = 0;
    while let Some(found) = rest[at..].iter().position(|b| matches!(b, b'>' | b'[' | b'"' | b'\'')) {
        at += found;
        match rest[at] {
            quote @ (b'"' | b'\'') => at += 2 + memchr(quote, &rest[at + 1..])?,
            _ => return Some(at),
        }
    }
    None
}

/// The offset of the next `<`. It is usually right here, after another tag.
fn bracket(bytes: &[u8], from: usize) -> Option<usize> {
    if bytes.get(from) == Some(&b'<') {
        return Some(from);
    }
    memchr(b'<', &bytes[from..]).map(|found| from + found)
}

impl<'a> Tokens<'a> {
    pub fn new(page: &'a str, xml: bool) -> Self {
        Self { page, at: 0, start: 0, tag: Tag::default(), spaces: Vec::new(), raw: None, xml }
    }

    /// The offset at which the last token ended.
    #[inline]
    pub fn end(&self) -> usize {
        self.at
    }

    fn in_drawing(&self) -> bool {
        self.spaces.last().is_some_and(|name| is_drawing(*name))
    }

    fn begins_name(&self, byte: u8) -> bool {
        byte.is_ascii_alphabetic() || (self.xml && (matches!(byte, b'_' | b':') || byte >= 0x80))
    }

    fn until(&mut self, end: usize) -> &'a str {
        let text = &self.page[self.at.min(end)..end];
        self.at = end;
        text
    }

    fn bogus_comment(&mut self) -> Token<'a> {
        let rest = &self.page.as_bytes()[self.at..];
        let found = if self.xml { xml_end(rest) } else { memchr(b'>', rest) };
        let end = found.map_or(self.page.len(), |found| self.at + found);
        let text = self.until(end);
        self.at = (end + 1).min(self.page.len());
        Token::Comment(text)
    }

    fn comment(&mut self) -> Token<'a> {
        self.at += "<!--".len();
        let rest = &self.page.as_bytes()[self.at..];
        if rest.starts_with(b">") || rest.starts_with(b"->") {
            self.at += 1 + usize::from(rest[0] == b'-');
            return Token::Comment("");
        }
        let ends = |at: &usize| rest[at + 2..].starts_with(b">") || rest[at + 2..].starts_with(b"!>");
        // Dashes may overlap: `--->` ends a comment too.
        let mut found = None;
        let mut from = 0;
        while let Some(at) = memmem::find(&rest[from..], b"--").map(|at| from + at) {
            if ends(&at) {
                found = Some(at);
                break;
            }
            from = at + 1;
        }
        let start = self.at;
        let Some(at) = found else {
            self.at = self.page.len();
            return Token::Comment(&self.page[start..]);
        };
        self.at = start + at + if rest[at + 2] == b'>' { 3 } else { 4 };
        Token::Comment(&self.page[start..start + at])
    }

    fn open(&mut self) -> Token<'a> {
        self.at = self.tag.read(self.page, self.at + 1, self.xml);
        let name = self.tag.name;
        if self.xml {
            return Token::Open;
        }
        if self.in_drawing() && name.breaks_out() {
            self.spaces.clear();
        }
        let drawing = self.in_drawing();
        let island = drawing && (name.element == Element::Island || name.element == Element::Title);
        if is_drawing(name) || island {
            if !self.tag.closed && self.spaces.len() < DEEPEST {
                self.spaces.push(name);
            }
        } else if !drawing && name.has_raw_text() {
            self.raw = Some(name);
        }
        Token::Open
    }

    fn close(&mut self) -> Token<'a> {
        self.at = self.tag.read(self.page, self.at + 2, self.xml);
        let name = self.tag.name;
        // Only elements that can open a foreign or HTML context can close one.
        if !self.spaces.is_empty()
            && let Some(depth) = self.spaces.iter().rposition(|open| *open == name)
        {
            self.spaces.truncate(depth);
        }
        Token::Close(name)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        self.start = self.at;
        if let Some(name) = self.raw.take() {
            let end = self.at + raw_text::end(&self.page[self.at..], &name.text());
            return Some(Token::Raw(name, self.until(end)));
        }
        let bytes = self.page.as_bytes();
        if self.at >= bytes.len() {
            return None;
        }
        let mut from = self.at;
        while let Some(found) = bracket(bytes, from) {
            let rest = &bytes[found..];
            let is_tag = match rest.get(1) {
                Some(b'!' | b'?') => true,
                Some(b'/') => rest.get(2).is_some(),
                Some(byte) => self.begins_name(*byte),
                None => false,
            };
            if !is_tag {
                from = found + 1;
                continue;
            }
            if found > self.at {
                return Some(Token::Text(self.until(found)));
            }
            return Some(match rest[1] {
                b'!' if rest.starts_with(b"<!--") => self.comment(),
                b'!' if (self.xml || self.in_drawing()) && rest.starts_with(b"<![CDATA[") => {
                    let inside = found + "<![CDATA[".len();
                    let end = memmem::find(&bytes[inside..], b"]]>").map_or(bytes.len(), |at| inside + at);
                    self.at = (end + 3).min(bytes.len());
                    Token::Text(&self.page[inside..end])
                }
                b'/' if self.begins_name(rest[2]) => self.close(),
                b'!' | b'?' | b'/' => self.bogus_comment(),
                _ => self.open(),
            });
        }
        Some(Token::Text(self.until(bytes.len())))
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;

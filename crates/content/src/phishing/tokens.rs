//! Cuts an HTML page into tags and texts as a browser does, forwards only and without copying. A page that a browser
//! and this reader cut differently could hide a form, so raw text, comments and drawings follow the standard's rules.

use memchr::{memchr, memmem};

use super::raw_text;

#[derive(Debug)]
pub(crate) enum Token<'a> {
    /// Text between tags, entities not yet decoded.
    Text(&'a str),
    Open(Tag<'a>),
    Close(Name),
    Comment(&'a str),
    /// The inside of an element whose content is not markup, such as a script.
    Raw(Name, &'a str),
}

/// A tag's name in small letters. Names longer than any we ask about are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    letters: [u8; 14],
    len: usize,
}

impl Name {
    fn new(name: &str) -> Self {
        let mut letters = [0; 14];
        let len = name.len().min(letters.len());
        for (letter, byte) in letters.iter_mut().zip(name.bytes()) {
            *letter = byte.to_ascii_lowercase();
        }
        Self { letters, len }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.letters[..self.len]).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Tag<'a> {
    pub(crate) name: Name,
    pub(crate) attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    /// The raw value of an attribute; the first of its name counts, as in a browser.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    page: &'a str,
    at: usize,
    /// Where the last token began.
    pub(crate) start: usize,
    /// Open drawings and the islands of HTML inside them: in a drawing nothing is raw text.
    spaces: Vec<Name>,
    raw: Option<Name>,
}

const DEEPEST: usize = 256;

/// Elements that end a drawing, however deep.
fn breaks_out(name: &str) -> bool {
    matches!(
        name,
        "b" | "big"
            | "blockquote"
            | "body"
            | "br"
            | "center"
            | "code"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "em"
            | "embed"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "head"
            | "hr"
            | "i"
            | "img"
            | "li"
            | "listing"
            | "menu"
            | "meta"
            | "nobr"
            | "ol"
            | "p"
            | "pre"
            | "ruby"
            | "s"
            | "small"
            | "span"
            | "strong"
            | "strike"
            | "sub"
            | "sup"
            | "table"
            | "tt"
            | "u"
            | "ul"
            | "var"
    )
}

fn has_raw_text(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "textarea" | "title" | "xmp" | "iframe" | "noembed" | "noframes" | "plaintext"
    )
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(page: &'a str) -> Self {
        Self { page, at: 0, start: 0, spaces: Vec::new(), raw: None }
    }

    fn in_drawing(&self) -> bool {
        self.spaces.last().is_some_and(|name| matches!(name.as_str(), "svg" | "math"))
    }

    fn until(&mut self, end: usize) -> &'a str {
        let text = &self.page[self.at.min(end)..end];
        self.at = end;
        text
    }

    fn bogus_comment(&mut self) -> Token<'a> {
        let rest = &self.page.as_bytes()[self.at..];
        let end = memchr(b'>', rest).map_or(self.page.len(), |found| self.at + found);
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
        // Overlapping dashes: `--->` ends a comment too.
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

    fn tag(&mut self, name_at: usize) -> (Name, Vec<(&'a str, &'a str)>, bool) {
        let bytes = self.page.as_bytes();
        let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == b'\x0c';
        let skip = |mut at: usize, go_on: &dyn Fn(u8) -> bool| {
            while at < bytes.len() && go_on(bytes[at]) {
                at += 1;
            }
            at
        };
        let mut at = skip(name_at, &|b| !is_space(b) && b != b'/' && b != b'>');
        let name = Name::new(&self.page[name_at..at]);
        let mut attributes = Vec::new();
        let mut closes_itself = false;
        loop {
            at = skip(at, &|b| is_space(b) || b == b'/');
            match bytes.get(at) {
                None => break,
                Some(b'>') => {
                    closes_itself = at > 0 && bytes[at - 1] == b'/';
                    at += 1;
                    break;
                }
                Some(_) => {}
            }
            let key_at = at;
            at = skip(at + 1, &|b| !is_space(b) && b != b'/' && b != b'>' && b != b'=');
            let key = &self.page.get(key_at..at).unwrap_or_default();
            let after = skip(at, &is_space);
            if bytes.get(after) != Some(&b'=') {
                attributes.push((*key, ""));
                continue;
            }
            at = skip(after + 1, &is_space);
            let value = match bytes.get(at) {
                Some(quote @ (b'"' | b'\'')) => {
                    let from = at + 1;
                    let end = memchr(*quote, &bytes[from..]).map_or(bytes.len(), |found| from + found);
                    at = (end + 1).min(bytes.len());
                    self.page.get(from..end)
                }
                _ => {
                    let from = at;
                    at = skip(at, &|b| !is_space(b) && b != b'>');
                    self.page.get(from..at)
                }
            };
            attributes.push((*key, value.unwrap_or_default()));
        }
        self.at = at;
        (name, attributes, closes_itself)
    }

    fn open(&mut self) -> Token<'a> {
        let (name, attributes, closes_itself) = self.tag(self.at + 1);
        let word = name.as_str();
        if self.in_drawing() && breaks_out(word) {
            self.spaces.clear();
        }
        let drawing = self.in_drawing();
        let island = drawing && matches!(word, "foreignobject" | "desc" | "title" | "annotation-xml");
        if (matches!(word, "svg" | "math") || island) && !closes_itself && self.spaces.len() < DEEPEST {
            self.spaces.push(name);
        } else if !drawing && has_raw_text(word) {
            self.raw = Some(name);
        }
        Token::Open(Tag { name, attributes })
    }

    fn close(&mut self) -> Token<'a> {
        let (name, ..) = self.tag(self.at + 2);
        if let Some(depth) = self.spaces.iter().rposition(|open| *open == name) {
            self.spaces.truncate(depth);
        }
        Token::Close(name)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.start = self.at;
        if let Some(name) = self.raw.take() {
            let end = self.at + raw_text::end(&self.page[self.at..], name.as_str());
            return Some(Token::Raw(name, self.until(end)));
        }
        let bytes = self.page.as_bytes();
        if self.at >= bytes.len() {
            return None;
        }
        let mut from = self.at;
        while let Some(found) = memchr(b'<', &bytes[from..]).map(|found| from + found) {
            let rest = &bytes[found..];
            let is_tag = match rest.get(1) {
                Some(b'!' | b'?') => true,
                Some(b'/') => rest.get(2).is_some(),
                Some(byte) => byte.is_ascii_alphabetic(),
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
                b'!' if self.in_drawing() && rest.starts_with(b"<![CDATA[") => {
                    let inside = found + "<![CDATA[".len();
                    let end = memmem::find(&bytes[inside..], b"]]>").map_or(bytes.len(), |at| inside + at);
                    self.at = (end + 3).min(bytes.len());
                    Token::Text(&self.page[inside..end])
                }
                b'!' | b'?' => self.bogus_comment(),
                b'/' if rest[2].is_ascii_alphabetic() => self.close(),
                b'/' => self.bogus_comment(),
                _ => self.open(),
            });
        }
        Some(Token::Text(self.until(bytes.len())))
    }
}

//! Parses JSON with comments and trailing commas, as editors write their settings, and records the position of each part, so
//! that one part can be changed and the rest left as it is. Refuses what it cannot parse; never guesses.
//!
//! Written by hand because the crate `jsonc-parser` (0.34) refuses a byte order mark, accepts line breaks in strings, and its
//! syntax tree reformats objects on one line, so that removing an entry would not restore the file byte for byte.

use serde_json::{Map, Value};
use std::ops::Range;

/// Deeper than any settings file, and shallow enough for the stack.
const DEEPEST: usize = 100;

/// A value and its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Plain(Value),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub name: String,
    /// Where the name starts.
    pub start: usize,
    pub value: Node,
    /// The position of the comma after it, if there is one.
    pub comma: Option<usize>,
}

/// Why a text cannot be parsed, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    pub line: usize,
    pub why: &'static str,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

pub(super) fn parse(text: &str) -> Result<Node, ParseError> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.skip()?;
    let node = reader.value(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.fail("there is text after the end"));
    }
    Ok(node)
}

impl Node {
    /// The member of this name. The last of several counts, as in JSON parsers.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        match &self.kind {
            NodeKind::Object(members) => members.iter().rev().find(|member| member.name == name),
            _ => None,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Plain(value) => value.clone(),
            NodeKind::Array(items) => items.iter().map(Self::to_value).collect(),
            NodeKind::Object(members) => {
                let members = members.iter().map(|member| (member.name.clone(), member.value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn fail(&self, why: &'static str) -> ParseError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        ParseError { line: before.matches('\n').count() + 1, why }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(inner) = rest.strip_prefix("/*") {
                // Searched behind the opening: `/*/` does not close itself.
                let length = inner.find("*/").ok_or_else(|| self.fail("a comment is not closed"))?;
                self.at += length + 4;
            } else if rest.starts_with([' ', '\t', '\n', '\r']) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, ParseError> {
        if depth > DEEPEST {
            return Err(self.fail("it is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => NodeKind::Plain(Value::String(self.string()?)),
            Some(_) => self.scalar()?,
            None => return Err(self.fail("it ends unexpectedly")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, ParseError> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(NodeKind::Object(members));
                }
                Some(b'"') if members.last().is_none_or(|last| last.comma.is_some()) => {
                    let start = self.at;
                    let name = self.string()?;
                    self.skip()?;
                    if self.peek() != Some(b':') {
                        return Err(self.fail("a colon is missing"));
                    }
                    self.at += 1;
                    self.skip()?;
                    let value = self.value(depth + 1)?;
                    members.push(Member { name, start, value, comma: None });
                }
                Some(b',') => match members.last_mut() {
                    Some(last) if last.comma.is_none() => {
                        last.comma = Some(self.at);
                        self.at += 1;
                    }
                    _ => return Err(self.fail("there is an extra comma")),
                },
                Some(b'"') => return Err(self.fail("a comma is missing")),
                Some(_) => return Err(self.fail("a quoted name is missing")),
                None => return Err(self.fail("a brace is not closed")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<NodeKind, ParseError> {
        self.at += 1;
        let mut items = Vec::new();
        let mut may_follow = true;
        loop {
            self.skip()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(NodeKind::Array(items));
                }
                Some(b',') if !may_follow => {
                    may_follow = true;
                    self.at += 1;
                }
                Some(b',') => return Err(self.fail("there is an extra comma")),
                Some(_) if may_follow => {
                    items.push(self.value(depth + 1)?);
                    may_follow = false;
                }
                Some(_) => return Err(self.fail("a comma is missing")),
                None => return Err(self.fail("a bracket is not closed")),
            }
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'"' => {
                    let text = serde_json::from_str(&self.text[start..=at]);
                    let text = text.map_err(|_| self.fail("a quoted string is invalid"))?;
                    self.at = at + 1;
                    return Ok(text);
                }
                _ => at += 1,
            }
        }
        Err(self.fail("a quoted string is not closed"))
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<NodeKind, ParseError> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let value = serde_json::from_str(&rest[..length]).map_err(|_| self.fail("a value is invalid"))?;
        self.at += length;
        Ok(NodeKind::Plain(value))
    }
}

#[cfg(test)]
mod tests;

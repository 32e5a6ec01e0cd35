//! Finds where the statements of a TOML text begin and end. The text has already been parsed by the library, so nothing here
//! validates it.

use std::ops::Range;
use toml::{Table, Value};

/// One line, or the lines of one value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Including the end of the line.
    pub range: Range<usize>,
    pub kind: StatementKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    Header(Vec<String>),
    Pair {
        key: String,
        value: Range<usize>,
    },
    /// A blank line or a comment.
    Space,
}

pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let start = at + text[at..].len() - text[at..].trim_start_matches([' ', '\t', '\u{feff}']).len();
        let Ends { value, line } = ends(text, start);
        let words = &text[start..value];
        let kind = match text.as_bytes().get(start) {
            Some(b'[') => StatementKind::Header(names(words)),
            Some(b'#' | b'\r' | b'\n') | None => StatementKind::Space,
            Some(_) => pair(words, start).unwrap_or(StatementKind::Space),
        };
        found.push(Statement { range: at..line, kind });
        at = line;
    }
    found
}

/// The names of a header, in order; the text is this header alone.
fn names(header: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut value = header.parse::<Table>().ok().map(Value::Table);
    while let Some(inner) = value {
        let inner = match inner {
            Value::Array(items) => items.into_iter().next(),
            other => Some(other),
        };
        value = match inner {
            Some(Value::Table(table)) => table.into_iter().next().map(|(name, value)| {
                names.push(name);
                value
            }),
            _ => None,
        };
    }
    names
}

fn pair(words: &str, start: usize) -> Option<StatementKind> {
    let key = words.parse::<Table>().ok()?.into_iter().next()?.0;
    let mut quote = None;
    let equals = words.bytes().position(|byte| match (quote, byte) {
        (None, b'"' | b'\'') => {
            quote = Some(byte);
            false
        }
        (Some(open), byte) => {
            if open == byte {
                quote = None;
            }
            false
        }
        (None, byte) => byte == b'=',
    })?;
    let rest = &words[equals + 1..];
    let begin = equals + 1 + rest.len() - rest.trim_start().len();
    Some(StatementKind::Pair { key, value: start + begin..start + words.len() })
}

struct Ends {
    /// The end of the last token that is neither white space nor comment.
    value: usize,
    /// The end of the line.
    line: usize,
}

/// The end of the statement that starts here: its line, unless a string or an array continues.
fn ends(text: &str, start: usize) -> Ends {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut value) = (start, 0_usize, start);
    while at < bytes.len() {
        match bytes[at] {
            b'\n' if depth == 0 => return Ends { value, line: at + 1 },
            b'#' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'"' | b'\'' => {
                at = string_end(text, at);
                value = at;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if !bytes[at - 1].is_ascii_whitespace() {
            value = at;
        }
    }
    Ends { value, line: text.len() }
}

/// The position after the string that starts here.
fn string_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[start];
    let long = text[start..].starts_with("\"\"\"") || text[start..].starts_with("'''");
    let width = if long { 3 } else { 1 };
    let mut at = start + width;
    while at < bytes.len() {
        if bytes[at] == b'\\' && quote == b'"' {
            at += 2;
        } else if bytes[at..].iter().take(width).filter(|byte| **byte == quote).count() == width {
            at += width;
            // A multi-line string may end with two more quotes.
            while long && bytes.get(at) == Some(&quote) {
                at += 1;
            }
            return at;
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_whatever_stands_in_their_texts() {
        let text = "# [no]\n\"a.b\" = \"\\\"# [no]\" # yes\n[[x.\"y z\"]] # [no]\nt = '''\n[no]'''''\n\
                    l = [ # ]\n  \"]\", [1],\n]\n\n[p . q]\nd.e = {f = 1}";
        let found: Vec<(String, &str)> = statements(text)
            .into_iter()
            .map(|statement| match statement.kind {
                StatementKind::Header(names) => (names.join("/"), "header"),
                StatementKind::Pair { key, value } => (key, &text[value]),
                StatementKind::Space => (String::new(), "space"),
            })
            .collect();
        let expected = [
            ("", "space"),
            ("a.b", "\"\\\"# [no]\""),
            ("x/y z", "header"),
            ("t", "'''\n[no]'''''"),
            ("l", "[ # ]\n  \"]\", [1],\n]"),
            ("", "space"),
            ("p/q", "header"),
            ("d", "{f = 1}"),
        ];
        assert_eq!(found, expected.map(|(name, what)| (name.to_owned(), what)));
        let ranges: Vec<_> = statements(text).into_iter().map(|statement| statement.range).collect();
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}

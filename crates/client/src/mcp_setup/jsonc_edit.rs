//! Sets or removes one member of an object in a settings file. Removing what was added restores the text byte for byte.

use super::jsonc::{Member, Node, NodeKind, ParseError, parse};
use serde_json::Value;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonEditError {
    ParseError(ParseError),
    NotAnObject(String),
}

impl std::error::Error for JsonEditError {}

impl std::fmt::Display for JsonEditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ParseError(error) => write!(f, "it is not JSON ({error})"),
            Self::NotAnObject(what) => write!(f, "{what} is not an object"),
        }
    }
}

impl From<ParseError> for JsonEditError {
    fn from(error: ParseError) -> Self {
        Self::ParseError(error)
    }
}

/// A value to write, with its members in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NewValue {
    Plain(Value),
    Object(Vec<(String, Self)>),
}

/// The formatting of a file.
#[derive(Debug)]
struct Style {
    indent: String,
    newline: &'static str,
}

/// Sets the member at this path; creates missing objects on the way.
pub(super) fn set(text: &str, path: &[&str], value: &NewValue) -> Result<String, JsonEditError> {
    let root = parse(text)?;
    let style = style(text, &root);
    let mut node = &root;
    for (depth, name) in path.iter().enumerate() {
        let NodeKind::Object(members) = &node.kind else { return Err(not_an_object(path, depth)) };
        let Some(member) = node.member(name) else {
            let mut value = value.clone();
            for name in path[depth + 1..].iter().rev() {
                value = NewValue::Object(vec![((*name).to_owned(), value)]);
            }
            return Ok(insert(text, node, members, (name, &value), depth, &style));
        };
        node = &member.value;
    }
    let inline = !text[node.span.clone()].contains('\n') && !node.to_value().is_object();
    let new = if inline { compact(value) } else { pretty(value, path.len(), &style) };
    Ok(replaced(text, vec![(node.span.clone(), new)]))
}

/// Removes the member at this path, if it exists.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, JsonEditError> {
    let root = parse(text)?;
    let mut node = &root;
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    for (depth, name) in parents.iter().enumerate() {
        let Some(member) = node.member(name) else { return Ok(text.to_owned()) };
        node = &member.value;
        if !matches!(node.kind, NodeKind::Object(_)) {
            return Err(not_an_object(path, depth + 1));
        }
    }
    let NodeKind::Object(members) = &node.kind else { return Err(not_an_object(path, 0)) };
    let Some(index) = members.iter().rposition(|member| member.name == *last) else {
        return Ok(text.to_owned());
    };
    Ok(cut_member(text, node, members, index))
}

fn not_an_object(path: &[&str], depth: usize) -> JsonEditError {
    JsonEditError::NotAnObject(match depth {
        0 => "the top level".to_owned(),
        depth => path[..depth].join("."),
    })
}

fn insert(
    text: &str,
    object: &Node,
    members: &[Member],
    (name, value): (&str, &NewValue),
    depth: usize,
    style: &Style,
) -> String {
    let inner = object.span.start + 1..object.span.end - 1;
    let lead = format!("{}{}", style.newline, style.indent.repeat(depth + 1));
    let name = Value::from(name);
    let Some(last) = members.last() else {
        let new = format!("{lead}{name}: {}", pretty(value, depth + 1, style));
        let close = format!("{}{}", style.newline, style.indent.repeat(depth));
        let kept = text[inner.clone()].trim_end();
        // A comment may be all that the object contains.
        return replaced(text, vec![(inner, format!("{kept}{new}{close}"))]);
    };
    let is_inline = !text[object.span.start..members[0].start].contains('\n');
    let new = if is_inline {
        format!(" {name}: {}", compact(value))
    } else {
        format!("{lead}{name}: {}", pretty(value, depth + 1, style))
    };
    // After the last comment, so that the comment stays with what it describes.
    let end = inner.start + text[inner].trim_end().len();
    match last.comma {
        Some(_) => replaced(text, vec![(end..end, format!("{new},"))]),
        None if end == last.value.span.end => replaced(text, vec![(end..end, format!(",{new}"))]),
        None => {
            let comma = last.value.span.end;
            replaced(text, vec![(comma..comma, ",".to_owned()), (end..end, new)])
        }
    }
}

fn cut_member(text: &str, object: &Node, members: &[Member], index: usize) -> String {
    let member = &members[index];
    let before = &text[object.span.start..member.start];
    let mut start = object.span.start + before.trim_end().len();
    let end = member.value.span.end;
    let led_from = index.checked_sub(1).map_or(object.span.start + 1, |last| members[last].value.span.end);
    let behind = text[end..].lines().next().unwrap_or_default().trim_start_matches([' ', '\t', ',']);
    if !behind.is_empty() && !behind.starts_with("//") && ends_in_line_comment(&text[led_from..start]) {
        // The comment ends with its line: what follows the member must not become part of it.
        start = member.start;
    }
    let mut cuts: Vec<Range<usize>> = member.comma.map(|comma| comma..comma + 1).into_iter().collect();
    cuts.push(start..end);
    let is_last = index + 1 == members.len();
    if is_last && member.comma.is_none() {
        // Also the comma before it.
        cuts.extend(
            index.checked_sub(1).and_then(|index| members[index].comma).map(|comma| comma..comma + 1),
        );
    }
    if members.len() == 1 {
        let rest: Range<usize> = member.comma.map_or(end, |comma| comma + 1)..object.span.end - 1;
        let only_space = |range: Range<usize>| text[range].trim().is_empty();
        if only_space(object.span.start + 1..start) && only_space(rest.clone()) {
            cuts.push(rest);
        }
    }
    replaced(text, cuts.into_iter().map(|range| (range, String::new())).collect())
}

/// Whether a text of only white space, commas and comments ends within a line comment.
fn ends_in_line_comment(mut text: &str) -> bool {
    while let Some(at) = text.find('/') {
        let comment = &text[at..];
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else {
            comment.get(2..).and_then(|inner| inner.find("*/")).map(|at| at + 4)
        };
        let Some(end) = end else { return true };
        text = &comment[end..];
    }
    false
}

/// The text with these ranges replaced.
fn replaced(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in changes {
        let start = range.start.max(at);
        out.push_str(&text[at..start]);
        out.push_str(&new);
        at = range.end.max(start);
    }
    out.push_str(&text[at..]);
    out
}

/// Indents like the first member that is on a separate line.
fn style(text: &str, root: &Node) -> Style {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let first = match &root.kind {
        NodeKind::Object(members) => members.first().map(|member| member.start),
        _ => None,
    };
    let indent = first.and_then(|start| {
        let line = &text[text[..start].rfind('\n')? + 1..start];
        (!line.is_empty() && line.trim().is_empty()).then(|| line.to_owned())
    });
    Style { indent: indent.unwrap_or_else(|| "  ".to_owned()), newline }
}

fn compact(value: &NewValue) -> String {
    match value {
        NewValue::Plain(value) => spaced(value),
        NewValue::Object(members) => {
            let member = |(name, value): &(String, NewValue)| {
                format!("{}: {}", Value::from(name.as_str()), compact(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Objects with one member per line, lists in one line.
fn pretty(value: &NewValue, depth: usize, style: &Style) -> String {
    let NewValue::Object(members) = value else { return compact(value) };
    let lead = format!("{}{}", style.newline, style.indent.repeat(depth + 1));
    let close = format!("{}{}", style.newline, style.indent.repeat(depth));
    let member = |(name, value): &(String, NewValue)| {
        format!("{lead}{}: {}", Value::from(name.as_str()), pretty(value, depth + 1, style))
    };
    format!("{{{}{close}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;

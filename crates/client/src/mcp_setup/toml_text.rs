//! Adds, changes and removes one table of a TOML file as text, so that everything else stays as it is. The result is parsed
//! again and compared: a form that this file does not support is refused, never guessed.
//!
//! Not done with the crate `toml_edit` (0.25), which drops a byte order mark, turns CRLF into LF, adds a last line break and
//! reorders dotted keys when it writes a document.

use super::toml_scan::{Statement, StatementKind, statements};
use std::ops::Range;
use toml::{Table, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TomlEditError {
    NotToml {
        line: usize,
    },
    /// The table exists, but in a form that this command does not edit.
    OtherForm,
}

impl std::error::Error for TomlEditError {}

impl std::fmt::Display for TomlEditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotToml { line } => write!(f, "it is not TOML (line {line})"),
            Self::OtherForm => f.write_str("this command cannot edit the format of the table"),
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Table, TomlEditError> {
    text.parse::<Table>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        TomlEditError::NotToml { line: before.matches('\n').count() + 1 }
    })
}

/// Sets these keys of a table and removes those without a value; creates the table if it is missing.
pub(super) fn set(
    text: &str,
    path: &[&str],
    keys: &[(&str, Option<Value>)],
) -> Result<String, TomlEditError> {
    let mut wanted = parse(text)?;
    let was_there = find(&wanted, path).is_some();
    let table = table_in(&mut wanted, path).ok_or(TomlEditError::OtherForm)?;
    for (key, value) in keys {
        match value {
            Some(value) => table.insert((*key).to_owned(), value.clone()),
            None => table.remove(*key),
        };
    }
    let new = if was_there { change(text, path, keys)? } else { append(text, path, keys) };
    if parse(&new).ok() == Some(wanted) { Ok(new) } else { Err(TomlEditError::OtherForm) }
}

/// Removes a table with everything below it.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, TomlEditError> {
    let mut wanted = parse(text)?;
    let Some((last, parents)) = path.split_last().filter(|_| find(&wanted, path).is_some()) else {
        return Ok(text.to_owned());
    };
    table_in(&mut wanted, parents).ok_or(TomlEditError::OtherForm)?.remove(*last);
    let all = statements(text);
    let mut new = text.to_owned();
    let ours = |kind: &StatementKind| matches!(kind, StatementKind::Header(at) if at.len() >= path.len() && at.iter().zip(path).all(|(a, b)| a == b));
    for index in (0..all.len()).rev().filter(|index| ours(&all[*index].kind)) {
        let end = section_end(&all, index);
        let gap = index.checked_sub(1).map(|before| &all[before]).filter(|before| is_blank(text, before));
        new.replace_range(gap.map_or(all[index].range.start, |gap| gap.range.start)..end, "");
    }
    if !text.ends_with('\n') {
        let kept = new.trim_end_matches(['\r', '\n']).len();
        new.truncate(kept);
    }
    let mut left = parse(&new).map_err(|_| TomlEditError::OtherForm)?;
    // A parent table that only held this one may disappear.
    prune(&mut left, parents);
    prune(&mut wanted, parents);
    if left == wanted { Ok(new) } else { Err(TomlEditError::OtherForm) }
}

pub(super) fn find<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter().try_fold(table, |table, name| table.get(*name)?.as_table())
}

fn table_in<'a>(table: &'a mut Table, path: &[&str]) -> Option<&'a mut Table> {
    path.iter().try_fold(table, |table, name| {
        table.entry((*name).to_owned()).or_insert_with(|| Value::Table(Table::new())).as_table_mut()
    })
}

fn prune(table: &mut Table, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    if let Some(Value::Table(inner)) = table.get_mut(*first) {
        prune(inner, rest);
        if inner.is_empty() {
            table.remove(*first);
        }
    }
}

fn append(text: &str, path: &[&str], keys: &[(&str, Option<Value>)]) -> String {
    let newline = newline(text);
    let path: Vec<String> = path.iter().map(|name| key_text(name)).collect();
    let mut lines = vec![format!("[{}]", path.join("."))];
    lines.extend(keys.iter().filter_map(|(key, value)| Some(pair(key, value.as_ref()?))));
    let block = lines.join(newline);
    if text.is_empty() {
        format!("{block}{newline}")
    } else if text.ends_with('\n') {
        format!("{text}{newline}{block}{newline}")
    } else {
        format!("{text}{newline}{newline}{block}")
    }
}

fn change(text: &str, path: &[&str], keys: &[(&str, Option<Value>)]) -> Result<String, TomlEditError> {
    let all = statements(text);
    let header =
        all.iter().position(|statement| matches!(&statement.kind, StatementKind::Header(at) if at == path));
    let header = header.ok_or(TomlEditError::OtherForm)?;
    let end = section_end(&all, header);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut added = String::new();
    for (key, value) in keys {
        let there = all[header + 1..].iter().take_while(|statement| statement.range.end <= end).find_map(
            |statement| match &statement.kind {
                StatementKind::Pair { key: found, value } if found == key => Some((statement, value)),
                _ => None,
            },
        );
        match (there, value) {
            (Some((_, place)), Some(value)) => changes.push((place.clone(), value.to_string())),
            (Some((statement, _)), None) => changes.push((statement.range.clone(), String::new())),
            (None, Some(value)) => {
                let line = pair(key, value);
                let newline = newline(text);
                let before = &text[..end];
                let [lead, trail] = if before.ends_with('\n') { ["", newline] } else { [newline, ""] };
                added.extend([lead, &line, trail]);
            }
            (None, None) => {}
        }
    }
    changes.push((end..end, added));
    changes.sort_by_key(|(range, _)| range.start);
    let mut new = text.to_owned();
    for (range, words) in changes.into_iter().rev() {
        new.replace_range(range, &words);
    }
    Ok(new)
}

/// The end of the last pair of a section; comments after it belong to what follows.
fn section_end(all: &[Statement], header: usize) -> usize {
    let pairs =
        all[header + 1..].iter().take_while(|statement| !matches!(statement.kind, StatementKind::Header(_)));
    let last = pairs.filter(|statement| matches!(statement.kind, StatementKind::Pair { .. })).last();
    last.unwrap_or(&all[header]).range.end
}

fn is_blank(text: &str, statement: &Statement) -> bool {
    text[statement.range.clone()].trim().is_empty()
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn pair(key: &str, value: &Value) -> String {
    format!("{} = {value}", key_text(key))
}

fn key_text(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_bare { name.to_owned() } else { Value::from(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &[&str] = &["mcp_servers", "dropleaf"];

    fn keys() -> Vec<(&'static str, Option<Value>)> {
        vec![("command", Some("/bin/d".into())), ("args", Some(vec!["mcp", "x"].into())), ("url", None)]
    }

    #[test]
    fn table_is_added_at_the_end_and_leaves_no_trace() {
        for before in [
            "",
            "model = \"x\" # mine\n",
            "a = 1",
            "a = 1\r\n",
            "# top\n[mcp_servers.other]\nargs = [\n  \"[mcp_servers.dropleaf]\", # no\n]\n\n# end\n",
            "text = \"\"\"\n[mcp_servers.dropleaf]\n\"\"\"\n",
        ] {
            let after = set(before, PATH, &keys()).unwrap();
            assert!(after.starts_with(before) && after.contains("[mcp_servers.dropleaf]"), "{after}");
            assert_eq!(parse(&after).unwrap()["mcp_servers"]["dropleaf"]["command"].as_str(), Some("/bin/d"));
            assert_eq!(remove(&after, PATH).unwrap(), before);
            assert_eq!(set(&after, PATH, &keys()).unwrap(), after, "a second time changes nothing");
        }
    }

    #[test]
    fn table_is_changed_where_it_stands_and_goes_with_what_was_added_to_it() {
        let before = "x = 1\n\n[mcp_servers.dropleaf] # ours\nurl = \"u\"\n# kept\nargs = [\n  \"old\"\n] # why\n\
                      startup_timeout_sec = 5\n\n[mcp_servers.dropleaf.env]\nA = \"b\"\n\n# other\n[other]\ny = 2\n";
        let after = set(before, PATH, &keys()).unwrap();
        assert_eq!(
            after,
            "x = 1\n\n[mcp_servers.dropleaf] # ours\n# kept\nargs = [\"mcp\", \"x\"] # why\nstartup_timeout_sec = 5\n\
             command = \"/bin/d\"\n\n[mcp_servers.dropleaf.env]\nA = \"b\"\n\n# other\n[other]\ny = 2\n"
        );
        assert_eq!(remove(&after, PATH).unwrap(), "x = 1\n\n# other\n[other]\ny = 2\n");
    }

    #[test]
    fn other_forms_are_left_alone() {
        for text in [
            "mcp_servers = { other = { command = \"x\" } }\n",
            "[mcp_servers]\ndropleaf = { command = \"x\" }\n",
            "mcp_servers.dropleaf.command = \"x\"\n",
            "mcp_servers = 1\n",
        ] {
            assert_eq!(set(text, PATH, &keys()), Err(TomlEditError::OtherForm), "{text}");
        }
        assert_eq!(
            remove("[mcp_servers]\ndropleaf = { command = \"x\" }\n", PATH),
            Err(TomlEditError::OtherForm)
        );
        assert_eq!(set("a = 1\nb = = 2\n", PATH, &keys()), Err(TomlEditError::NotToml { line: 2 }));
        assert_eq!(remove("a = 1\n", PATH).unwrap(), "a = 1\n");
    }

    #[test]
    fn names_that_are_not_plain_are_quoted() {
        let path = ["mcp_servers", "drop leaf"];
        let after = set("", &path, &keys()).unwrap();
        assert!(after.starts_with("[mcp_servers.\"drop leaf\"]\n"), "{after}");
        assert_eq!(remove(&after, &path).unwrap(), "");
    }
}

//! Computes a client's settings with our entry, or without it. Writes nothing.

use super::clients::McpClient;
use super::error::SetupError;
use super::jsonc::{Node, NodeKind, parse};
use super::jsonc_edit::{self, NewValue};
use super::ownership::{is_ours, would_leak};
use super::records::OriginalState;
use super::toml_text;
use serde_json::{Map, Value};

/// The keys of an entry; those without a value must be absent.
pub(super) type EntryKeys = [(&'static str, Option<Value>)];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// The file already is as wanted.
    Nothing,
    Write {
        text: String,
        /// What has to be recorded to undo everything later.
        before: Option<OriginalState>,
    },
    /// Delete the file: it did not exist before.
    Remove,
}

/// The entry to write, and what is known about an existing one.
#[derive(Debug)]
pub(super) struct NewEntry<'a> {
    pub name: &'a str,
    pub server: &'a str,
    pub entry: &'a EntryKeys,
    /// The server recorded for an entry that was written before.
    pub recorded: Option<&'a str>,
}

/// Adds or updates an entry.
pub(super) fn add(client: McpClient, old: Option<&str>, wanted: &NewEntry<'_>) -> Result<Plan, SetupError> {
    let NewEntry { name, server, entry, recorded } = *wanted;
    let blank = old.is_none_or(|text| text.trim().is_empty());
    let text = match (client, blank) {
        (McpClient::Codex, true) => "",
        (_, true) => "{}\n",
        _ => old.unwrap_or_default(),
    };
    let list = find_servers(client, text)?;
    let current = list.as_ref().and_then(|list| list.get(name));
    if let Some(current) = current {
        if !is_ours(current, &[server, recorded.unwrap_or(server)]) {
            return Err(SetupError::NameTaken(name.to_owned()));
        }
        if would_leak(current, server) {
            return Err(SetupError::OtherCredentials(name.to_owned()));
        }
        if entry.iter().all(|(key, value)| current.get(*key) == value.as_ref()) {
            return Ok(Plan::Nothing);
        }
    }
    let before = match old {
        None => Some(OriginalState::NoFile),
        Some(_) if blank => Some(OriginalState::EmptyFile),
        Some(_) => list.is_none().then_some(OriginalState::NoList),
    };
    let new = if client == McpClient::Codex {
        toml_text::set(text, &[client.servers_key(), name], &toml_keys(entry)?)?
    } else {
        set_json_entry(client, text, name, entry, current.is_some())?
    };
    Ok(Plan::Write { text: new, before })
}

fn toml_keys(entry: &EntryKeys) -> Result<Vec<(&'static str, Option<toml::Value>)>, SetupError> {
    let value = |value: &Value| toml::Value::try_from(value).map_err(|_| SetupError::Format);
    entry.iter().map(|(key, json)| Ok((*key, json.as_ref().map(value).transpose()?))).collect()
}

fn set_json_entry(
    client: McpClient,
    text: &str,
    name: &str,
    entry: &EntryKeys,
    is_there: bool,
) -> Result<String, SetupError> {
    let path = [client.servers_key(), name];
    let mut wanted = parse(text).map(|node| node.to_value()).unwrap_or_default();
    for (key, value) in entry {
        if let Some(value) = value {
            wanted[path[0]][path[1]][*key] = value.clone();
        } else if let Some(ours) = wanted[path[0]][path[1]].as_object_mut() {
            ours.remove(*key);
        }
    }
    let mut new = text.to_owned();
    if is_there {
        for (key, value) in entry {
            let path = [path[0], path[1], key];
            new = match value {
                Some(value) => jsonc_edit::set(&new, &path, &NewValue::Plain(value.clone()))?,
                None => jsonc_edit::remove(&new, &path)?,
            };
        }
    } else {
        let keys = entry
            .iter()
            .filter_map(|(key, value)| Some(((*key).to_owned(), NewValue::Plain(value.clone()?))));
        new = jsonc_edit::set(&new, &path, &NewValue::Object(keys.collect()))?;
    }
    check_nothing_else_changed(&new, &wanted)?;
    Ok(new)
}

/// Removes an entry for one of these servers, with everything that was created only for it.
pub(super) fn remove(
    client: McpClient,
    old: &str,
    name: &str,
    servers: &[&str],
    before: Option<OriginalState>,
) -> Result<Plan, SetupError> {
    let Some(list) = find_servers(client, old)? else { return Ok(Plan::Nothing) };
    match list.get(name) {
        None => return Ok(Plan::Nothing),
        Some(current) if !is_ours(current, servers) => {
            return Err(SetupError::NotOurs(name.to_owned()));
        }
        Some(_) => {}
    }
    let new = if client == McpClient::Codex {
        toml_text::remove(old, &[client.servers_key(), name])?
    } else {
        remove_json_entry(client, old, name, before.is_some() && list.len() == 1)?
    };
    let is_empty = new.trim().is_empty() || matches!(new.trim(), "{}" | "{ }");
    Ok(match before {
        Some(OriginalState::NoFile) if is_empty => Plan::Remove,
        Some(OriginalState::EmptyFile) if is_empty => Plan::Write { text: String::new(), before: None },
        _ => Plan::Write { text: new, before: None },
    })
}

fn remove_json_entry(
    client: McpClient,
    old: &str,
    name: &str,
    with_list: bool,
) -> Result<String, SetupError> {
    let mut wanted = parse(old).map(|node| node.to_value()).unwrap_or_default();
    let mut new = jsonc_edit::remove(old, &[client.servers_key(), name])?;
    if let Some(list) = wanted[client.servers_key()].as_object_mut() {
        list.remove(name);
    }
    if with_list && let Some(all) = wanted.as_object_mut() {
        new = jsonc_edit::remove(&new, &[client.servers_key()])?;
        all.remove(client.servers_key());
    }
    check_nothing_else_changed(&new, &wanted)?;
    Ok(new)
}

/// Checks that nothing else has changed, whatever the file looks like.
fn check_nothing_else_changed(new: &str, wanted: &Value) -> Result<(), SetupError> {
    if parse(new).is_ok_and(|node| node.to_value() == *wanted) { Ok(()) } else { Err(SetupError::Format) }
}

/// The servers listed in a file; `None` if it has no list.
fn find_servers(client: McpClient, text: &str) -> Result<Option<Map<String, Value>>, SetupError> {
    let all = if client == McpClient::Codex {
        serde_json::to_value(toml_text::parse(text)?).map_err(|_| SetupError::Format)?
    } else {
        let root = parse(text).map_err(jsonc_edit::JsonEditError::from)?;
        if !matches!(root, Node { kind: NodeKind::Object(_), .. }) {
            return Err(SetupError::NotAnObject);
        }
        root.to_value()
    };
    match all.get(client.servers_key()) {
        None => Ok(None),
        Some(Value::Object(list)) => Ok(Some(list.clone())),
        Some(_) => Err(SetupError::NotAList(client.servers_key())),
    }
}

#[cfg(test)]
mod tests;

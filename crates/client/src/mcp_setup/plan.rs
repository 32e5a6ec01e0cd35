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
mod tests {
    use super::super::clients::Transport;
    use super::*;

    const SERVER: &str = "https://x.example";

    fn entry(client: McpClient, transport: Transport) -> Vec<(&'static str, Option<Value>)> {
        client.entry_keys(transport, SERVER, "/opt/dropleaf")
    }

    fn add(client: McpClient, old: Option<&str>, name: &str, entry: &EntryKeys) -> Result<Plan, SetupError> {
        add_recorded(client, old, (name, None), entry)
    }

    fn add_recorded(
        client: McpClient,
        old: Option<&str>,
        (name, recorded): (&str, Option<&str>),
        entry: &EntryKeys,
    ) -> Result<Plan, SetupError> {
        super::add(client, old, &NewEntry { name, server: SERVER, entry, recorded })
    }

    fn remove(
        client: McpClient,
        old: &str,
        name: &str,
        before: Option<OriginalState>,
    ) -> Result<Plan, SetupError> {
        super::remove(client, old, name, &[SERVER], before)
    }

    fn written(plan: Plan) -> (String, Option<OriginalState>) {
        match plan {
            Plan::Write { text, before } => (text, before),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_client_from_nothing_and_back() {
        for client in McpClient::ALL {
            for transport in [Transport::Http, Transport::Stdio] {
                let ours = entry(client, transport);
                let (text, before) = written(add(client, None, "dropleaf", &ours).unwrap());
                assert_eq!(before, Some(OriginalState::NoFile));
                assert!(text.ends_with('\n') && text.contains(client.servers_key()), "{text}");
                assert_eq!(add(client, Some(&text), "dropleaf", &ours).unwrap(), Plan::Nothing);
                assert_eq!(remove(client, &text, "dropleaf", before).unwrap(), Plan::Remove);
                let (blank, _) =
                    written(remove(client, &text, "dropleaf", Some(OriginalState::EmptyFile)).unwrap());
                assert_eq!(blank, "");
            }
        }
    }

    #[test]
    fn entry_is_moved_to_another_server_and_way_and_keeps_what_its_owner_added() {
        let old = "{\"mcpServers\": {\"dropleaf\": {\"url\": \"http://old/mcp\", \"disabled\": true}}}";
        let ours = entry(McpClient::Cursor, Transport::Stdio);
        let (text, before) = written(
            add_recorded(McpClient::Cursor, Some(old), ("dropleaf", Some("http://old")), &ours).unwrap(),
        );
        assert_eq!(
            text,
            "{\"mcpServers\": {\"dropleaf\": { \"disabled\": true, \"command\": \"/opt/dropleaf\", \"args\": [\"mcp\", \
             \"--server\", \"https://x.example\"]}}}"
        );
        assert_eq!(before, None);
    }

    #[test]
    fn entry_with_secrets_is_not_moved_to_another_server() {
        let old = "{\"mcpServers\": {\"dropleaf\": {\"url\": \"http://old/mcp\", \"headers\": {\"Authorization\": \"Bearer s\"}}}}";
        for transport in [Transport::Http, Transport::Stdio] {
            let ours = entry(McpClient::Cursor, transport);
            let refused = add_recorded(McpClient::Cursor, Some(old), ("dropleaf", Some("http://old")), &ours);
            assert!(refused.unwrap_err().to_string().contains("credentials for another server"));
            // Without a record the entry does not even count as ours.
            let refused = add(McpClient::Cursor, Some(old), "dropleaf", &ours);
            assert!(refused.unwrap_err().to_string().contains("--name"));
            // For the same server the secret may stay.
            let here = old.replace("http://old", SERVER);
            assert!(add(McpClient::Cursor, Some(&here), "dropleaf", &ours).is_ok());
        }
        let old = "[mcp_servers.dropleaf]\nurl = \"http://old/mcp\"\nbearer_token_env_var = \"KEY\"\n";
        let ours = entry(McpClient::Codex, Transport::Http);
        let refused = add_recorded(McpClient::Codex, Some(old), ("dropleaf", Some("http://old")), &ours);
        assert!(refused.unwrap_err().to_string().contains("credentials for another server"));
    }

    #[test]
    fn taking_out_leaves_everything_else_as_it_was() {
        let old = "{ // c\n \"mcpServers\": {\"dropleaf\": {\"command\": \"dropleaf\", \"args\": [\"mcp\"]}}, \"y\": 2}";
        let (text, _) =
            written(remove(McpClient::Cursor, old, "dropleaf", Some(OriginalState::NoList)).unwrap());
        assert_eq!(text, "{ // c\n  \"y\": 2}");
        // The name occurs twice: the remaining entry would take effect.
        let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"a\"}, \"dropleaf\": {\"command\": \"dropleaf\", \"args\": [\"mcp\"]}}}";
        assert!(
            remove(McpClient::Cursor, old, "dropleaf", None)
                .unwrap_err()
                .to_string()
                .contains("cannot edit its format")
        );
    }

    #[test]
    fn what_others_wrote_under_our_name_is_left_alone() {
        let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"npx\"}}}";
        let ours = entry(McpClient::Cursor, Transport::Http);
        assert!(
            add(McpClient::Cursor, Some(old), "dropleaf", &ours).unwrap_err().to_string().contains("--name")
        );
        assert!(remove(McpClient::Cursor, old, "dropleaf", None).is_err());
        let (text, _) = written(add(McpClient::Cursor, Some(old), "pages", &ours).unwrap());
        assert_eq!(written(remove(McpClient::Cursor, &text, "pages", None).unwrap()).0, old);
    }

    #[test]
    fn files_that_cannot_be_read_are_refused() {
        let ours = entry(McpClient::Zed, Transport::Http);
        for (text, words) in [
            ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3"),
            ("[]", "top level"),
            ("{\"context_servers\": []}", "context_servers"),
        ] {
            let error = add(McpClient::Zed, Some(text), "dropleaf", &ours).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let ours = entry(McpClient::Codex, Transport::Stdio);
        let error = add(McpClient::Codex, Some("a = \n"), "dropleaf", &ours).unwrap_err().to_string();
        assert!(error.contains("TOML"), "{error}");
    }
}

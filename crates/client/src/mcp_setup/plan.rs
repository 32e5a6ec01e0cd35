//! Computes a client's settings with our entry, or without it. Writes nothing.

use super::apps::App;
use super::jsonc::{Kind, Node, parse};
use super::jsonc_edit::{self, Fresh};
use super::ours::{is_ours, would_leak};
use super::records::Before;
use super::toml_text;
use anyhow::{Result, bail, ensure};
use serde_json::{Map, Value};

/// The keys of an entry; those without a value must be absent.
pub(super) type Entry = [(&'static str, Option<Value>)];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// The file already is as wanted.
    Nothing,
    Write {
        text: String,
        /// What has to be recorded to undo everything later.
        before: Option<Before>,
    },
    /// Delete the file: it did not exist before.
    Remove,
}

/// The entry to write, and what is known about an existing one.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub name: &'a str,
    pub server: &'a str,
    pub entry: &'a Entry,
    /// The server recorded for an entry that was written before.
    pub recorded: Option<&'a str>,
}

/// Adds or updates an entry.
pub(super) fn add(app: App, old: Option<&str>, wanted: &Wanted<'_>) -> Result<Plan> {
    let Wanted { name, server, entry, recorded } = *wanted;
    let blank = old.is_none_or(|text| text.trim().is_empty());
    let text = match (app, blank) {
        (App::Codex, true) => "",
        (_, true) => "{}\n",
        _ => old.unwrap_or_default(),
    };
    let list = listed(app, text)?;
    let current = list.as_ref().and_then(|list| list.get(name));
    if let Some(current) = current {
        ensure!(
            is_ours(current, &[server, recorded.unwrap_or(server)]),
            "it already has a different server named `{name}`; choose another name with --name"
        );
        ensure!(
            !would_leak(current, server),
            "its entry `{name}` contains credentials for another server; remove it first"
        );
        if entry.iter().all(|(key, value)| current.get(*key) == value.as_ref()) {
            return Ok(Plan::Nothing);
        }
    }
    let before = match old {
        None => Some(Before::NoFile),
        Some(_) if blank => Some(Before::EmptyFile),
        Some(_) => list.is_none().then_some(Before::NoList),
    };
    let new = if app == App::Codex {
        let keys = entry
            .iter()
            .map(|(key, value)| Ok((*key, value.as_ref().map(toml::Value::try_from).transpose()?)));
        toml_text::set(text, &[app.list(), name], &keys.collect::<Result<Vec<_>, toml::ser::Error>>()?)?
    } else {
        in_json(app, text, name, entry, current.is_some())?
    };
    Ok(Plan::Write { text: new, before })
}

fn in_json(app: App, text: &str, name: &str, entry: &Entry, is_there: bool) -> Result<String> {
    let path = [app.list(), name];
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
                Some(value) => jsonc_edit::set(&new, &path, &Fresh::Plain(value.clone()))?,
                None => jsonc_edit::remove(&new, &path)?,
            };
        }
    } else {
        let keys =
            entry.iter().filter_map(|(key, value)| Some(((*key).to_owned(), Fresh::Plain(value.clone()?))));
        new = jsonc_edit::set(&new, &path, &Fresh::Object(keys.collect()))?;
    }
    unharmed(&new, &wanted)?;
    Ok(new)
}

/// Removes an entry for one of these servers, with everything that was created only for it.
pub(super) fn take(
    app: App,
    old: &str,
    name: &str,
    servers: &[&str],
    before: Option<Before>,
) -> Result<Plan> {
    let Some(list) = listed(app, old)? else { return Ok(Plan::Nothing) };
    match list.get(name) {
        None => return Ok(Plan::Nothing),
        Some(current) if !is_ours(current, servers) => {
            bail!("its server `{name}` was not added by this command")
        }
        Some(_) => {}
    }
    let new = if app == App::Codex {
        toml_text::remove(old, &[app.list(), name])?
    } else {
        out_of_json(app, old, name, before.is_some() && list.len() == 1)?
    };
    let is_empty = new.trim().is_empty() || matches!(new.trim(), "{}" | "{ }");
    Ok(match before {
        Some(Before::NoFile) if is_empty => Plan::Remove,
        Some(Before::EmptyFile) if is_empty => Plan::Write { text: String::new(), before: None },
        _ => Plan::Write { text: new, before: None },
    })
}

fn out_of_json(app: App, old: &str, name: &str, with_list: bool) -> Result<String> {
    let mut wanted = parse(old).map(|node| node.to_value()).unwrap_or_default();
    let mut new = jsonc_edit::remove(old, &[app.list(), name])?;
    if let Some(list) = wanted[app.list()].as_object_mut() {
        list.remove(name);
    }
    if with_list && let Some(all) = wanted.as_object_mut() {
        new = jsonc_edit::remove(&new, &[app.list()])?;
        all.remove(app.list());
    }
    unharmed(&new, &wanted)?;
    Ok(new)
}

/// Checks that nothing else has changed, whatever the file looks like.
fn unharmed(new: &str, wanted: &Value) -> Result<()> {
    ensure!(parse(new).is_ok_and(|node| node.to_value() == *wanted), "this command cannot edit its format");
    Ok(())
}

/// The servers listed in a file; `None` if it has no list.
fn listed(app: App, text: &str) -> Result<Option<Map<String, Value>>> {
    let all = if app == App::Codex {
        serde_json::to_value(toml_text::parse(text)?)?
    } else {
        let root = parse(text).map_err(jsonc_edit::Refused::from)?;
        ensure!(matches!(root, Node { kind: Kind::Object(_), .. }), "its top level is not an object");
        root.to_value()
    };
    match all.get(app.list()) {
        None => Ok(None),
        Some(Value::Object(list)) => Ok(Some(list.clone())),
        Some(_) => bail!("`{}` in it is not a list of servers by name", app.list()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::apps::{ALL, Way};
    use super::*;

    const SERVER: &str = "https://x.example";

    fn entry(app: App, way: Way) -> Vec<(&'static str, Option<Value>)> {
        app.entry(way, SERVER, "/opt/dropleaf")
    }

    fn add(app: App, old: Option<&str>, name: &str, entry: &Entry) -> Result<Plan> {
        add_recorded(app, old, (name, None), entry)
    }

    fn add_recorded(
        app: App,
        old: Option<&str>,
        (name, recorded): (&str, Option<&str>),
        entry: &Entry,
    ) -> Result<Plan> {
        super::add(app, old, &Wanted { name, server: SERVER, entry, recorded })
    }

    fn take(app: App, old: &str, name: &str, before: Option<Before>) -> Result<Plan> {
        super::take(app, old, name, &[SERVER], before)
    }

    fn written(plan: Plan) -> (String, Option<Before>) {
        match plan {
            Plan::Write { text, before } => (text, before),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_client_from_nothing_and_back() {
        for app in ALL {
            for way in [Way::Http, Way::Stdio] {
                let ours = entry(app, way);
                let (text, before) = written(add(app, None, "dropleaf", &ours).unwrap());
                assert_eq!(before, Some(Before::NoFile));
                assert!(text.ends_with('\n') && text.contains(app.list()), "{text}");
                assert_eq!(add(app, Some(&text), "dropleaf", &ours).unwrap(), Plan::Nothing);
                assert_eq!(take(app, &text, "dropleaf", before).unwrap(), Plan::Remove);
                let (blank, _) = written(take(app, &text, "dropleaf", Some(Before::EmptyFile)).unwrap());
                assert_eq!(blank, "");
            }
        }
    }

    #[test]
    fn entry_is_moved_to_another_server_and_way_and_keeps_what_its_owner_added() {
        let old = "{\"mcpServers\": {\"dropleaf\": {\"url\": \"http://old/mcp\", \"disabled\": true}}}";
        let ours = entry(App::Cursor, Way::Stdio);
        let (text, before) =
            written(add_recorded(App::Cursor, Some(old), ("dropleaf", Some("http://old")), &ours).unwrap());
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
        for way in [Way::Http, Way::Stdio] {
            let ours = entry(App::Cursor, way);
            let refused = add_recorded(App::Cursor, Some(old), ("dropleaf", Some("http://old")), &ours);
            assert!(refused.unwrap_err().to_string().contains("credentials for another server"));
            // Without a record the entry does not even count as ours.
            let refused = add(App::Cursor, Some(old), "dropleaf", &ours);
            assert!(refused.unwrap_err().to_string().contains("--name"));
            // For the same server the secret may stay.
            let here = old.replace("http://old", SERVER);
            assert!(add(App::Cursor, Some(&here), "dropleaf", &ours).is_ok());
        }
        let old = "[mcp_servers.dropleaf]\nurl = \"http://old/mcp\"\nbearer_token_env_var = \"KEY\"\n";
        let ours = entry(App::Codex, Way::Http);
        let refused = add_recorded(App::Codex, Some(old), ("dropleaf", Some("http://old")), &ours);
        assert!(refused.unwrap_err().to_string().contains("credentials for another server"));
    }

    #[test]
    fn taking_out_leaves_everything_else_as_it_was() {
        let old = "{ // c\n \"mcpServers\": {\"dropleaf\": {\"command\": \"dropleaf\", \"args\": [\"mcp\"]}}, \"y\": 2}";
        let (text, _) = written(take(App::Cursor, old, "dropleaf", Some(Before::NoList)).unwrap());
        assert_eq!(text, "{ // c\n  \"y\": 2}");
        // The name occurs twice: the remaining entry would take effect.
        let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"a\"}, \"dropleaf\": {\"command\": \"dropleaf\", \"args\": [\"mcp\"]}}}";
        assert!(
            take(App::Cursor, old, "dropleaf", None)
                .unwrap_err()
                .to_string()
                .contains("cannot edit its format")
        );
    }

    #[test]
    fn what_others_wrote_under_our_name_is_left_alone() {
        let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"npx\"}}}";
        let ours = entry(App::Cursor, Way::Http);
        assert!(add(App::Cursor, Some(old), "dropleaf", &ours).unwrap_err().to_string().contains("--name"));
        assert!(take(App::Cursor, old, "dropleaf", None).is_err());
        let (text, _) = written(add(App::Cursor, Some(old), "pages", &ours).unwrap());
        assert_eq!(written(take(App::Cursor, &text, "pages", None).unwrap()).0, old);
    }

    #[test]
    fn files_that_cannot_be_read_are_refused() {
        let ours = entry(App::Zed, Way::Http);
        for (text, words) in [
            ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3"),
            ("[]", "top level"),
            ("{\"context_servers\": []}", "context_servers"),
        ] {
            let error = add(App::Zed, Some(text), "dropleaf", &ours).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let ours = entry(App::Codex, Way::Stdio);
        let error = add(App::Codex, Some("a = \n"), "dropleaf", &ours).unwrap_err().to_string();
        assert!(error.contains("TOML"), "{error}");
    }
}

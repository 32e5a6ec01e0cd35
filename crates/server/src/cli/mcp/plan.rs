//! What a client's settings would read like with our entry, or without it. Decides; writes nothing.

use super::apps::{App, is_ours};
use super::jsonc::{Kind, Node, parse};
use super::jsonc_edit::{self, Fresh};
use super::records::Before;
use super::toml_text;
use anyhow::{Result, bail, ensure};
use serde_json::{Map, Value};

/// The keys of an entry; those without a value are not to be there.
pub(super) type Entry = [(&'static str, Option<Value>)];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// As wanted already.
    Nothing,
    Write {
        text: String,
        /// What has to be known to take everything out again.
        before: Option<Before>,
    },
    /// The file goes: there was none before us.
    Remove,
}

/// Puts an entry in, or brings it up to date.
pub(super) fn add(app: App, old: Option<&str>, name: &str, entry: &Entry) -> Result<Plan> {
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
            is_ours(current),
            "it has another server called `{name}`; choose a name for ours with --name"
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
    // Nothing else may have changed, whatever the file looks like.
    ensure!(
        parse(&new).is_ok_and(|node| node.to_value() == wanted),
        "it is laid out in a way this command cannot edit"
    );
    Ok(new)
}

/// Takes an entry out, and with it what was made for its sake alone.
pub(super) fn take(app: App, old: &str, name: &str, before: Option<Before>) -> Result<Plan> {
    let Some(list) = listed(app, old)? else { return Ok(Plan::Nothing) };
    match list.get(name) {
        None => return Ok(Plan::Nothing),
        Some(current) if !is_ours(current) => {
            bail!("its server `{name}` is not one this command has written")
        }
        Some(_) => {}
    }
    let new = if app == App::Codex {
        toml_text::remove(old, &[app.list(), name])?
    } else {
        let new = jsonc_edit::remove(old, &[app.list(), name])?;
        let is_over = before.is_some() && listed(app, &new)?.is_some_and(|list| list.is_empty());
        if is_over { jsonc_edit::remove(&new, &[app.list()])? } else { new }
    };
    let is_empty = new.trim().is_empty() || matches!(new.trim(), "{}" | "{ }");
    Ok(match before {
        Some(Before::NoFile) if is_empty => Plan::Remove,
        Some(Before::EmptyFile) if is_empty => Plan::Write { text: String::new(), before: None },
        _ => Plan::Write { text: new, before: None },
    })
}

/// The servers a file lists; none when it has no list.
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

    fn entry(app: App, way: Way, server: &str) -> Vec<(&'static str, Option<Value>)> {
        app.entry(way, server, "/opt/dropleaf")
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
                let ours = entry(app, way, "https://x.example");
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
        let ours = entry(App::Cursor, Way::Stdio, "https://new.example");
        let (text, before) = written(add(App::Cursor, Some(old), "dropleaf", &ours).unwrap());
        assert_eq!(
            text,
            "{\"mcpServers\": {\"dropleaf\": { \"disabled\": true, \"command\": \"/opt/dropleaf\", \"args\": [\"mcp\", \
             \"--server\", \"https://new.example\"]}}}"
        );
        assert_eq!(before, None);
    }

    #[test]
    fn what_others_wrote_under_our_name_is_left_alone() {
        let old = "{\"mcpServers\": {\"dropleaf\": {\"command\": \"npx\"}}}";
        let ours = entry(App::Cursor, Way::Http, "https://x.example");
        assert!(add(App::Cursor, Some(old), "dropleaf", &ours).unwrap_err().to_string().contains("--name"));
        assert!(take(App::Cursor, old, "dropleaf", None).is_err());
        let (text, _) = written(add(App::Cursor, Some(old), "pages", &ours).unwrap());
        assert_eq!(written(take(App::Cursor, &text, "pages", None).unwrap()).0, old);
    }

    #[test]
    fn files_that_cannot_be_read_are_refused() {
        let ours = entry(App::Zed, Way::Http, "https://x.example");
        for (text, words) in [
            ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3"),
            ("[]", "top level"),
            ("{\"context_servers\": []}", "context_servers"),
        ] {
            let error = add(App::Zed, Some(text), "dropleaf", &ours).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let ours = entry(App::Codex, Way::Stdio, "https://x.example");
        let error = add(App::Codex, Some("a = \n"), "dropleaf", &ours).unwrap_err().to_string();
        assert!(error.contains("TOML"), "{error}");
    }
}

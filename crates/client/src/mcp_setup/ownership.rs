//! Decides which entries of a client's settings are ours to change, and whether changing one would send a secret to another
//! server.

use crate::client::server_name;
use serde_json::Value;
use std::path::Path;

/// Keys of an entry that certainly hold no secret, including the address and the program.
const HARMLESS: [&str; 9] = [
    "type",
    "url",
    "command",
    "args",
    "source",
    "enabled_tools",
    "disabled_tools",
    "alwaysAllow",
    "autoApprove",
];

/// Whether an entry with our name is ours: it starts `dropleaf mcp`, or its URL is that of a server named now or when it was
/// written.
pub(super) fn is_ours(entry: &Value, servers: &[&str]) -> bool {
    starts_us(entry) || address(entry).is_some_and(|server| servers.contains(&server.as_str()))
}

/// Whether changing the entry would send secrets for another server to this one. Any text under a key that is not known to be
/// harmless may be a secret: clients store them under many names.
pub(super) fn would_leak(entry: &Value, server: &str) -> bool {
    origin(entry).as_deref() != Some(server)
        && entry.as_object().is_some_and(|members| {
            members.iter().any(|(name, value)| !HARMLESS.contains(&name.as_str()) && has_text(value))
        })
}

fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn starts_us(entry: &Value) -> bool {
    Path::new(text(entry, "command")).file_stem().is_some_and(|stem| stem == "dropleaf")
        && entry.get("args").and_then(|args| args.get(0)).is_some_and(|first| first == "mcp")
}

fn address(entry: &Value) -> Option<String> {
    server_name(text(entry, "url").strip_suffix("/mcp")?).ok()
}

/// The server that an entry connects to, if it says so.
fn origin(entry: &Value) -> Option<String> {
    if !starts_us(entry) {
        return address(entry);
    }
    let args: Vec<&str> =
        entry.get("args").and_then(Value::as_array)?.iter().filter_map(Value::as_str).collect();
    let named = args.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--server")? {
        "" => args.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    let named = named.or_else(|| entry.get("env")?.get("DROPLEAF_URL")?.as_str())?;
    server_name(named).ok()
}

fn has_text(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(members) => members.values().any(has_text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HERE: &str = "https://pages.example.org";

    #[test]
    fn entries_of_others_under_our_name_are_told_apart() {
        assert!(is_ours(&json!({"command": "/usr/bin/dropleaf", "args": ["mcp"]}), &[]));
        assert!(is_ours(&json!({"url": "https://pages.example.org/mcp"}), &["http://other", HERE]));
        assert!(!is_ours(&json!({"url": "https://elsewhere.example/mcp"}), &[HERE]));
        assert!(!is_ours(&json!({"url": "https://pages.example.org.evil.example/mcp"}), &[HERE]));
        assert!(!is_ours(&json!({"url": "https://me:secret@pages.example.org/mcp"}), &[HERE]));
        assert!(!is_ours(&json!({"command": "npx", "args": ["mcp"]}), &[HERE]));
        assert!(!is_ours(&json!({"url": "https://pages.example.org/sse"}), &[HERE]));
    }

    #[test]
    fn secrets_stay_with_the_server_they_are_for() {
        let elsewhere = "https://elsewhere.example/mcp";
        for secret in [
            json!({"headers": {"Authorization": "Bearer s"}}),
            json!({"env": {"DROPLEAF_API_KEY": "s"}}),
            json!({"http_headers": {"X-Key": "s"}}),
            json!({"env_http_headers": {"X-Key": "NAME"}}),
            json!({"bearer_token_env_var": "NAME"}),
            json!({"envFile": "/home/ann/.env"}),
            json!({"something_new": [{"deep": "s"}]}),
        ] {
            let with = |more: Value| {
                let mut entry = secret.clone();
                for (name, value) in more.as_object().unwrap() {
                    entry[name.as_str()] = value.clone();
                }
                entry
            };
            assert!(would_leak(&with(json!({"url": elsewhere})), HERE), "{secret}");
            assert!(!would_leak(&with(json!({"url": format!("{HERE}/mcp")})), HERE), "{secret}");
            let stdio = |args: Value| with(json!({"command": "dropleaf", "args": args}));
            assert!(would_leak(&stdio(json!(["mcp", "--server", "https://elsewhere.example"])), HERE));
            assert!(would_leak(&stdio(json!(["mcp"])), HERE), "it does not say where it leads");
            assert!(!would_leak(&stdio(json!(["mcp", "--wait", "1", "--server", HERE])), HERE));
            assert!(!would_leak(&stdio(json!(["mcp", "--server=https://pages.example.org/"])), HERE));
        }
        let at_home =
            json!({"command": "dropleaf", "args": ["mcp"], "env": {"DROPLEAF_URL": HERE, "K": "s"}});
        assert!(!would_leak(&at_home, HERE) && would_leak(&at_home, "https://elsewhere.example"));
        let plain =
            json!({"url": elsewhere, "disabled": true, "timeout": 5, "env": {}, "autoApprove": ["get_me"]});
        assert!(!would_leak(&plain, HERE));
    }
}

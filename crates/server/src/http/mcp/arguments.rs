//! Prepares the arguments of a tool call before the tool parses them: names that clients of similar services use are
//! translated, misspelt names are refused, and texts become booleans, numbers and times where the tool's schema leaves no
//! doubt. Whatever is not understood stays as it was sent: the tool refuses such a value, and warns of such a name.

use dropleaf_core::{Error, Result, iso, lookalike};
use serde_json::{Map, Number, Value};

/// Longer names are not compared with the known ones.
const NAME_CHARACTERS: usize = 60;
/// Least similarity, from 0 to 1, at which a known name is suggested.
const SIMILAR: f64 = 0.55;

/// Arguments that a tool accepts without listing them: its input type has them.
const UNLISTED: [(&str, &str); 3] =
    [("create_share_link", "expires_in_hours"), ("publish_html", "e2e"), ("create_upload", "e2e")];

/// Other names of arguments, for every tool that has the argument.
const SYNONYMS: [(&str, &str); 7] = [
    ("id_or_slug", "site"),
    ("idOrSlug", "site"),
    ("site_id", "site"),
    ("public_slug", "slug"),
    ("allowed_email_domain", "email_gate_domain"),
    ("feedback_id", "id"),
    ("share_link_id", "token"),
];

/// Other names of arguments that have another meaning in other tools.
const TOOL_SYNONYMS: [(&str, &str, &str); 8] = [
    ("set_agentation", "enabled", "agentation"),
    ("set_live", "enabled", "live"),
    ("set_email_gate", "domain", "email_gate_domain"),
    ("add_custom_domain", "domain", "hostname"),
    ("update_custom_domain", "domain", "hostname"),
    ("verify_custom_domain", "domain", "hostname"),
    ("delete_custom_domain", "domain", "hostname"),
    ("create_share_link", "label", "note"),
];

/// The arguments as the tool parses them. `properties` are those of its input schema; a tool without any ignores arguments.
pub(super) fn prepare(
    tool: &str,
    properties: &Map<String, Value>,
    sent: Map<String, Value>,
) -> Result<Map<String, Value>> {
    if properties.is_empty() {
        return Ok(sent);
    }
    let (known, other): (Map<_, _>, Map<_, _>) =
        sent.into_iter().partition(|(name, _)| properties.contains_key(name));
    let mut arguments = Map::new();
    for (name, mut value) in known {
        coerce(&name, properties.get(&name), &mut value)?;
        arguments.insert(name, value);
    }
    for (name, mut value) in other {
        if UNLISTED.contains(&(tool, name.as_str())) {
            arguments.insert(name, value);
            continue;
        }
        let Some(meant) = meant(tool, &name, &value, properties) else {
            check_unknown(&name, properties)?;
            arguments.insert(name, value);
            continue;
        };
        coerce(meant, properties.get(meant), &mut value)?;
        match arguments.get(meant) {
            Some(given) if *given != value => {
                return Err(Error::field(&name, format!("conflicts with `{meant}`: send only one of them")));
            }
            _ => arguments.insert(meant.to_owned(), value),
        };
    }
    Ok(arguments)
}

/// The argument that another name stands for in this tool.
fn meant(tool: &str, name: &str, value: &Value, properties: &Map<String, Value>) -> Option<&'static str> {
    if name == "content" && properties.contains_key("html") && properties.contains_key("markdown") {
        // A document of HTML begins with a tag or a comment.
        let is_html = value
            .as_str()
            .is_none_or(|text| text.trim_start_matches('\u{feff}').trim_start().starts_with('<'));
        return Some(if is_html { "html" } else { "markdown" });
    }
    let of_tool = TOOL_SYNONYMS.iter().find(|(of, synonym, _)| *of == tool && *synonym == name);
    let of_all = SYNONYMS.iter().find(|(synonym, _)| *synonym == name);
    of_tool
        .map(|(_, _, meant)| *meant)
        .or_else(|| of_all.map(|(_, meant)| *meant))
        .filter(|meant| properties.contains_key(*meant))
}

/// Refuses an argument that the tool does not have if it looks like one that it has, or like a protection.
fn check_unknown(name: &str, properties: &Map<String, Value>) -> Result<()> {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    // A protection that no one would apply has its own words.
    lookalike::unknown_field(name, &names)?;
    let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARACTERS).collect();
    let plain = shown.to_lowercase().replace('-', "_");
    let similarity = |known: &str| {
        let (short, long) =
            if known.len() < plain.len() { (known, plain.as_str()) } else { (plain.as_str(), known) };
        let part = if short.len() >= 4 && long.contains(short) { SIMILAR } else { 0.0 };
        strsim::normalized_damerau_levenshtein(known, &plain).max(part)
    };
    let best = names.iter().map(|known| (similarity(known), *known)).max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, known)) if score >= SIMILAR => {
            Err(Error::unknown_field(&shown, &format!("did you mean `{known}`?")))
        }
        _ => Ok(()),
    }
}

/// Turns a text into the type that the schema asks for, if only one reading is possible.
fn coerce(name: &str, schema: Option<&Value>, value: &mut Value) -> Result<()> {
    let Some(schema) = schema else { return Ok(()) };
    let takes = |kind: &str| branches(schema).any(|branch| branch["type"] == kind);
    match value {
        Value::String(text) if !takes_text(schema, text) => {
            let text = text.trim();
            if takes("boolean") {
                if let Ok(flag) = text.to_ascii_lowercase().parse::<bool>() {
                    *value = flag.into();
                }
            } else if takes("integer") {
                if let Ok(number) = text.parse::<i64>() {
                    *value = number.into();
                } else if is_time(name) {
                    let why = "must be a time: epoch seconds, or ISO 8601 such as 2026-11-15T01:41:00Z";
                    *value = iso::parse_timestamp(text).ok_or_else(|| Error::field(name, why))?.into();
                }
            } else if takes("number")
                && let Some(number) = decimal(text)
            {
                *value = Value::Number(number);
            }
        }
        Value::Number(number) if takes("integer") && !number.is_i64() => {
            if let Some(whole) = whole(number) {
                *value = whole.into();
            }
        }
        _ => {}
    }
    Ok(())
}

/// The schema, or the alternatives that it consists of.
fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    let alternatives = schema["anyOf"].as_array();
    let alone = alternatives.is_none().then_some(schema);
    alternatives.into_iter().flatten().chain(alone)
}

/// Whether the schema takes this text as it is.
fn takes_text(schema: &Value, text: &str) -> bool {
    branches(schema).any(|branch| {
        branch["type"] == "string"
            && branch["enum"].as_array().is_none_or(|words| words.iter().any(|word| word == text))
    })
}

/// Whether an integer argument is a time.
fn is_time(name: &str) -> bool {
    name == "before" || name.ends_with("_at")
}

/// A number in digits with at most one point; no sign, exponent or word such as `inf`.
fn decimal(text: &str) -> Option<Number> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    match text.parse::<i64>() {
        Ok(number) => Some(number.into()),
        Err(_) => Number::from_f64(text.parse().ok()?),
    }
}

/// The integer that a number such as `3.0` is.
fn whole(number: &Number) -> Option<i64> {
    let text = number.to_string();
    text.strip_suffix(".0")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn properties() -> Map<String, Value> {
        let all = json!({
            "site": {"type": "string"}, "html": {"type": "string"}, "markdown": {"type": "string"},
            "password": {"type": "string"}, "burn_after_read": {"type": "boolean"},
            "limit": {"type": "integer"}, "expires_at": {"type": "integer"}, "agentation": {"type": "boolean"},
            "expires_in_hours": {"anyOf": [{"type": "number"}, {"type": "string", "enum": ["never"]}, {"type": "null"}]},
        });
        all.as_object().unwrap().clone()
    }

    fn prepared(tool: &str, sent: &Value) -> Result<Value> {
        prepare(tool, &properties(), sent.as_object().unwrap().clone()).map(Value::Object)
    }

    #[test]
    fn names_of_other_clients_are_translated_and_must_not_contradict() {
        let done = prepared("set_agentation", &json!({"id_or_slug": "a", "enabled": "true"})).unwrap();
        assert_eq!(done, json!({"site": "a", "agentation": true}));
        assert_eq!(prepared("x", &json!({"site": "a", "site_id": "a"})).unwrap(), json!({"site": "a"}));
        let error = prepared("x", &json!({"site": "a", "id_or_slug": "b"})).unwrap_err();
        assert!(error.detail.contains("`id_or_slug` conflicts with `site`"), "{}", error.detail);
        let same = prepared("x", &json!({"limit": 3, "site": "a", "id_or_slug": "a"})).unwrap();
        assert_eq!(same, json!({"limit": 3, "site": "a"}));
        for (content, name) in [("\n<!doctype html>", "html"), ("# Title\n<b>", "markdown"), ("<p>", "html")]
        {
            assert_eq!(prepared("x", &json!({"content": content})).unwrap(), json!({name: content}));
        }
        assert!(prepared("x", &json!({"content": "<p>", "html": "<b>"})).is_err());
        assert!(prepared("x", &json!({"enabled": true})).is_err(), "only where it can mean one thing");
    }

    #[test]
    fn texts_become_what_the_schema_asks_for_if_there_is_no_doubt() {
        let sent = json!({
            "burn_after_read": "True", "limit": "3", "expires_at": "2026-11-15T01:41:00Z", "expires_in_hours": "24",
        });
        let done = prepared("x", &sent).unwrap();
        let expected = json!({
            "burn_after_read": true, "limit": 3, "expires_at": 1_794_706_860, "expires_in_hours": 24,
        });
        assert_eq!(done, expected);
        assert_eq!(prepared("x", &json!({"limit": 3.0})).unwrap(), json!({"limit": 3}));
        assert_eq!(prepared("x", &json!({"expires_in_hours": "1.5"})).unwrap()["expires_in_hours"], 1.5);
        // Left to the tool, which refuses them.
        for same in [
            json!({"burn_after_read": "maybe"}),
            json!({"burn_after_read": "1"}),
            json!({"burn_after_read": 1}),
            json!({"limit": "three"}),
            json!({"limit": 3.5}),
            json!({"expires_in_hours": "soon"}),
            json!({"expires_in_hours": "-1"}),
            json!({"expires_in_hours": "never"}),
            json!({"expires_in_hours": null}),
            json!({"password": 1234}),
            json!({"password": "true"}),
            json!({"site": "3"}),
        ] {
            assert_eq!(prepared("x", &same).unwrap(), same);
        }
        for time in ["tomorrow", "2026-11-15T01:41:00", "2026-02-30"] {
            let error = prepared("x", &json!({"expires_at": time})).unwrap_err();
            assert!(error.detail.contains("must be a time"), "{}", error.detail);
        }
    }

    #[test]
    fn misspelt_names_are_refused_with_what_may_be_meant() {
        for (name, says) in [
            ("markdwon", "did you mean `markdown`?"),
            ("html_text", "did you mean `html`?"),
            ("Site", "did you mean `site`?"),
            ("passcode", "did you mean `password`?"),
        ] {
            let error = prepared("x", &json!({name: "x"})).unwrap_err();
            assert!(
                error.detail.contains(&format!("`{name}`")) && error.detail.contains(says),
                "{}",
                error.detail
            );
        }
        let other = json!({"colour": "red", "x".repeat(100_000): 1});
        assert_eq!(prepared("x", &other).unwrap(), other, "left to the tool, which warns of them");
        let nothing = prepare("get_me", &Map::new(), json!({"random": 1}).as_object().unwrap().clone());
        assert_eq!(nothing.unwrap().len(), 1, "left to the tool, which warns of it");
    }
}

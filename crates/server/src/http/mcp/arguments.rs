//! Prepares the arguments of a tool call before the tool parses them: names that clients of similar services use are
//! translated, misspelt names are refused, and texts become booleans, numbers and times where the tool's schema leaves no
//! doubt. The same holds for the objects of a list. Whatever is not understood stays as it was sent: the tool refuses such a
//! value, and warns of such a name.

use super::argument_types::coerce;
use dropleaf_core::{Error, Result, lookalike};
use serde_json::{Map, Value};

/// Longer names are not compared with the known ones.
const NAME_CHARACTERS: usize = 60;
/// Least similarity, from 0 to 1, at which a known name is suggested.
const SIMILAR: f64 = 0.55;

/// Arguments that a tool accepts without listing them: its input type has them.
const UNLISTED: [(&str, &str); 6] = [
    ("create_share_link", "expires_in_hours"),
    ("publish_html", "e2e"),
    ("create_upload", "e2e"),
    ("publish_html", "show_changes"),
    ("create_upload", "show_changes"),
    ("list_feedback", "include_resolved"),
];

/// Other names of arguments, for every tool that has the argument. The last three are those of the editing tools that many
/// agents have themselves.
const SYNONYMS: [(&str, &str); 11] = [
    ("id_or_slug", "site"),
    ("idOrSlug", "site"),
    ("site_id", "site"),
    ("public_slug", "slug"),
    ("allowed_email_domain", "email_gate_domain"),
    ("feedback_id", "id"),
    ("feedback_ids", "ids"),
    ("share_link_id", "token"),
    ("old_string", "find"),
    ("new_string", "replace"),
    ("replace_all", "all"),
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
    let mut arguments = prepare_object(tool, "", properties, sent)?;
    for (list, value) in &mut arguments {
        let items = properties.get(list).and_then(|schema| schema["items"]["properties"].as_object());
        let (Some(items), Value::Array(values)) = (items, value) else { continue };
        for (index, value) in values.iter_mut().enumerate() {
            if let Value::Object(item) = value {
                *item = prepare_object(tool, &format!("{list}[{index}]."), items, std::mem::take(item))?;
            }
        }
    }
    Ok(arguments)
}

/// One object; `place` stands before its names in errors.
fn prepare_object(
    tool: &str,
    place: &str,
    properties: &Map<String, Value>,
    sent: Map<String, Value>,
) -> Result<Map<String, Value>> {
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
            check_unknown(place, &name, properties)?;
            arguments.insert(name, value);
            continue;
        };
        coerce(meant, properties.get(meant), &mut value)?;
        match arguments.get(meant) {
            Some(given) if *given != value => {
                let name = format!("{place}{name}");
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
    // A tool that takes one comment may also take several.
    if name == "feedback_id" && value.is_array() && properties.contains_key("ids") {
        return Some("ids");
    }
    let of_tool = TOOL_SYNONYMS.iter().find(|(of, synonym, _)| *of == tool && *synonym == name);
    let of_all = SYNONYMS.iter().find(|(synonym, _)| *synonym == name);
    of_tool
        .map(|(_, _, meant)| *meant)
        .or_else(|| of_all.map(|(_, meant)| *meant))
        .filter(|meant| properties.contains_key(*meant))
}

/// Refuses an argument that the tool does not have if it looks like one that it has, or like a protection; in an object of a
/// list always, because the tool warns only of its own arguments.
fn check_unknown(place: &str, name: &str, properties: &Map<String, Value>) -> Result<()> {
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
    let shown = format!("{place}{shown}");
    match best {
        Some((score, known)) if score >= SIMILAR => {
            Err(Error::unknown_field(&shown, &format!("did you mean `{known}`?")))
        }
        _ if place.is_empty() => Ok(()),
        _ => {
            let names: Vec<_> = names.iter().map(|known| format!("`{known}`")).collect();
            Err(Error::unknown_field(&shown, &format!("there can be {}.", names.join(", "))))
        }
    }
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
        let other = json!({"enabled": true});
        assert_eq!(prepared("x", &other).unwrap(), other, "only where it can mean one thing");
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

    #[test]
    fn one_comment_or_several() {
        let all = json!({"id": {"type": "string"}, "ids": {"type": "array", "items": {"type": "string"}}});
        let prepared = |sent: Value| {
            let sent = sent.as_object().unwrap().clone();
            prepare("resolve_feedback", all.as_object().unwrap(), sent).map(Value::Object)
        };
        assert_eq!(prepared(json!({"feedback_id": "fb_a"})).unwrap(), json!({"id": "fb_a"}));
        for name in ["feedback_id", "feedback_ids"] {
            assert_eq!(prepared(json!({name: ["fb_a", "fb_b"]})).unwrap(), json!({"ids": ["fb_a", "fb_b"]}));
        }
    }

    #[test]
    fn objects_of_a_list_are_prepared_too() {
        let item =
            json!({"find": {"type": "string"}, "replace": {"type": "string"}, "all": {"type": "boolean"}});
        let all = json!({"edits": {"type": "array", "items": {"type": "object", "properties": item}}});
        let prepared = |edits: Value| {
            let sent = json!({ "edits": edits }).as_object().unwrap().clone();
            prepare("edit_site", all.as_object().unwrap(), sent).map(|mut done| done.remove("edits").unwrap())
        };
        let edit = json!([{"find": "a", "replace": "b", "all": true}]);
        assert_eq!(prepared(json!([{"find": "a", "replace": "b", "all": "true"}])).unwrap(), edit);
        assert_eq!(
            prepared(json!([{"old_string": "a", "new_string": "b", "replace_all": true}])).unwrap(),
            edit
        );
        assert_eq!(prepared(json!(edit.to_string())).unwrap(), edit, "a list that was sent as text");
        let error =
            prepared(json!([{"find": "a", "replace": "b"}, {"find": "a", "replce": "b"}])).unwrap_err();
        let says = "`edits[1].replce` is not a known field: did you mean `replace`?";
        assert!(error.detail.contains(says), "{}", error.detail);
        let error = prepared(json!([{"find": "a", "old_string": "b"}])).unwrap_err();
        assert!(error.detail.contains("`edits[0].old_string` conflicts with `find`"), "{}", error.detail);
        for same in [json!("a"), json!(["a"]), json!("{}"), json!("[1")] {
            assert_eq!(prepared(same.clone()).unwrap(), same, "left to the tool");
        }
    }
}

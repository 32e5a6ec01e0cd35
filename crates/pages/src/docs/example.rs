//! Examples: those in the document, and for a request body one generated from its schema.

use super::document::{Document, entries, list, reference, text};
use serde_json::{Map, Value, json};

const MAX_DEPTH: usize = 6;

/// The first example of a media type: its own, a named one, or its schema's.
pub(super) fn given<'a>(document: Document<'a>, media: &'a Value) -> Option<&'a Value> {
    let named = || all_named(document, media).map(|(_, value)| value).next();
    media.get("example").or_else(named).or_else(|| of_schema(document, media.get("schema")?))
}

/// The named examples of a media type, with their names.
pub(super) fn all_named<'a>(
    document: Document<'a>,
    media: &'a Value,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    entries(media, "examples")
        .filter_map(move |(name, example)| document.resolve(example).get("value").map(|value| (name, value)))
}

fn of_schema<'a>(document: Document<'a>, schema: &'a Value) -> Option<&'a Value> {
    let inner = document.resolve(schema);
    let own = |schema: &'a Value| schema.get("example").or_else(|| list(schema, "examples").first());
    own(schema).or_else(|| own(inner))
}

/// A body that matches the schema: its required fields, and those with an example.
pub(super) fn made_up(document: Document<'_>, schema: &Value) -> Value {
    value(document, schema, &mut Vec::new(), 0)
}

fn value<'a>(document: Document<'a>, schema: &'a Value, open: &mut Vec<&'a str>, depth: usize) -> Value {
    let name = reference(schema);
    if depth > MAX_DEPTH || name.is_some_and(|name| open.contains(&name)) {
        return Value::Null;
    }
    if let Some(example) = of_schema(document, schema) {
        return example.clone();
    }
    open.extend(name);
    let found = invented(document, document.resolve(schema), open, depth);
    if name.is_some() {
        open.pop();
    }
    found
}

fn invented<'a>(document: Document<'a>, schema: &'a Value, open: &mut Vec<&'a str>, depth: usize) -> Value {
    let fixed =
        schema.get("const").or_else(|| schema.get("default")).or_else(|| list(schema, "enum").first());
    if let Some(fixed) = fixed {
        return fixed.clone();
    }
    let choices = ["oneOf", "anyOf"].into_iter().flat_map(|choice| list(schema, choice));
    if let Some(choice) = choices.into_iter().find(|inner| text(inner, "type") != "null") {
        return value(document, choice, open, depth + 1);
    }
    let mut object = Map::new();
    for part in list(schema, "allOf") {
        if let Value::Object(fields) = value(document, part, open, depth + 1) {
            object.extend(fields);
        }
    }
    for (name, inner) in entries(schema, "properties") {
        let required = list(schema, "required").iter().any(|required| required == name);
        if required || of_schema(document, inner).is_some() {
            object.insert(name.to_owned(), value(document, inner, open, depth + 1));
        }
    }
    if !object.is_empty() {
        return Value::Object(object);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        other => other.and_then(Value::as_str),
    };
    match kind {
        Some("string") => json!("…"),
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(true),
        Some("array") => {
            let item = schema.get("items").map(|items| value(document, items, open, depth + 1));
            Value::Array(item.into_iter().filter(|item| !item.is_null()).collect())
        }
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

/// The displayed text of an example: JSON indented, text as it is.
pub(super) fn shown(example: &Value) -> String {
    match example {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_example_is_found_wherever_the_document_keeps_it() {
        let root = json!({"components": {"schemas": {"A": {"type": "object", "examples": [{"a": 4}]}}}});
        let document = Document { root: &root };
        for (media, found) in [
            (json!({"example": {"a": 1}}), json!({"a": 1})),
            (json!({"examples": {"one": {"value": {"a": 2}}}}), json!({"a": 2})),
            (json!({"schema": {"type": "object", "example": {"a": 3}}}), json!({"a": 3})),
            (json!({"schema": {"$ref": "#/components/schemas/A"}}), json!({"a": 4})),
        ] {
            assert_eq!(given(document, &media), Some(&found));
        }
        assert_eq!(given(document, &json!({})), None);
    }

    #[test]
    fn a_made_up_body_holds_what_the_schema_requires() {
        let root = json!({"components": {"schemas": {"Tree": {"type": "object", "required": ["name", "next"],
            "properties": {"name": {"type": "string", "example": "oak"}, "next": {"$ref": "#/components/schemas/Tree"},
                "skipped": {"type": "string"}, "shown": {"type": ["integer", "null"], "example": 7}}}}}});
        let made = made_up(Document { root: &root }, &json!({"$ref": "#/components/schemas/Tree"}));
        assert_eq!(made, json!({"name": "oak", "next": null, "shown": 7}));
        let list = json!({"type": "array", "items": {"type": "boolean"}});
        assert_eq!(made_up(Document { root: &root }, &list), json!([true]));
    }
}

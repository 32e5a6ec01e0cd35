//! Converts the API's OpenAPI schemas to JSON Schema, so that types are described once for OpenAPI and MCP. Keywords of
//! OpenAPI are removed, because strict clients refuse those they do not know.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use utoipa::ToSchema;

const COMPONENTS: &str = "#/components/schemas/";
const DEFINITIONS: &str = "#/$defs/";
/// Keywords of OpenAPI that JSON Schema does not have, and examples, which only cost the model tokens.
const FOREIGN: [&str; 6] = ["example", "examples", "nullable", "discriminator", "xml", "externalDocs"];
/// Formats that JSON Schema defines; OpenAPI's number formats are not among them.
const FORMATS: [&str; 4] = ["uri", "date-time", "email", "hostname"];

/// A self-contained schema of the type: what it refers to is in `$defs`.
pub(super) fn of<T: ToSchema>() -> JsonObject {
    let mut schema = object(serde_json::to_value(T::schema()));
    tidy(&mut schema);
    let mut found = Vec::new();
    T::schemas(&mut found);
    let mut known = Map::new();
    for (name, definition) in found {
        let mut definition = object(serde_json::to_value(definition));
        tidy(&mut definition);
        known.insert(name, Value::Object(definition));
    }
    let mut needed = BTreeSet::new();
    references(&Value::Object(schema.clone()), &known, &mut needed);
    known.retain(|name, _| needed.contains(name));
    if !known.is_empty() {
        schema.insert("$defs".into(), Value::Object(known));
    }
    schema
}

/// The properties of both types in one schema.
pub(super) fn both<T: ToSchema, U: ToSchema>() -> JsonObject {
    let (mut schema, more) = (of::<T>(), of::<U>());
    for word in ["properties", "$defs"] {
        if let Some(Value::Object(more)) = more.get(word) {
            let all = schema.entry(word).or_insert_with(|| json!({}));
            if let Value::Object(all) = all {
                all.extend(more.clone());
            }
        }
    }
    schema
}

/// The schema of a tool's result: the type's schema with its name in OpenAPI, and the warnings any result may have.
pub(super) fn output<T: ToSchema>() -> JsonObject {
    let mut schema = of::<T>();
    schema.insert("title".into(), T::name().into());
    let warnings = json!({
        "type": "array", "items": {"type": "string"},
        "description": "What was ignored or changed, or looks like a mistake.",
    });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.entry("warnings").or_insert(warnings);
    }
    schema
}

/// The schema for no arguments.
pub(super) fn nothing() -> JsonObject {
    object(Ok(json!({"type": "object", "additionalProperties": false})))
}

fn object(value: serde_json::Result<Value>) -> JsonObject {
    match value {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

/// Cleans a schema recursively, without touching the names of its properties, which may be any word.
fn tidy(schema: &mut JsonObject) {
    schema.retain(|word, _| !FOREIGN.contains(&word.as_str()));
    if let Some(Value::String(target)) = schema.get_mut("$ref")
        && let Some(name) = target.strip_prefix(COMPONENTS)
    {
        *target = format!("{DEFINITIONS}{name}");
    }
    if schema.get("format").is_some_and(|format| !FORMATS.iter().any(|known| format == known)) {
        schema.remove("format");
    }
    part_types(schema);
    for (word, value) in schema.iter_mut() {
        match (word.as_str(), value) {
            ("properties", Value::Object(named)) => {
                named.values_mut().filter_map(Value::as_object_mut).for_each(tidy);
            }
            ("items" | "additionalProperties" | "not", Value::Object(inner)) => tidy(inner),
            ("oneOf" | "anyOf" | "allOf", Value::Array(inner)) => {
                inner.iter_mut().filter_map(Value::as_object_mut).for_each(tidy);
            }
            _ => {}
        }
    }
}

/// Turns a list of types into branches with one type each: some clients read only the first type, or refuse the tool.
/// Annotations stay on the outer schema; constraints go to each branch.
fn part_types(schema: &mut JsonObject) {
    let Some(Value::Array(types)) = schema.get("type").cloned() else { return };
    schema.remove("type");
    let (annotations, constraints) = std::mem::take(schema)
        .into_iter()
        .partition::<JsonObject, _>(|(word, _)| ["description", "default"].contains(&word.as_str()));
    let branch = |name: Value| {
        let mut branch = if name == "null" { JsonObject::new() } else { constraints.clone() };
        branch.insert("type".into(), name);
        Value::Object(branch)
    };
    *schema = annotations;
    schema.insert("anyOf".into(), types.into_iter().map(branch).collect());
}

/// Collects every definition that a schema needs, directly or indirectly.
fn references(value: &Value, known: &Map<String, Value>, needed: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get("$ref")
                && let Some(name) = target.strip_prefix(DEFINITIONS)
                && needed.insert(name.to_owned())
                && let Some(definition) = known.get(name)
            {
                references(definition, known, needed);
            }
            object.values().for_each(|inner| references(inner, known, needed));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, known, needed)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::api::{SiteJson, SiteListJson};

    #[test]
    fn a_schema_carries_what_it_refers_to_and_nothing_of_openapi() {
        let schema = Value::Object(of::<SiteListJson>());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["sites"]["items"]["$ref"], "#/$defs/SiteJson");
        assert_eq!(schema["$defs"]["SiteJson"]["properties"]["byte_size"]["type"], "integer");
        assert!(schema["$defs"]["EmailGateJson"].is_object());
        let text = schema.to_string();
        for foreign in ["components", "\"example\"", "int64", "nullable"] {
            assert!(!text.contains(foreign), "{foreign} in {text}");
        }
    }

    #[test]
    fn a_list_of_types_becomes_branches_with_one_each() {
        let schema = Value::Object(of::<SiteJson>());
        let expiry = &schema["properties"]["expires_at"];
        assert_eq!(expiry["anyOf"], json!([{"type": "integer"}, {"type": "null"}]));
        assert!(!schema.to_string().contains("\"type\":["), "{schema}");
    }

    #[test]
    fn any_answer_may_warn() {
        assert_eq!(output::<SiteListJson>()["properties"]["warnings"]["type"], "array");
        assert_eq!(
            output::<SiteJson>()["properties"]["warnings"],
            of::<SiteJson>()["properties"]["warnings"]
        );
    }
}

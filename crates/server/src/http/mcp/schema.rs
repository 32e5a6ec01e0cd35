//! The schemas of the API as JSON Schema: what tools take and give is described once, for OpenAPI and for MCP.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

const COMPONENTS: &str = "#/components/schemas/";

/// A type's schema on its own feet: what it refers to comes along in `$defs`.
pub(super) fn of<T: ToSchema>() -> JsonObject {
    let mut schema = object(serde_json::to_value(T::schema()));
    let mut found = Vec::new();
    T::schemas(&mut found);
    let mut definitions = Map::new();
    for (name, definition) in found {
        definitions.insert(name, Value::Object(object(serde_json::to_value(definition))));
    }
    if !definitions.is_empty() {
        schema.insert("$defs".into(), Value::Object(definitions));
    }
    let mut schema = Value::Object(schema);
    tidy(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Whether an object's schema knows the property.
pub(super) fn has(schema: &JsonObject, property: &str) -> bool {
    schema.get("properties").is_some_and(|properties| properties.get(property).is_some())
}

/// Adds an optional count to an object's schema.
pub(super) fn add(schema: &mut JsonObject, property: &str, description: &str) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let count = json!({"type": "integer", "minimum": 0, "description": description});
        properties.insert(property.into(), count);
    }
}

fn object(value: serde_json::Result<Value>) -> JsonObject {
    match value {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

/// References point into `$defs`. Formats of numbers are OpenAPI's, and validators warn of them; examples only cost the
/// reader's attention.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get_mut("$ref")
                && let Some(name) = target.strip_prefix(COMPONENTS)
            {
                *target = format!("#/$defs/{name}");
            }
            if object
                .get("format")
                .is_some_and(|format| matches!(format.as_str(), Some("int32" | "int64" | "double")))
            {
                object.remove("format");
            }
            if object.contains_key("type") || object.contains_key("$ref") {
                object.remove("example");
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

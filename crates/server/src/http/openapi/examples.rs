//! Adds examples to every request body and success response, with the addresses of the server that serves the document.

use serde_json::{Map, Value};

/// The address used in examples: the default of `base_url` and of `site_url`.
const WRITTEN: &str = "http://localhost:8080";
const PAGE: &str = "<!doctype html>\n<title>Weekly report</title>\n<p>All is well.</p>\n";
/// Maximum depth of references between schemas.
const MAX_DEPTH: usize = 8;

/// Copies the example of each body's type to the body, where tools look for it.
pub(super) fn lift(document: &mut Value) {
    let schemas = document["components"]["schemas"].take();
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let operations = paths.filter_map(|(_, item)| item.as_object_mut()).flatten();
    for (_, operation) in operations {
        if let Some(content) = operation.pointer_mut("/requestBody/content") {
            fill(&schemas, content);
        }
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            if let Some(content) = response.get_mut("content").filter(|_| is_shown(status)) {
                fill(&schemas, content);
            }
        }
    }
    document["components"]["schemas"] = schemas;
}

/// Responses with examples: successes, and the terms of a payment. Examples of errors come with their codes.
fn is_shown(status: &str) -> bool {
    status.starts_with('2') || status == "402"
}

fn fill(schemas: &Value, content: &mut Value) {
    for (kind, media) in content.as_object_mut().into_iter().flatten() {
        if media.get("example").is_some() || media.get("examples").is_some() {
            continue;
        }
        let example = plain(kind).map_or_else(|| of(schemas, &media["schema"], 0), |text| Some(text.into()));
        if let (Some(example), Some(media)) = (example, media.as_object_mut()) {
            media.insert("example".to_owned(), example);
        }
    }
}

/// The example of a body that is not JSON.
fn plain(kind: &str) -> Option<&'static str> {
    match kind {
        "text/html" | "application/octet-stream" => Some(PAGE),
        "text/markdown" => Some("# Weekly report\n\nAll is well.\n"),
        "text/plain" => Some("# dropleaf\n\nPrivate hosting for pages made by software agents.\n"),
        "text/event-stream" => Some("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"),
        "text/css" => Some("body { margin: 2rem }\n"),
        "text/javascript" => Some("document.title = 'Weekly report';\n"),
        "text/csv" => Some("name,count\nleaf,3\n"),
        "text/tab-separated-values" => Some("name\tcount\nleaf\t3\n"),
        "application/pdf" => Some("%PDF-1.7 …"),
        "application/zip" => Some("PK…"),
        "image/svg+xml" => Some("<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>"),
        kind if kind.starts_with("image/") => Some("…"),
        _ => None,
    }
}

/// The example of a schema: its own, that of the schema it refers to, or one composed from its members.
fn of(schemas: &Value, schema: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let deeper = |schema: &Value| of(schemas, schema, depth + 1);
    if let Some(example) = schema.get("example") {
        return Some(example.clone());
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.rsplit('/').next()) {
        return deeper(&schemas[name]);
    }
    if let Some(items) = schema.get("items") {
        return Some(deeper(items).into_iter().collect());
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(found) = schema[choice].as_array().and_then(|all| all.iter().find_map(deeper)) {
            return Some(found);
        }
    }
    let properties = schema["properties"].as_object()?;
    let members: Map<_, _> =
        properties.iter().filter_map(|(name, inner)| Some((name.clone(), deeper(inner)?))).collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// Replaces the example addresses with those of this server: pages are at `site_url`, everything else at `base_url`.
pub(super) fn relocate(document: &mut Value, base_url: &str, site_url: &str) {
    match document {
        Value::String(text) => {
            let mut parts = text.split(WRITTEN);
            let mut moved = parts.next().unwrap_or_default().to_owned();
            for rest in parts {
                moved.push_str(if rest.starts_with("/p/") { site_url } else { base_url });
                moved.push_str(rest);
            }
            *text = moved;
        }
        Value::Object(map) => map.values_mut().for_each(|value| relocate(value, base_url, site_url)),
        Value::Array(list) => list.iter_mut().for_each(|value| relocate(value, base_url, site_url)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_example_is_found_in_the_type_or_put_together_from_its_members() {
        let schemas = json!({
            "One": {"type": "object", "example": {"id": "a"}},
            "Many": {"properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/One"}}, "more": {"type": "boolean"}}},
            "Loop": {"properties": {"next": {"$ref": "#/components/schemas/Loop"}}},
        });
        let example = |name: &str| of(&schemas, &json!({"$ref": format!("#/components/schemas/{name}")}), 0);
        assert_eq!(example("One"), Some(json!({"id": "a"})));
        assert_eq!(example("Many"), Some(json!({"items": [{"id": "a"}]})));
        assert_eq!(example("Loop"), None);
    }

    #[test]
    fn addresses_of_pages_and_of_the_api_are_written_apart() {
        let mut document =
            json!({"a": [format!("see {WRITTEN}/docs and {WRITTEN}/p/x/"), 1], "b": "no address"});
        relocate(&mut document, "https://api.example", WRITTEN);
        assert_eq!(
            document,
            json!({"a": ["see https://api.example/docs and http://localhost:8080/p/x/", 1], "b": "no address"})
        );
    }
}

//! Schemas as utoipa generates them, and malformed ones.

use super::*;
use serde_json::json;

fn names(root: &Value, schema: &Value) -> Vec<String> {
    fields(Document { root }, schema)
        .into_iter()
        .map(|field| format!("{}: {}", field.name, field.kind))
        .collect()
}

#[test]
fn types_have_short_names() {
    let root = json!({});
    let document = Document { root: &root };
    for (schema, name) in [
        (json!({"type": "string"}), "string"),
        (json!({"type": ["null", "integer"], "format": "int64"}), "integer or null"),
        (json!({"type": "string", "format": "uri"}), "string (uri)"),
        (json!({"type": "string", "format": "binary"}), "file"),
        (json!({"type": "array", "items": {"$ref": "#/components/schemas/Site"}}), "array of Site"),
        (json!({"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Gate"}]}), "Gate or null"),
        (json!({"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "number"}]}), "string or number"),
        (json!({"allOf": [{"$ref": "#/x/Gate"}]}), "Gate"),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), "map of integer"),
        (json!({"enum": ["a", "b"]}), "string"),
        (json!({"const": "never"}), "\"never\""),
        (json!(true), "any"),
        (json!(null), "any"),
    ] {
        assert_eq!(kind(document, &schema), name, "{schema}");
    }
}

#[test]
fn nested_fields_are_listed_under_their_path() {
    let root = json!({"components": {"schemas": {
        "Gate": {"type": "object", "required": ["domain"], "properties": {"domain": {"type": "string"}}},
        "Site": {"allOf": [
            {"type": "object", "properties": {"id": {"type": "string"}}},
            {"type": "object", "properties": {"gate": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Gate"}]}}}
        ]}
    }}});
    let list = json!({"type": "object", "properties": {
        "sites": {"type": "array", "items": {"$ref": "#/components/schemas/Site"}},
        "extra": {"type": "object", "additionalProperties": {"type": "integer"}}
    }});
    let mut seen = names(&root, &list);
    seen.sort();
    assert_eq!(
        seen,
        [
            "extra.<any key>: integer",
            "extra: map of integer",
            "sites: array of Site",
            "sites[].gate.domain: string",
            "sites[].gate: Gate or null",
            "sites[].id: string",
        ]
    );
}

#[test]
fn an_array_at_the_top_lists_its_items() {
    let schema =
        json!({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}});
    assert_eq!(names(&json!({}), &schema), ["[].id: string"]);
}

#[test]
fn choices_say_which_they_are() {
    let root = json!({"components": {"schemas": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}}});
    let schema = json!({"oneOf": [
        {"$ref": "#/components/schemas/A"},
        {"title": "Plain", "type": "string"},
        {"type": "object", "properties": {"b": {"type": "integer"}}}
    ]});
    assert_eq!(names(&root, &schema), ["(A).a: string", "(Plain): string", "(3).b: integer"]);
}

#[test]
fn a_type_that_holds_itself_ends() {
    let root = json!({"components": {"schemas": {"Tree": {"type": "object", "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}
    }}}}});
    let mut seen = names(&root, &json!({"$ref": "#/components/schemas/Tree"}));
    seen.sort();
    assert_eq!(seen, ["children: array of Tree", "name: string"]);
}

#[test]
fn limits_enums_and_defaults_are_said() {
    let root = json!({"e": {"type": "string", "enum": ["unlisted", "public", null]}});
    let document = Document { root: &root };
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 500, "default": 200, "description": "How `many`."});
    let field = Field::new(document, "limit".into(), &limit, false);
    assert_eq!((field.limits, field.default.as_deref()), (vec!["1 to 500".to_owned()], Some("200")));
    assert!(!field.about.is_empty());
    let choice = json!({"oneOf": [{"type": "null"}, {"$ref": "#/e"}]});
    assert_eq!(Field::new(document, "v".into(), &choice, false).allowed, ["unlisted", "public"]);
    let slug = json!({"type": "string", "minLength": 3, "pattern": "^[a-z]+$"});
    let field = Field::new(document, "slug".into(), &slug, true);
    assert_eq!(field.limits, ["At least 3 characters", "Matches ^[a-z]+$"]);
}

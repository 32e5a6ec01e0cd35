//! The whole reference page, rendered from a realistic document and from hostile ones.

use super::super::tests::{HOSTILE, assert_sound};
use super::*;
use serde_json::json;

fn example() -> Value {
    serde_json::from_str(include_str!("example_openapi.json")).unwrap()
}

/// Replaces every string of the document that is not a name the page looks things up by.
fn poison(value: &mut Value) {
    match value {
        Value::String(text) if !text.starts_with("#/") => HOSTILE.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => {
            for (key, inner) in fields {
                if !matches!(key.as_str(), "in" | "type" | "scheme" | "format") {
                    poison(inner);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn a_realistic_document_is_shown_whole() {
    let page = docs(&example(), "http://localhost:8080/");
    assert_sound(&page);
    for text in [
        "<h2 id=\"tag-sites\">Sites</h2>",
        "id=\"create-site\"",
        "Publish a page",
        "-F file=@page.html \\\n  -F expires_in_hours=2 \\\n  http://localhost:8080/sites",
        "curl -X DELETE",
        "sites[].email_gate.domain",
        "next.&#60;any key&#62;.url",
        "<code>not_multipart</code>",
        "<code>too_large</code>",
        "<code>sites:write</code>",
        "no credential",
        "Expiry or null",
        "3 to 63 characters",
        "&#34;claim_token&#34;: &#34;clm_…&#34;",
        "&#60;title&#62;Weekly report",
        "Other",
    ] {
        assert!(page.html.contains(text), "missing: {text}");
    }
    assert!(!page.html.contains("Never used"), "a tag without operations is left out");
}

#[test]
fn every_anchor_that_is_linked_exists_once() {
    let html = docs(&example(), "http://localhost:8080").html;
    for link in html.split("href=\"#").skip(1) {
        let anchor = link.split('"').next().unwrap();
        assert_eq!(html.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
    }
}

#[test]
fn operations_of_one_name_get_anchors_of_their_own() {
    let same = json!({"operationId": "x", "responses": {}});
    let document = json!({"paths": {"/a": {"get": same, "post": same}, "/b": {"get": same}}});
    let html = docs(&document, "http://x").html;
    for anchor in ["id=\"x\"", "id=\"x-2\"", "id=\"x-2-2\""] {
        assert_eq!(html.matches(anchor).count(), 1, "{anchor}");
    }
}

#[test]
fn hostile_text_stays_text_wherever_the_document_has_text() {
    let mut document = example();
    poison(&mut document);
    assert_sound(&docs(&document, HOSTILE));
    let named = json!({"paths": {HOSTILE: {"get": {"tags": [HOSTILE], "parameters": [{"name": HOSTILE, "in": HOSTILE}],
        "requestBody": {"content": {HOSTILE: {"schema": {"properties": {HOSTILE: {"$ref": HOSTILE}}}}}},
        "responses": {HOSTILE: {"description": "a `<script>` b"}}}}},
        "components": {"schemas": {HOSTILE: {"type": HOSTILE}}, "securitySchemes": {HOSTILE: {"type": HOSTILE}}}});
    let page = docs(&named, "http://x");
    assert_sound(&page);
    assert!(page.html.contains("<code>&#60;script&#62;</code>"));
}

#[test]
fn documents_of_any_shape_are_survived() {
    for document in [
        json!(null),
        json!([]),
        json!({"info": 1, "paths": [], "tags": {}, "components": 7, "security": "x"}),
        json!({"paths": {"/a": {"get": {"parameters": [{"$ref": "#/nowhere"}, 3], "requestBody": {"$ref": "#/paths/~1a/get/requestBody"},
            "responses": {"200": {"$ref": "#/gone"}, "default": null}, "security": [1, {"x": "y"}], "tags": [4]}}, "/b": 4}}),
        json!({"components": {"schemas": {"A": {"$ref": "#/components/schemas/A"}, "B": true, "C": {"allOf": [{"$ref": "#/components/schemas/C"}]},
            "D": {"items": {"$ref": "#/components/schemas/D"}}, "E": {"type": [1, null]}}}}),
    ] {
        assert_sound(&docs(&document, ""));
    }
}

//! Tests of the whole table: it is complete, its schemas suit strict clients, and the documentation lists the same
//! tools.

use super::*;
use serde_json::Value;
use std::fmt::Write as _;

/// Every schema of a tool, with its location.
fn schemas() -> impl Iterator<Item = (String, Value)> {
    TOOLS.iter().flat_map(|tool| {
        [("takes", tool.input), ("gives", tool.output)]
            .map(|(which, schema)| (format!("{} {which}", tool.name), Value::Object(schema())))
    })
}

/// Visits every nested schema.
fn walk(schema: &Value, seen: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    seen(object);
    for (word, value) in object {
        let inner: Vec<&Value> = match (word.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => named.values().collect(),
            ("items", inner) => vec![inner],
            ("oneOf" | "anyOf" | "allOf", Value::Array(inner)) => inner.iter().collect(),
            _ => Vec::new(),
        };
        for schema in inner {
            walk(schema, seen);
        }
    }
}

#[test]
fn every_tool_is_there_once() {
    assert_eq!(TOOLS.len(), 33);
    let names: std::collections::BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), TOOLS.len());
}

#[test]
fn schemas_use_words_that_strict_clients_know() {
    const WORDS: [&str; 17] = [
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxLength",
        "maximum",
        "minimum",
        "oneOf",
        "properties",
        "required",
        "title",
        "type",
        "minLength",
    ];
    for (of, schema) in schemas() {
        assert_eq!(schema["type"], "object", "{of}");
        walk(&schema, &mut |object| {
            for word in object.keys() {
                assert!(WORDS.contains(&word.as_str()), "{of}: {word} in {object:?}");
            }
            if let Some(Value::String(target)) = object.get("$ref") {
                let name = target.strip_prefix("#/$defs/").unwrap_or_else(|| panic!("{of}: {target}"));
                assert!(schema["$defs"][name].is_object(), "{of}: {target} leads nowhere");
            }
        });
    }
}

#[test]
fn arguments_are_plain_and_described() {
    for tool in TOOLS {
        let schema = Value::Object((tool.input)());
        assert!(schema.get("$defs").is_none(), "{}: {schema}", tool.name);
        for top in ["oneOf", "anyOf", "allOf"] {
            assert!(schema.get(top).is_none(), "{}: models take no {top} at the top", tool.name);
        }
        let Some(properties) = schema["properties"].as_object() else {
            assert_eq!(schema, serde_json::json!({"type": "object", "additionalProperties": false}));
            continue;
        };
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{}: {name} is not described", tool.name);
            let mut null = false;
            walk(property, &mut |object| null |= object.get("type").is_some_and(|kind| kind == "null"));
            let clears = ["password", "email_gate_domain"].contains(&name.as_str());
            let may = name == "expires_in_hours" || (clears && tool.name.starts_with("set_"));
            assert_eq!(null, may, "{}: whether {name} may be null", tool.name);
        }
    }
}

/// Largest size of the list, as a client receives it: about 6,000 tokens of 4 bytes.
const LIST_BYTES: usize = 24_000;

#[test]
fn the_list_costs_few_tokens() {
    // The longest form, as a client that shows cards receives it.
    let mut result = rmcp::model::ListToolsResult::with_all_items(list());
    crate::http::mcp::page_card::link(&mut result.tools);
    result.ttl_ms = Some(crate::http::mcp::FIXED_MS);
    result.cache_scope = Some(rmcp::model::CacheScope::Private);
    for tool in &result.tools {
        println!("{:>6} {}", serde_json::to_vec(tool).unwrap().len(), tool.name);
    }
    let bytes = serde_json::to_vec(&result).unwrap().len();
    println!("{bytes:>6} bytes in total, {LIST_BYTES} at most");
    assert!(bytes <= LIST_BYTES, "the list has {bytes} bytes, {LIST_BYTES} at most: shorten descriptions");
}

#[test]
fn openapi_says_what_each_tool_returns() {
    let document: Value = serde_json::from_str(&crate::http::openapi::text()).unwrap();
    let returned = &document["paths"]["/mcp"]["post"]["x-mcp-tools"];
    for tool in TOOLS {
        let target = returned[tool.name]["$ref"].as_str().unwrap_or_else(|| panic!("{}", tool.name));
        let found = document.pointer(target.strip_prefix('#').unwrap());
        assert!(found.is_some_and(|schema| schema["type"] == "object"), "{}: {target}", tool.name);
    }
}

#[test]
fn hints_agree_with_scopes() {
    for tool in TOOLS {
        assert_eq!(tool.hints.read_only, tool.needs == Scope::Read, "{}", tool.name);
        assert!(!(tool.hints.read_only && tool.hints.destructive), "{}", tool.name);
        assert!(tool.description.len() < 600 && tool.title.len() < 40, "{}", tool.name);
    }
}

#[test]
fn the_documentation_has_the_same_table() {
    let mut table = String::from("| Tool | | Scope | Hints |\n|---|---|---|---|\n");
    for tool in TOOLS {
        let Hints { read_only, destructive, idempotent, open_world } = tool.hints;
        let hints = [
            (read_only, "reads only"),
            (destructive, "destructive"),
            (idempotent, "idempotent"),
            (open_world, "open world"),
        ];
        let hints: Vec<_> = hints.into_iter().filter_map(|(is, word)| is.then_some(word)).collect();
        let (name, title, scope) = (tool.name, tool.title, tool.needs.as_str());
        writeln!(table, "| `{name}` | {title} | `{scope}` | {} |", hints.join(", ")).unwrap();
    }
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md")).unwrap();
    assert!(page.contains(&table), "docs/mcp.md should have this table:\n{table}");
}

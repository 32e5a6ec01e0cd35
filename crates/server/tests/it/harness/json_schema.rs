//! A validator for the part of JSON Schema that our schemas use. An unknown keyword is an error: otherwise the schema
//! would state something that is not checked.

use serde_json::Value;

/// Validates a value.
pub(crate) fn check(root: &Value, value: &Value) -> Result<(), String> {
    at(root, root, value, "$")
}

/// The same for a schema of an OpenAPI document, where schemas have examples.
pub(crate) fn check_in(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    at(document, schema, value, "$")
}

fn at(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let words = schema.as_object().ok_or_else(|| format!("{place}: {schema} is no schema"))?;
    for (word, says) in words {
        let good = match word.as_str() {
            "description" | "title" | "$defs" | "$schema" => true,
            "format" if says == "uri" => {
                value.as_str().is_none_or(|address| reqwest::Url::parse(address).is_ok())
            }
            "example" | "contentMediaType" | "format" if root.get("openapi").is_some() => true,
            // Our patterns are only alternatives of fixed words.
            "pattern" => value.as_str().is_none_or(|text| {
                let words = says.as_str().and_then(|says| says.strip_prefix("^(")?.strip_suffix(")$"));
                words.is_some_and(|words| words.split('|').any(|word| word == text))
            }),
            "$ref" => {
                let path = says.as_str().and_then(|target| target.strip_prefix('#')).unwrap_or("?");
                let target = root.pointer(path).ok_or_else(|| format!("{place}: {says} leads nowhere"))?;
                return at(root, target, value, place);
            }
            "type" => match says {
                Value::Array(kinds) => kinds.iter().any(|kind| is(value, kind)),
                kind => is(value, kind),
            },
            "const" => says == value,
            "enum" => says.as_array().is_some_and(|all| all.contains(value)),
            "minimum" => value.as_f64().is_none_or(|n| says.as_f64().is_some_and(|least| n >= least)),
            "maximum" => value.as_f64().is_none_or(|n| says.as_f64().is_some_and(|most| n <= most)),
            "maxLength" => value
                .as_str()
                .is_none_or(|text| says.as_u64().is_some_and(|most| text.chars().count() as u64 <= most)),
            "minItems" => value
                .as_array()
                .is_none_or(|items| says.as_u64().is_some_and(|least| items.len() as u64 >= least)),
            "required" => value.as_object().is_none_or(|object| {
                says.as_array().is_some_and(|names| {
                    names.iter().all(|name| name.as_str().is_some_and(|name| object.contains_key(name)))
                })
            }),
            "properties" => {
                for (name, inner) in says.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        at(root, inner, value, &format!("{place}.{name}"))?;
                    }
                }
                true
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    at(root, says, item, &format!("{place}[{n}]"))?;
                }
                true
            }
            "oneOf" => count(root, says, value, place) == 1,
            "anyOf" => count(root, says, value, place) >= 1,
            "additionalProperties" if *says == Value::Bool(false) => value.as_object().is_none_or(|object| {
                object
                    .keys()
                    .all(|name| words.get("properties").is_some_and(|known| known.get(name).is_some()))
            }),
            other => return Err(format!("{place}: the word {other} is not known")),
        };
        if !good {
            return Err(format!("{place}: {value} breaks {word}: {says}"));
        }
    }
    Ok(())
}

fn count(root: &Value, schemas: &Value, value: &Value, place: &str) -> usize {
    let schemas = schemas.as_array().into_iter().flatten();
    schemas.filter(|schema| at(root, schema, value, place).is_ok()).count()
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

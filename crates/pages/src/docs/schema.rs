//! Renders a JSON schema: a short name for its type, and its fields as one flat list.

use super::super::prose::Prose;
use super::document::{Document, entries, flag, list, plain, reference, reference_name, text};
use serde_json::Value;

/// Deeper nesting is cut off; the list of types has the rest.
const MAX_DEPTH: usize = 5;

#[derive(Debug)]
pub(super) struct Field<'a> {
    /// The path to the field: `sites[].email_gate.domain`.
    pub(super) name: String,
    pub(super) kind: String,
    /// The anchor of `kind` in the list of types.
    pub(super) anchor: Option<String>,
    pub(super) required: bool,
    pub(super) deprecated: bool,
    pub(super) about: Prose<'a>,
    pub(super) allowed: Vec<String>,
    pub(super) default: Option<String>,
    pub(super) limits: Vec<String>,
}

impl<'a> Field<'a> {
    pub(super) fn new(document: Document<'a>, name: String, schema: &'a Value, required: bool) -> Self {
        let inner = document.resolve(schema);
        let whole = content(document, inner);
        let about = [text(schema, "description"), text(inner, "description"), text(whole, "description")];
        Self {
            name,
            kind: kind(document, schema),
            anchor: type_name(schema).and_then(|name| document.type_anchor(name)),
            required,
            deprecated: flag(schema, "deprecated") || flag(inner, "deprecated"),
            about: Prose::parse(about.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()),
            allowed: list(whole, "enum").iter().filter(|value| !value.is_null()).map(plain).collect(),
            default: [schema, inner].iter().find_map(|value| value.get("default")).map(plain),
            limits: limits(whole),
        }
    }

    /// Whether there is more to show than the description.
    pub(super) fn has_facts(&self) -> bool {
        !self.allowed.is_empty() || self.default.is_some() || !self.limits.is_empty()
    }
}

/// A short name for the type: `string`, `integer or null`, `array of Site`.
pub(super) fn kind(document: Document<'_>, schema: &Value) -> String {
    if let Some(name) = reference_name(schema) {
        return name.to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for choice in ["oneOf", "anyOf"] {
        if !list(schema, choice).is_empty() {
            return joined(list(schema, choice).iter().map(|inner| kind(document, inner)));
        }
    }
    if let [only] = list(schema, "allOf") {
        return kind(document, only);
    }
    match schema.get("type") {
        Some(Value::String(name)) => typed(document, schema, name),
        Some(Value::Array(names)) => {
            joined(names.iter().filter_map(Value::as_str).map(|name| typed(document, schema, name)))
        }
        _ if schema.get("properties").is_some() || schema.get("allOf").is_some() => "object".to_owned(),
        _ if !list(schema, "enum").is_empty() => "string".to_owned(),
        _ => "any".to_owned(),
    }
}

fn typed(document: Document<'_>, schema: &Value, name: &str) -> String {
    match (name, text(schema, "format")) {
        ("array", _) => match schema.get("items") {
            Some(items) => format!("array of {}", kind(document, items)),
            None => "array".to_owned(),
        },
        ("object", _) => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) if schema.get("properties").is_none() => {
                format!("map of {}", kind(document, values))
            }
            _ => "object".to_owned(),
        },
        ("string", _) if is_file(schema) => "file".to_owned(),
        ("string", format) if !format.is_empty() => format!("string ({format})"),
        _ => name.to_owned(),
    }
}

/// Bytes rather than text, in either notation of the specification.
pub(super) fn is_file(schema: &Value) -> bool {
    text(schema, "format") == "binary" || schema.get("contentMediaType").is_some()
}

/// `a or b`, each once, `null` last.
fn joined(kinds: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for kind in kinds {
        if !seen.contains(&kind) {
            seen.push(kind);
        }
    }
    seen.sort_by_key(|kind| kind == "null");
    seen.join(" or ")
}

/// The one named type inside a schema, also within arrays and nullable choices.
pub(super) fn type_name(schema: &Value) -> Option<&str> {
    let mut names = Vec::new();
    collect_names(schema, &mut names, 0);
    if let [only] = names.as_slice() { Some(only) } else { None }
}

fn collect_names<'a>(schema: &'a Value, names: &mut Vec<&'a str>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    names.extend(reference_name(schema));
    let inner = ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|choice| list(schema, choice));
    for part in inner.chain(schema.get("items")).chain(schema.get("additionalProperties")) {
        collect_names(part, names, depth + 1);
    }
}

/// The schema that holds enums and limits: the item of an array, or the one choice that is not null.
fn content<'a>(document: Document<'a>, schema: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..MAX_DEPTH {
        let mut choices = ["oneOf", "anyOf", "allOf"]
            .into_iter()
            .flat_map(|choice| list(at, choice))
            .filter(|inner| text(inner, "type") != "null");
        let next = match (choices.next(), choices.next()) {
            (Some(only), None) => only,
            (None, _) if at.get("items").is_some_and(Value::is_object) => &at["items"],
            _ => return at,
        };
        at = document.resolve(next);
    }
    at
}

fn limits(schema: &Value) -> Vec<String> {
    let number = |key: &str| schema.get(key).filter(|value| value.is_number()).map(Value::to_string);
    let mut limits = Vec::new();
    for (low, high, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ] {
        limits.extend(match (number(low), number(high)) {
            (Some(low), Some(high)) => Some(format!("{low} to {high}{unit}")),
            (Some(low), None) => Some(format!("At least {low}{unit}")),
            (None, Some(high)) => Some(format!("At most {high}{unit}")),
            (None, None) => None,
        });
    }
    limits.extend(number("exclusiveMinimum").map(|low| format!("More than {low}")));
    limits.extend(number("exclusiveMaximum").map(|high| format!("Less than {high}")));
    limits.extend(schema.get("pattern").and_then(Value::as_str).map(|pattern| format!("Matches {pattern}")));
    limits
}

/// Every field of a schema, nested ones under their path; empty for a schema that is not an object.
pub(super) fn fields<'a>(document: Document<'a>, schema: &'a Value) -> Vec<Field<'a>> {
    let mut walk = Walk { document, open: Vec::new(), found: Vec::new() };
    walk.enter(schema, "", 0);
    walk.found
}

struct Walk<'a> {
    document: Document<'a>,
    /// The references being visited: a recursive type is named, not entered again.
    open: Vec<&'a str>,
    found: Vec<Field<'a>>,
}

impl<'a> Walk<'a> {
    fn enter(&mut self, schema: &'a Value, path: &str, depth: usize) {
        let name = reference(schema);
        if depth > MAX_DEPTH || name.is_some_and(|name| self.open.contains(&name)) {
            return;
        }
        self.open.extend(name);
        self.parts(self.document.resolve(schema), path, depth);
        if name.is_some() {
            self.open.pop();
        }
    }

    fn parts(&mut self, schema: &'a Value, path: &str, depth: usize) {
        for part in list(schema, "allOf") {
            self.enter(part, path, depth + 1);
        }
        let required = list(schema, "required");
        // Required fields come first, whatever the order in the document.
        let mut properties: Vec<_> = entries(schema, "properties")
            .map(|(name, inner)| (required.iter().any(|required| required == name), name, inner))
            .collect();
        properties.sort_by_key(|(must, ..)| !must);
        for (must, name, inner) in properties {
            let name_here = format!("{path}{name}");
            self.found.push(Field::new(self.document, name_here.clone(), inner, must));
            self.enter(inner, &format!("{name_here}."), depth + 1);
        }
        if let Some(values @ Value::Object(_)) = schema.get("additionalProperties") {
            let name = format!("{path}<any key>");
            self.found.push(Field::new(self.document, name.clone(), values, false));
            self.enter(values, &format!("{name}."), depth + 1);
        }
        if let Some(items) = schema.get("items") {
            let stem = path.strip_suffix('.').unwrap_or(path);
            self.enter(items, &format!("{stem}[]."), depth + 1);
        }
        self.choices(schema, path, depth);
    }

    /// A single choice besides null is entered as if it were the schema itself; of several, each is labelled.
    fn choices(&mut self, schema: &'a Value, path: &str, depth: usize) {
        let choices: Vec<_> = ["oneOf", "anyOf"]
            .into_iter()
            .flat_map(|choice| list(schema, choice))
            .filter(|inner| text(inner, "type") != "null")
            .collect();
        for (number, choice) in choices.iter().enumerate() {
            if choices.len() == 1 {
                self.enter(choice, path, depth + 1);
                continue;
            }
            let title = Some(text(choice, "title")).filter(|title| !title.is_empty());
            let label =
                title.or(reference_name(choice)).map_or_else(|| (number + 1).to_string(), str::to_owned);
            let before = self.found.len();
            self.enter(choice, &format!("{path}({label})."), depth + 1);
            if self.found.len() == before && path.is_empty() {
                self.found.push(Field::new(self.document, format!("({label})"), choice, false));
            }
        }
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

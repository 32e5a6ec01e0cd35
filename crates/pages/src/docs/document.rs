//! Reads an `OpenAPI` document as untyped JSON and follows its local references. Anything missing or of another shape counts
//! as absent; a reference page is not a validator.

use serde_json::Value;

/// References may point to references; more hops than this are a cycle.
const MAX_HOPS: usize = 16;

#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) root: &'a Value,
}

impl<'a> Document<'a> {
    /// Resolves `value`: itself, or the target of its `$ref`. A dangling reference resolves to null.
    pub(super) fn resolve(self, mut value: &'a Value) -> &'a Value {
        for _ in 0..MAX_HOPS {
            let Some(reference) = reference(value) else { return value };
            value = reference.strip_prefix('#').and_then(|at| self.root.pointer(at)).unwrap_or(&Value::Null);
        }
        &Value::Null
    }

    /// The anchor of a named schema in the list of types, if the document has it.
    pub(super) fn type_anchor(self, name: &str) -> Option<String> {
        self.root["components"]["schemas"].get(name).map(|_| format!("type-{}", slug(name)))
    }
}

pub(super) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref").and_then(Value::as_str)
}

/// The last segment of a reference: `Site` of `#/components/schemas/Site`.
pub(super) fn reference_name(value: &Value) -> Option<&str> {
    reference(value).and_then(|at| at.rsplit('/').next()).filter(|name| !name.is_empty())
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn entries<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = value.get(key).and_then(Value::as_object);
    map.into_iter().flatten().map(|(name, inner)| (name.as_str(), inner))
}

/// A JSON value as text: strings without their quotes.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Letters and digits joined by single hyphens, valid in a fragment.
pub(super) fn slug(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_followed_and_circles_end() {
        let root = json!({"a": {"$ref": "#/b"}, "b": {"$ref": "#/c~1d"}, "c/d": {"type": "string"},
            "x": {"$ref": "#/y"}, "y": {"$ref": "#/x"}, "far": {"$ref": "other.json#/a"}});
        let document = Document { root: &root };
        assert_eq!(document.resolve(&root["a"])["type"], "string");
        assert!(document.resolve(&root["x"]).is_null());
        assert!(document.resolve(&root["far"]).is_null());
    }

    #[test]
    fn slugs_are_fit_for_a_fragment() {
        assert_eq!(slug("GET /sites/{idOrSlug}/share-tokens"), "get-sites-idorslug-share-tokens");
        assert_eq!(slug("\"><x>"), "x");
    }
}

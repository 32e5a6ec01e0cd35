//! The responses of an operation by status, with the error codes that they name.

use super::super::prose::Prose;
use super::document::{Document, entries, list, reference, text};
use super::example;
use super::schema::{Field, fields, kind, type_name};
use serde_json::Value;

#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) status: &'a str,
    pub(super) good: bool,
    pub(super) about: Prose<'a>,
    pub(super) media_type: &'a str,
    pub(super) kind: String,
    pub(super) anchor: Option<String>,
    /// Empty for an error of a named type, which is described once in the list of types.
    pub(super) fields: Vec<Field<'a>>,
    pub(super) headers: Vec<Field<'a>>,
    pub(super) codes: Vec<&'a str>,
}

pub(super) fn responses<'a>(document: Document<'a>, operation: &'a Value) -> Vec<Response<'a>> {
    entries(operation, "responses")
        .map(|(status, response)| one(document, status, document.resolve(response)))
        .collect()
}

fn one<'a>(document: Document<'a>, status: &'a str, response: &'a Value) -> Response<'a> {
    let good = status.starts_with(['1', '2', '3']);
    let (media_type, media) = entries(response, "content").next().unwrap_or(("", &Value::Null));
    let schema = media.get("schema");
    let listed = schema.filter(|schema| good || reference(schema).is_none());
    let header = |(name, header): (&'a str, &'a Value)| {
        let header = document.resolve(header);
        let schema = header.get("schema").unwrap_or(&Value::Null);
        let mut field = Field::new(document, name.to_owned(), schema, false);
        field.about = Prose::parse(text(header, "description"));
        field
    };
    Response {
        status,
        good,
        about: Prose::parse(text(response, "description")),
        media_type,
        kind: schema.map(|schema| kind(document, schema)).unwrap_or_default(),
        anchor: schema.and_then(type_name).and_then(|name| document.type_anchor(name)),
        fields: listed.map(|schema| fields(document, schema)).unwrap_or_default(),
        headers: entries(response, "headers").map(header).collect(),
        codes: if good { Vec::new() } else { codes(document, response, media) },
    }
}

/// The codes that a client can match on: those listed explicitly (`x-error-codes`), those in the examples, and those that the
/// inline schema of this response allows.
fn codes<'a>(document: Document<'a>, response: &'a Value, media: &'a Value) -> Vec<&'a str> {
    let listed = list(response, "x-error-codes").iter();
    let examples =
        media.get("example").into_iter().chain(example::all_named(document, media).map(|(_, value)| value));
    let schema =
        media.get("schema").filter(|schema| reference(schema).is_none()).map(|schema| &schema["properties"]);
    let allowed = schema.into_iter().flat_map(|properties| {
        properties["error"].get("const").into_iter().chain(list(&properties["error"], "enum"))
    });
    let mut codes = Vec::new();
    for code in listed.chain(examples.filter_map(|example| example.get("error"))).chain(allowed) {
        if let Some(code) = code.as_str().filter(|code| !codes.contains(code)) {
            codes.push(code);
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn codes_are_gathered_once_from_wherever_they_are_named() {
        let root = json!({"components": {"schemas": {"Error": {"type": "object", "properties": {"error": {"type": "string"}}}}}});
        let operation = json!({"responses": {"400": {"description": "Refused.", "x-error-codes": ["missing_file"], "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "examples": {
                "a": {"value": {"error": "missing_file"}}, "b": {"value": {"error": "not_multipart"}}}}}}}});
        let document = Document { root: &root };
        let found = responses(document, &operation);
        assert_eq!(found[0].codes, ["missing_file", "not_multipart"]);
        assert!(found[0].fields.is_empty(), "a named error is described once, in the list of types");
        assert_eq!(found[0].anchor.as_deref(), Some("type-error"));
    }

    #[test]
    fn an_error_of_its_own_shape_lists_its_fields() {
        let root = json!({});
        let operation = json!({"responses": {"409": {"description": "", "content": {"application/json": {"schema":
            {"type": "object", "properties": {"error": {"type": "string", "enum": ["conflict"]}, "updated_at": {"type": "integer"}}}}}}}});
        let found = responses(Document { root: &root }, &operation);
        assert_eq!((found[0].codes.as_slice(), found[0].fields.len()), (["conflict"].as_slice(), 2));
    }
}

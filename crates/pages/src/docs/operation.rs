//! The view model of one operation.

use super::super::prose::Prose;
use super::curl::{self, Request};
use super::document::{Document, entries, flag, list, slug, text};
use super::example;
use super::response::{Response, responses};
use super::schema::{Field, fields, kind, type_name};
use super::security::{self, SecurityRequirement};
use serde_json::Value;

pub(super) const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

#[derive(Debug)]
pub(super) struct Operation<'a> {
    pub(super) anchor: String,
    pub(super) tag: &'a str,
    pub(super) method: String,
    pub(super) path: Vec<Segment<'a>>,
    pub(super) summary: &'a str,
    pub(super) about: Prose<'a>,
    pub(super) deprecated: bool,
    pub(super) requirements: Vec<SecurityRequirement<'a>>,
    pub(super) parameters: Vec<Parameter<'a>>,
    pub(super) bodies: Vec<Body<'a>>,
    pub(super) responses: Vec<Response<'a>>,
    pub(super) command: String,
    pub(super) answer: Option<Answer<'a>>,
}

/// A part of a path: fixed text, or a variable with its braces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) text: &'a str,
    pub(super) variable: bool,
}

#[derive(Debug)]
pub(super) struct Parameter<'a> {
    pub(super) place: &'a str,
    pub(super) field: Field<'a>,
}

#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) media_type: &'a str,
    pub(super) kind: String,
    pub(super) anchor: Option<String>,
    pub(super) fields: Vec<Field<'a>>,
}

/// The example response.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: &'a str,
    pub(super) text: String,
}

pub(super) fn operation<'a>(
    document: Document<'a>,
    base_url: &'a str,
    method: &'a str,
    path: &'a str,
    item: &'a Value,
) -> Option<Operation<'a>> {
    let operation = item.get(method)?;
    let raw = parameters(document, item, operation);
    let requirements = security::requirements(document, operation);
    let request_body = document.resolve(operation.get("requestBody").unwrap_or(&Value::Null));
    // A form comes first: it can carry every kind of page.
    let mut media: Vec<_> = entries(request_body, "content").collect();
    media.sort_by_key(|(name, _)| !name.starts_with("multipart/"));
    let method = method.to_ascii_uppercase();
    let request = Request {
        base_url,
        method: &method,
        path,
        parameters: &raw,
        body: media.first().copied(),
        credential: security::example_header(document, &requirements),
    };
    let command = curl::command(document, operation, &request);
    Some(Operation {
        anchor: match text(operation, "operationId") {
            "" => slug(&format!("{method} {path}")),
            id => slug(id),
        },
        tag: list(operation, "tags").first().and_then(Value::as_str).unwrap_or_default(),
        path: segments(path),
        summary: text(operation, "summary"),
        about: Prose::parse(text(operation, "description")),
        deprecated: flag(operation, "deprecated"),
        parameters: raw.iter().map(|raw| parameter(document, raw)).collect(),
        bodies: media.into_iter().map(|(name, media)| body(document, name, media)).collect(),
        responses: responses(document, operation),
        answer: answer(document, operation),
        method,
        requirements,
        command,
    })
}

/// The operation's parameters, then those of its path that it does not override.
fn parameters<'a>(document: Document<'a>, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
    let mut found: Vec<&Value> = Vec::new();
    for parameter in list(operation, "parameters").iter().chain(list(item, "parameters")) {
        let parameter = document.resolve(parameter);
        let same = |other: &&Value| ["name", "in"].iter().all(|key| text(other, key) == text(parameter, key));
        if parameter.is_object() && !found.iter().any(same) {
            found.push(parameter);
        }
    }
    found
}

fn parameter<'a>(document: Document<'a>, raw: &'a Value) -> Parameter<'a> {
    let schema = raw.get("schema").unwrap_or(&Value::Null);
    let mut field = Field::new(document, text(raw, "name").to_owned(), schema, flag(raw, "required"));
    if !text(raw, "description").is_empty() {
        field.about = Prose::parse(text(raw, "description"));
    }
    field.deprecated |= flag(raw, "deprecated");
    Parameter { place: text(raw, "in"), field }
}

fn body<'a>(document: Document<'a>, media_type: &'a str, media: &'a Value) -> Body<'a> {
    let schema = media.get("schema").unwrap_or(&Value::Null);
    Body {
        media_type,
        kind: kind(document, schema),
        anchor: type_name(schema).and_then(|name| document.type_anchor(name)),
        fields: fields(document, schema),
    }
}

/// The first successful response that has an example.
fn answer<'a>(document: Document<'a>, operation: &'a Value) -> Option<Answer<'a>> {
    entries(operation, "responses").filter(|(status, _)| status.starts_with('2')).find_map(
        |(status, response)| {
            let response = document.resolve(response);
            let example =
                entries(response, "content").find_map(|(_, media)| example::given(document, media))?;
            Some(Answer { status, text: example::shown(example) })
        },
    )
}

fn segments(path: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut rest = path;
    while let Some((open, close)) = rest.find('{').and_then(|at| Some((at, at + rest[at..].find('}')? + 1))) {
        segments.push(Segment { text: &rest[..open], variable: false });
        segments.push(Segment { text: &rest[open..close], variable: true });
        rest = &rest[close..];
    }
    segments.push(Segment { text: rest, variable: false });
    segments.retain(|segment| !segment.text.is_empty());
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_of_a_path_stand_out() {
        let fixed = |text| Segment { text, variable: false };
        let variable = Segment { text: "{id}", variable: true };
        assert_eq!(segments("/sites/{id}/content"), [fixed("/sites/"), variable, fixed("/content")]);
        assert_eq!(segments("/odd/{"), [fixed("/odd/{")]);
    }

    #[test]
    fn an_operation_replaces_its_paths_parameter_of_the_same_name() {
        let root = json!({"components": {"parameters": {"Id": {"in": "path", "name": "id", "description": "shared"}}}});
        let item = json!({"parameters": [{"$ref": "#/components/parameters/Id"}, {"in": "query", "name": "q"}],
            "get": {"parameters": [{"in": "path", "name": "id", "required": true, "description": "own"}]}});
        let shown = operation(Document { root: &root }, "http://x", "get", "/a/{id}", &item).unwrap();
        let names: Vec<_> = shown.parameters.iter().map(|p| (p.place, p.field.name.as_str())).collect();
        assert_eq!(names, [("path", "id"), ("query", "q")]);
        assert_eq!(shown.parameters[0].field.about, Prose::parse("own"));
        assert_eq!(shown.anchor, "get-a-id");
    }
}

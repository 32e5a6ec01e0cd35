//! Authentication: the security schemes of the document, and which of them an operation accepts.

use super::super::prose::Prose;
use super::document::{Document, entries, text};
use serde_json::Value;

/// A security scheme, for the section on authentication.
#[derive(Debug)]
pub(super) struct Scheme<'a> {
    pub(super) name: &'a str,
    pub(super) how: String,
    pub(super) about: Prose<'a>,
}

/// One alternative of a security requirement: all named schemes together; without names, no credential is needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SecurityRequirement<'a> {
    pub(super) names: Vec<&'a str>,
    pub(super) scopes: Vec<&'a str>,
}

pub(super) fn schemes(document: Document<'_>) -> Vec<Scheme<'_>> {
    entries(&document.root["components"], "securitySchemes")
        .map(|(name, scheme)| {
            let scheme = document.resolve(scheme);
            Scheme { name, how: how(scheme), about: Prose::parse(text(scheme, "description")) }
        })
        .collect()
}

fn how(scheme: &Value) -> String {
    match (text(scheme, "type"), text(scheme, "scheme"), text(scheme, "in")) {
        ("http", "bearer", _) => "Authorization: Bearer <token>".to_owned(),
        ("http", "basic", _) => "Authorization: Basic <name:password in base64>".to_owned(),
        ("http", other, _) => format!("Authorization: {other} <credential>"),
        ("apiKey", _, "header") => format!("{}: <value>", text(scheme, "name")),
        ("apiKey", _, "query") => format!("?{}=<value>", text(scheme, "name")),
        ("apiKey", _, _) => format!("Cookie: {}=<value>", text(scheme, "name")),
        ("oauth2" | "openIdConnect", _, _) => "Authorization: Bearer <access token>".to_owned(),
        _ => String::new(),
    }
}

/// The alternatives of one operation: its own, or the document's if it has none. Empty if neither specifies any.
pub(super) fn requirements<'a>(document: Document<'a>, operation: &'a Value) -> Vec<SecurityRequirement<'a>> {
    let listed =
        operation.get("security").or_else(|| document.root.get("security")).and_then(Value::as_array);
    let requirement = |requirement: &'a Value| {
        let entries: Vec<_> = requirement.as_object().into_iter().flatten().collect();
        SecurityRequirement {
            names: entries.iter().map(|(name, _)| name.as_str()).collect(),
            scopes: entries
                .iter()
                .filter_map(|(_, scopes)| scopes.as_array())
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
        }
    };
    listed.into_iter().flatten().map(requirement).collect()
}

/// The header of an example request; `None` if no credential is needed.
pub(super) fn example_header(
    document: Document<'_>,
    requirements: &[SecurityRequirement<'_>],
) -> Option<String> {
    if requirements.iter().any(|one| one.names.is_empty()) {
        return None;
    }
    let name = requirements.first()?.names.first()?;
    let scheme = document.resolve(&document.root["components"]["securitySchemes"][*name]);
    match (text(scheme, "type"), text(scheme, "in")) {
        ("apiKey", "header") => Some(format!("{}: $DROPLEAF_KEY", text(scheme, "name"))),
        ("apiKey", _) => None,
        _ => Some("Authorization: Bearer $DROPLEAF_KEY".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_operation_without_a_word_takes_the_documents_ways() {
        let root = json!({"security": [{"api_key": []}, {"oauth": ["sites:write"]}]});
        let document = Document { root: &root };
        let own = json!({"security": []});
        assert_eq!(requirements(document, &own), []);
        let silent = json!({});
        let requirements = requirements(document, &silent);
        assert_eq!(
            requirements[1],
            SecurityRequirement { names: vec!["oauth"], scopes: vec!["sites:write"] }
        );
        assert_eq!(
            example_header(document, &requirements).as_deref(),
            Some("Authorization: Bearer $DROPLEAF_KEY")
        );
    }

    #[test]
    fn an_example_needs_no_credential_where_anybody_may_call() {
        let root = json!({});
        let operation = json!({"security": [{"api_key": []}, {}]});
        let document = Document { root: &root };
        assert_eq!(example_header(document, &requirements(document, &operation)), None);
    }
}

//! Compares every API response of the tests with the OpenAPI document: status, code and body.

use super::{Answer, json_schema};
use serde_json::Value;
use std::sync::LazyLock;

/// The document with every feature enabled.
pub(crate) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&dropleaf::http::openapi::text()).unwrap());

/// The operation of a request, if the document has it.
fn operation(method: &str, path: &str) -> Option<&'static Value> {
    let fits = |template: &str| {
        let (mut known, mut sent) = (template.split('/'), path.split('/'));
        loop {
            match (known.next(), sent.next()) {
                // The path of a file may contain slashes.
                (None, None) | (Some("{path}"), Some(_)) => return true,
                (Some(known), Some(sent)) if known == sent || known.starts_with('{') => {}
                _ => return false,
            }
        }
    };
    let item = DOCUMENT["paths"].as_object()?.iter().find(|(template, _)| fits(template))?.1;
    item.get(if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() })
}

/// Panics if the document does not declare the response.
pub(super) fn check(method: &str, path: &str, answer: &Answer) {
    // Only the API and the pages for people send this header; on page hosts a path can mean something else.
    if !answer.has("x-request-id") {
        return;
    }
    let Some(operation) = operation(method, path) else { return };
    let (status, tags) = (answer.status, &operation["tags"]);
    let sold = tags.as_array().is_some_and(|tags| tags.iter().any(|tag| tag == "Payments"));
    if status == 404 && sold {
        // With payments disabled these operations do not exist.
        return;
    }
    let told =
        format!("{method} {path} answers {status}: {}", answer.text().chars().take(600).collect::<String>());
    let response = operation["responses"].get(status.to_string());
    let response =
        response.unwrap_or_else(|| panic!("the OpenAPI document does not declare the status: {told}"));
    let essence = answer.header("content-type").split(';').next().unwrap_or_default().trim();
    if status < 300 && !answer.body.is_empty() {
        let declared = response["content"].get(essence).is_some();
        assert!(declared, "the OpenAPI document does not declare the media type {essence}: {told}");
    }
    let is_json = answer.header("content-type") == "application/json" && !answer.has("content-encoding");
    if !is_json || answer.body.is_empty() || method == "HEAD" {
        return;
    }
    let body = answer.json();
    let media = &response["content"]["application/json"];
    assert!(media.is_object(), "the OpenAPI document does not declare JSON: {told}");
    if let Err(why) = json_schema::check_in(&DOCUMENT, &media["schema"], &body) {
        panic!("the OpenAPI document describes another body ({why}): {told}");
    }
    let (Some(codes), Some(code)) = (response["x-error-codes"].as_array(), body["error"].as_str()) else {
        return;
    };
    let terms = body.get("accepts").is_some();
    assert!(
        terms || codes.iter().any(|known| known == code),
        "the OpenAPI document does not declare the code: {told}"
    );
    let known = &DOCUMENT["components"]["schemas"]["Error"]["properties"];
    for member in body.as_object().into_iter().flatten().map(|(name, _)| name) {
        assert!(terms || known.get(member).is_some(), "`Error` has no member {member}: {told}");
    }
}

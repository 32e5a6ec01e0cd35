//! Renders the API reference for people from the `OpenAPI` document that programs read. Supports `OpenAPI` 3.1 in general and
//! knows nothing of our own operations.

mod curl;
mod document;
mod example;
mod operation;
mod response;
mod schema;
mod security;

use super::Rendered;
use super::assets::{Style, style};
use super::prose::{Prose, Span};
use askama::Template;
use document::{Document, entries, list, slug, text};
use operation::{METHODS, Operation, operation};
use schema::{Field, fields};
use security::{Scheme, schemes};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("docs.css");

#[derive(Template)]
#[template(path = "docs.html")]
struct ReferenceTemplate<'a> {
    style: &'static str,
    title: &'a str,
    version: &'a str,
    /// The version of the program that serves the page.
    running: &'a str,
    about: Prose<'a>,
    base_url: &'a str,
    schemes: Vec<Scheme<'a>>,
    groups: Vec<Group<'a>>,
    types: Vec<Type<'a>>,
}

/// The operations of one tag.
struct Group<'a> {
    name: &'a str,
    anchor: String,
    about: Prose<'a>,
    operations: Vec<Operation<'a>>,
}

/// A named schema, for the list of types.
struct Type<'a> {
    name: &'a str,
    anchor: String,
    /// The schema as a field: its type, description and allowed values.
    whole: Field<'a>,
    fields: Vec<Field<'a>>,
}

pub fn docs(openapi: &Value, base_url: &str) -> Rendered {
    let document = Document { root: openapi };
    let info = &openapi["info"];
    let page = ReferenceTemplate {
        style: STYLE.text,
        title: Some(text(info, "title")).filter(|title| !title.is_empty()).unwrap_or("API"),
        version: text(info, "version"),
        running: env!("CARGO_PKG_VERSION"),
        about: Prose::parse(text(info, "description")),
        base_url: base_url.trim_end_matches('/'),
        schemes: schemes(document),
        groups: groups(document, base_url.trim_end_matches('/')),
        types: types(document),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

/// Tags in the document's order, then those that only operations name; operations in the order of paths.
fn groups<'a>(document: Document<'a>, base_url: &'a str) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for tag in list(document.root, "tags") {
        groups.push(group(text(tag, "name"), text(tag, "description")));
    }
    let mut anchors = HashSet::new();
    for (path, item) in entries(document.root, "paths") {
        let item = document.resolve(item);
        for mut found in METHODS.iter().filter_map(|method| operation(document, base_url, method, path, item))
        {
            while !anchors.insert(found.anchor.clone()) {
                found.anchor.push_str("-2");
            }
            let at = groups.iter().position(|group| group.name == found.tag).unwrap_or_else(|| {
                groups.push(group(found.tag, ""));
                groups.len() - 1
            });
            groups[at].operations.push(found);
        }
    }
    groups.retain(|group| !group.operations.is_empty());
    groups
}

fn group<'a>(name: &'a str, about: &'a str) -> Group<'a> {
    Group { name, anchor: format!("tag-{}", slug(name)), about: Prose::parse(about), operations: Vec::new() }
}

fn types(document: Document<'_>) -> Vec<Type<'_>> {
    entries(&document.root["components"], "schemas")
        .map(|(name, schema)| Type {
            name,
            anchor: format!("type-{}", slug(name)),
            whole: Field::new(document, name.to_owned(), schema, false),
            fields: fields(document, schema),
        })
        .collect()
}

#[cfg(test)]
#[path = "docs_tests.rs"]
mod tests;

//! Builds the OpenAPI schemas of strings with a fixed set of values.

use utoipa::openapi::schema::{AnyOfBuilder, Object, ObjectBuilder, Schema, Type};

/// A string enum.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>, description: Option<&str>) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).description(description).build()
}

/// A string enum, or null.
pub(super) fn nullable_words<'a>(
    among: impl IntoIterator<Item = &'a str>,
    description: Option<&str>,
) -> Schema {
    AnyOfBuilder::new()
        .item(words(among, None))
        .item(Object::with_type(Type::Null))
        .description(description)
        .build()
        .into()
}

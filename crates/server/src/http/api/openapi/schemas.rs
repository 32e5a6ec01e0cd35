//! Schemas that more than one operation needs: the body of an error, and strings with a fixed set of values.

use crate::http::api::ReasonJson;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOfBuilder, Object, ObjectBuilder, Schema, Type};

/// Why a request was refused. The members after `error_description` come with the codes that they name.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"error": "not_found", "error_description": "No such site, or you do not have access to it."}))]
#[expect(dead_code, reason = "describes the body; `error_words` writes it")]
pub(super) struct ErrorJson {
    /// Stable machine-readable code.
    error: String,
    /// What happened and what to do next.
    #[schema(nullable = false)]
    error_description: Option<String>,
    /// With `conflict`: the `updated_at` that the site has now.
    #[schema(nullable = false)]
    updated_at: Option<i64>,
    /// With `insufficient_scope`: the scope that is missing.
    #[schema(nullable = false)]
    scope: Option<String>,
    /// With `plan_page_limit` and `plan_lifetime_limit`: the unlock that lifts the limit, where something is sold.
    #[schema(nullable = false)]
    unlock: Option<String>,
    /// Beside `unlock`: where to buy it.
    #[schema(nullable = false, format = "uri")]
    unlock_url: Option<String>,
    /// What was found in the content: with `phishing_blocked`, `content_blocked` and `secrets_found`.
    #[schema(nullable = false)]
    reasons: Option<Vec<ReasonJson>>,
    /// Beside `reasons`: the hash by which an appeal allows the content.
    #[schema(nullable = false)]
    content_hash: Option<String>,
    /// With `phishing_blocked` and `content_blocked`: where to send the same file, with a word on what it is for, if the
    /// page is honest.
    #[schema(nullable = false, format = "uri")]
    appeal_url: Option<String>,
    /// With `invalid_payment` and `payment_used`: what is wrong with the payment, as a stable word.
    #[schema(nullable = false)]
    reason: Option<String>,
    /// With `paid_not_saved` and `settlement_unknown`, when it is known: the transaction of the payment.
    #[schema(nullable = false)]
    transaction: Option<String>,
}

/// A string that is one of these.
pub(in crate::http) fn words<'a>(
    words: impl IntoIterator<Item = &'a str>,
    description: Option<&str>,
) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).description(description).build()
}

/// A string that is one of these, or null.
pub(in crate::http) fn nullable_words<'a>(
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

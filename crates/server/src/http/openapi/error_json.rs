//! The schema of the error body.

use crate::http::api::ReasonJson;
use utoipa::ToSchema;

/// Why a request was refused. The members after `error_description` are present only with the codes they name.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"error": "not_found", "error_description": "No such site, or you do not have access to it."}))]
#[expect(dead_code, reason = "describes the body; `error_body` writes it")]
pub(super) struct ErrorJson {
    /// Stable machine-readable code.
    error: String,
    /// What happened and what to do next.
    #[schema(nullable = false)]
    error_description: Option<String>,
    /// With `conflict`: the current `updated_at` of the site.
    #[schema(nullable = false)]
    updated_at: Option<i64>,
    /// With `not_found` of comments to resolve: the IDs that do not exist, separated by spaces.
    #[schema(nullable = false)]
    not_found: Option<String>,
    /// With `insufficient_scope`: the scope that is missing.
    #[schema(nullable = false)]
    scope: Option<String>,
    /// With `plan_page_limit` and `plan_lifetime_limit`: the unlock that lifts the limit, if payments are enabled.
    #[schema(nullable = false)]
    unlock: Option<String>,
    /// With `unlock`: where to buy it.
    #[schema(nullable = false, format = "uri")]
    unlock_url: Option<String>,
    /// What was found in the content: with `phishing_blocked`, `content_blocked` and `secrets_found`.
    #[schema(nullable = false)]
    reasons: Option<Vec<ReasonJson>>,
    /// With `reasons`: the hash to which an allowed appeal applies.
    #[schema(nullable = false)]
    content_hash: Option<String>,
    /// With `phishing_blocked` and `content_blocked`: where to send the same file, with a note on what it is for, if
    /// the refusal is a mistake.
    #[schema(nullable = false, format = "uri")]
    appeal_url: Option<String>,
    /// With `invalid_payment` and `payment_used`: what is wrong with the payment, as a stable identifier.
    #[schema(nullable = false)]
    reason: Option<String>,
    /// With `paid_not_saved` and `settlement_unknown`: the transaction of the payment, if known.
    #[schema(nullable = false)]
    transaction: Option<String>,
}

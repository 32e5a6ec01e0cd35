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
    /// With `edit_no_match`, `edit_not_unique` and `edit_overlap`: the position of the edit in the request, from 0.
    #[schema(nullable = false, minimum = 0)]
    edit: Option<i64>,
    /// With `edit_overlap`: the position of the other edit.
    #[schema(nullable = false, minimum = 0)]
    other_edit: Option<i64>,
    /// With `edit`, and with `too_large` if an edited file would be: the file.
    #[schema(nullable = false)]
    path: Option<String>,
    /// With `edit_no_match` and `edit_not_unique`: how often the text occurs.
    #[schema(nullable = false, minimum = 0)]
    matches: Option<i64>,
    /// With `edit_not_unique` and `edit_overlap`: the lines of the first matches, from 1.
    #[schema(nullable = false)]
    lines: Option<Vec<i64>>,
    /// With `edit_no_match`: a line that is similar to the text, if there is one.
    #[schema(nullable = false, minimum = 1)]
    nearest_line: Option<i64>,
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

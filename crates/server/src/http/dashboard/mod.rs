//! The dashboard: what an owner sees and governs. Every handler calls the same acts as the API.

mod account;

use super::api::{ApiState, designed};
use crate::pages::{self, Notice};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;

pub(super) fn routes() -> Router<ApiState> {
    Router::new().merge(account::routes()).route("/claim/{id}", get(claim))
}

/// Where a claim link leads. The token stays in the browser, behind the #.
async fn claim(State(state): State<ApiState>, Path(id): Path<String>) -> Response {
    let base = state.resolved.hosts.base.url();
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    let hint = format!(
        "`curl -X POST -H 'Authorization: Bearer <your key>' -H 'Content-Type: application/json' \
         -d '{{\"claim_token\": \"<the part of this address after #>\"}}' {base}/sites/{id}/claim`"
    );
    designed(pages::notice(&Notice {
        status: 200,
        code: "claim",
        heading: "Keep this page",
        message: "This page was published without an account and will disappear after a day. \
                  Claim it with your key and it becomes yours, for good.",
        hint: Some(&hint),
        home: Some(&base),
        report: None,
    }))
}

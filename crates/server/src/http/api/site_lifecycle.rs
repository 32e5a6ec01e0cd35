//! Serves delete, restore and claim of a site. Spec §3, §4.

use super::site_json::SiteJson;
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, Owner, Remover};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use dropleaf_app::DeletedSite;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"ok": true, "restorable_until": 1_797_298_860}))]
pub(in crate::http) struct DeletedJson {
    ok: bool,
    /// `POST …/restore` works until then; null if the page was erased.
    restorable_until: Option<i64>,
    /// Present if `purge` did not erase the page because it is reported or its account is suspended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl DeletedJson {
    pub(in crate::http) fn new(deleted: DeletedSite) -> Self {
        Self { ok: true, restorable_until: deleted.restorable_until, warnings: deleted.warnings }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"claim_token": "clm_…"}))]
pub(super) struct ClaimBody {
    claim_token: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"ok": true, "id": "site_k3v5q7x2m4n6p8r1t9w0", "warnings": []}))]
pub(super) struct ClaimedJson {
    ok: bool,
    id: String,
    warnings: Vec<String>,
}

/// Delete a page
///
/// Hides it at once; it can be restored for 30 days. `purge=true` erases the bytes now.
#[utoipa::path(
    delete, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "deleteSite",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("purge" = Option<bool>, Query, description = "Erase the content now; this cannot be undone."),
    ),
    responses((status = 200, description = "Deleted", body = DeletedJson)),
    security(("api_key" = [])),
)]
pub(super) async fn delete(
    State(state): State<ApiState>,
    Remover(known): Remover,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<DeletedJson>, ApiError> {
    let purge =
        query.as_deref().unwrap_or_default().split('&').any(|pair| matches!(pair, "purge=true" | "purge=1"));
    let deleted = state.app.delete_site(&known.account, &name, purge).await?;
    Ok(Json(DeletedJson::new(deleted)))
}

/// Restore a deleted page
#[utoipa::path(
    post, path = "/sites/{idOrSlug}/restore", tag = "Sites", operation_id = "restoreSite",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
    responses((status = 200, description = "The page is restored", body = SiteJson)),
    security(("api_key" = [])),
)]
pub(super) async fn restore(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(name): Path<String>,
) -> Result<Json<SiteJson>, ApiError> {
    let updated = state.app.restore_site(&account, &name).await?;
    Ok(Json(SiteJson::updated(&state.app, updated)))
}

/// Claim a page that was published without an account
///
/// The page then belongs to your account and no longer expires. The token works once.
#[utoipa::path(
    post, path = "/sites/{idOrSlug}/claim", tag = "Sites", operation_id = "claimSite",
    params(("idOrSlug" = String, Path, description = "The ID or the token.")),
    request_body(content = ClaimBody, content_type = "application/json"),
    responses((status = 200, description = "The page belongs to your account", body = ClaimedJson)),
    security(("api_key" = [])),
)]
pub(super) async fn claim(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ClaimedJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let ClaimBody { claim_token } = fields.take()?;
    let warnings = fields.unknown()?;
    let site = state.app.claim_site(&account, &name, &claim_token).await?;
    Ok(Json(ClaimedJson { ok: true, id: site.id, warnings }))
}

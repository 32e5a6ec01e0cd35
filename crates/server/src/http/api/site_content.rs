//! Serves the stored content of a page and its versions. Spec §4.

use super::site_json::SiteJson;
use crate::connection::Connection;
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, Owner, Reader};
use crate::http::state::ApiState;
use crate::http::view::sending;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use dropleaf_core::site::Site;
use dropleaf_core::site_version::SiteVersion;
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct VersionsJson {
    /// Newest first; the newest 20 are kept.
    versions: Vec<VersionJson>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "version": 2, "current": true, "title": "Weekly report", "byte_size": 5120, "files": 1,
    "restored_from": null, "created_at": 1_794_706_860
}))]
pub(in crate::http) struct VersionJson {
    version: i64,
    /// Whether this version is served now.
    current: bool,
    title: String,
    byte_size: i64,
    files: i64,
    /// The version that this one restored.
    restored_from: Option<i64>,
    created_at: i64,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"version": 1}))]
pub(super) struct RollbackBody {
    version: i64,
}

impl VersionsJson {
    pub(in crate::http) fn new(site: &Site, versions: Vec<SiteVersion>) -> Self {
        let one = |v: SiteVersion| VersionJson {
            current: v.version == site.version,
            version: v.version,
            title: v.title,
            byte_size: v.byte_size,
            files: v.file_count,
            restored_from: v.restored_from,
            created_at: v.created_at,
        };
        Self { versions: versions.into_iter().map(one).collect() }
    }
}

/// Read the stored document verbatim
///
/// The stored `index.html`; for a PDF, an interactive SVG or ciphertext, that file. Markdown, text, images, static SVG
/// and data are rendered to a page: `source=true` returns the file that was uploaded.
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/content", tag = "Sites", operation_id = "getContent",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("source" = Option<bool>, Query, description = "The uploaded file, before rendering."),
    ),
    responses((status = 200, description = "The document", content(
        (String = "text/html"), (String = "text/markdown"), (String = "application/pdf"), (String = "application/octet-stream"),
        (String = "text/plain"), (String = "image/svg+xml"), (String = "image/png"), (String = "image/jpeg"),
        (String = "image/gif"), (String = "image/webp"), (String = "image/avif"),
        (serde_json::Value = "application/json", example = json!({"leaves": 3})), (String = "text/csv"), (String = "text/tab-separated-values"),
    ))),
    security(("api_key" = [])),
)]
pub(super) async fn read(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    Extension(connection): Extension<Arc<Connection>>,
) -> Result<Response, ApiError> {
    let source = query
        .as_deref()
        .unwrap_or_default()
        .split('&')
        .any(|pair| matches!(pair, "source=true" | "source=1"));
    let document = state.app.find_content(&account, &name, source).await?;
    let part = sending::open(&state.app, &connection, &document.file, None).await?;
    // Without this policy an uploaded page would run in the API's origin.
    let policy = "sandbox; default-src 'none'";
    let headers = [
        (header::CONTENT_TYPE, document.mime()),
        (header::CONTENT_LENGTH, part.bytes.to_string()),
        (header::CONTENT_SECURITY_POLICY, policy.to_owned()),
    ];
    Ok((headers, Body::from_stream(part.stream)).into_response())
}

/// List a page's versions
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/versions", tag = "Sites", operation_id = "listVersions",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
    responses((status = 200, description = "The versions", body = VersionsJson)),
    security(("api_key" = [])),
)]
pub(super) async fn versions(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(name): Path<String>,
) -> Result<Json<VersionsJson>, ApiError> {
    let (site, versions) = state.app.list_versions(&account, &name).await?;
    Ok(Json(VersionsJson::new(&site, versions)))
}

/// Roll back to an older version
///
/// Creates a new version with the old content; nothing is lost.
#[utoipa::path(
    post, path = "/sites/{idOrSlug}/rollback", tag = "Sites", operation_id = "rollbackSite",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
    request_body(content = RollbackBody, content_type = "application/json"),
    responses((status = 200, description = "The site with its new version", body = SiteJson)),
    security(("api_key" = [])),
)]
pub(super) async fn rollback(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SiteJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let RollbackBody { version } = fields.take()?;
    let warnings = fields.unknown()?;
    let mut updated = state.app.rollback_site(&account, &name, version).await?;
    updated.warnings.extend(warnings);
    Ok(Json(SiteJson::updated(&state.app, updated)))
}

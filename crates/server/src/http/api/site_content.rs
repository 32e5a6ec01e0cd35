//! Serves the stored content of a page and its versions. Spec §4.

use super::site_json::SiteJson;
use crate::connection::Connection;
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, KeyReader, Maker, Reader};
use crate::http::state::ApiState;
use crate::http::string_enum::words;
use crate::http::view::sending;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use dropleaf_core::site::Site;
use dropleaf_core::site_version::SiteVersion;
use dropleaf_core::version_maker::MakerKind;
use dropleaf_core::{Error, number};
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct VersionsJson {
    /// Newest first; the newest 20 are kept.
    versions: Vec<VersionJson>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "version": 2, "current": true, "title": "Weekly report", "byte_size": 5120, "files": 1,
    "restored_from": null, "made_by": {"kind": "api_key", "name": "laptop"}, "created_at": 1_794_706_860
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
    /// Who or what made it; null for versions made before this was recorded.
    made_by: Option<MakerJson>,
    created_at: i64,
}

#[derive(Debug, Serialize, ToSchema)]
struct MakerJson {
    #[schema(schema_with = maker_kind)]
    kind: &'static str,
    /// The name of the key or program when it made the version. A program sees only its own.
    name: Option<String>,
}

fn maker_kind() -> Object {
    words(MakerKind::ALL.map(MakerKind::as_str), None)
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"version": 1}))]
pub(super) struct RollbackBody {
    version: i64,
}

impl VersionsJson {
    /// For a reader that acts with this grant, or for the account itself.
    pub(in crate::http) fn new(site: &Site, versions: Vec<SiteVersion>, grant_id: Option<&str>) -> Self {
        let versions = versions.into_iter().map(|known| VersionJson::new(site, known, grant_id));
        Self { versions: versions.collect() }
    }
}

impl VersionJson {
    fn new(site: &Site, known: SiteVersion, grant_id: Option<&str>) -> Self {
        let made_by = known.maker.as_ref().map(|maker| MakerJson {
            kind: maker.kind.as_str(),
            name: maker.name_for(grant_id).map(str::to_owned),
        });
        Self {
            current: known.version == site.version,
            version: known.version,
            title: known.title,
            byte_size: known.byte_size,
            files: known.file_count,
            restored_from: known.restored_from,
            made_by,
            created_at: known.created_at,
        }
    }
}

/// Read the stored document verbatim
///
/// The stored `index.html`; for a PDF, an interactive SVG or ciphertext, that file. Markdown, text, images, static SVG
/// and data are rendered to a page: `source=true` returns the file that was uploaded. `path` returns one file of an
/// archive, `version` the uploaded file of an older version.
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/content", tag = "Sites", operation_id = "getContent",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("source" = Option<bool>, Query, description = "The uploaded file, before rendering."),
        ("path" = Option<String>, Query, description = "A file of an archive, as it was uploaded."),
        ("version" = Option<i64>, Query, minimum = 1, description = "An older version, as it was uploaded."),
    ),
    responses((status = 200, description = "The document", content(
        (String = "text/html"), (String = "text/markdown"), (String = "application/pdf"), (String = "application/octet-stream"),
        (String = "text/plain"), (String = "image/svg+xml"), (String = "image/png"), (String = "image/jpeg"),
        (String = "image/gif"), (String = "image/webp"), (String = "image/avif"),
        (serde_json::Value = "application/json", example = json!({"leaves": 3})), (String = "text/csv"), (String = "text/tab-separated-values"),
        (String = "text/css"), (String = "text/javascript"),
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
    let query = ContentQuery::parse(query.as_deref().unwrap_or_default())?;
    let file = if query.path.is_some() || query.version.is_some() {
        state.app.find_source(&account, &name, query.path.as_deref(), query.version).await?.file
    } else {
        state.app.find_content(&account, &name, query.source).await?.file
    };
    let part = sending::open(&state.app, &connection, &file, None).await?;
    // Without this policy an uploaded page would run in the API's origin.
    let policy = "sandbox; default-src 'none'";
    let headers = [
        (header::CONTENT_TYPE, String::from_utf8_lossy(&file.mime).into_owned()),
        (header::CONTENT_LENGTH, part.bytes.to_string()),
        (header::CONTENT_SECURITY_POLICY, policy.to_owned()),
    ];
    Ok((headers, Body::from_stream(part.stream)).into_response())
}

/// Which file of which version.
#[derive(Debug, Default)]
struct ContentQuery {
    source: bool,
    path: Option<String>,
    version: Option<i64>,
}

impl ContentQuery {
    fn parse(query: &str) -> Result<Self, Error> {
        let mut parsed = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "source" => parsed.source |= matches!(&*value, "true" | "1"),
                "path" => parsed.path = Some(value.into_owned()),
                "version" => {
                    let version = number::integer(&value).filter(|version| *version >= 1);
                    let bad = || Error::field("version", "must be an integer of at least 1");
                    parsed.version = Some(version.ok_or_else(bad)?);
                }
                _ => {}
            }
        }
        Ok(parsed)
    }
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
    KeyReader(known): KeyReader,
    Path(name): Path<String>,
) -> Result<Json<VersionsJson>, ApiError> {
    let (site, versions) = state.app.list_versions(&known.account, &name).await?;
    Ok(Json(VersionsJson::new(&site, versions, known.grant_id.as_deref())))
}

/// Read one version of a page
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/versions/{version}", tag = "Sites", operation_id = "getVersion",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("version" = i64, Path, description = "The number of the version."),
    ),
    responses((status = 200, description = "The version", body = VersionJson)),
    security(("api_key" = [])),
)]
pub(super) async fn version(
    State(state): State<ApiState>,
    KeyReader(known): KeyReader,
    Path((name, version)): Path<(String, String)>,
) -> Result<Json<VersionJson>, ApiError> {
    let version = number::integer(&version).ok_or_else(|| Error::not_found("version"))?;
    let (site, found) = state.app.get_version(&known.account, &name, version).await?;
    Ok(Json(VersionJson::new(&site, found, known.grant_id.as_deref())))
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
    Maker(known): Maker,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SiteJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let RollbackBody { version } = fields.take()?;
    let warnings = fields.unknown()?;
    let mut updated = state.app.rollback_site(&known.account, &name, version, known.maker).await?;
    updated.warnings.extend(warnings);
    Ok(Json(SiteJson::updated(&state.app, updated)))
}

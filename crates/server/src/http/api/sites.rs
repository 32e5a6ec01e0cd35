//! `/sites` and `/sites/{idOrSlug}`: publish, list, read, replace. Spec §4 Sites.

use super::idempotent_response::IdempotentResponse;
use super::site_form::{ReplaceBody, SiteReplacement, SiteUpload};
use super::site_json::SiteJson;
use crate::http::api_error::ApiError;
use crate::http::body_budget::Share;
use crate::http::extract::{
    Fields, Incoming, JsonLimit, Publisher, Reader, SiteWriter, check_size, idempotency_key,
    idempotent_request, json_object, name_shapes, parse_options, parse_pii_check, too_large,
};
use crate::http::media_type;
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use dropleaf_app::{Caller, CreatedSite, IdempotentRequest, ListQuery, SiteList, Upload};
use dropleaf_core::options::UploadOptions;
use dropleaf_core::site::State as SiteState;
use dropleaf_core::{Error, number};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

const SHAPES: &str =
    "Send multipart/form-data with a `file`, or {\"html\": \"…\"} with Content-Type: application/json.";

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct SiteListJson {
    sites: Vec<SiteJson>,
    /// Whether there are more sites.
    #[schema(example = false)]
    has_more: bool,
    /// Send as `before` to get them.
    next_before: Option<i64>,
    /// Send as `before_id` to get them.
    next_before_id: Option<String>,
}

/// List your sites, newest change first
#[utoipa::path(
    get, path = "/sites", tag = "Sites", operation_id = "listSites",
    params(
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 500, description = "Page size, 1 to 500; default 200."),
        ("before" = Option<i64>, Query, description = "`next_before` of the previous response."),
        ("before_id" = Option<String>, Query, description = "`next_before_id` of the previous response."),
        ("state" = Option<String>, Query, description = "`live` (default) or `expired`.", example = "live"),
    ),
    responses((status = 200, description = "The sites", body = SiteListJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    Reader(account): Reader,
    RawQuery(query): RawQuery,
) -> Result<Json<SiteListJson>, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let query = list_query(query.split('&').filter_map(|pair| pair.split_once('=')))?;
    Ok(Json(SiteListJson::new(&state, state.app.list_sites(&account, query).await?)))
}

impl SiteListJson {
    pub(in crate::http) fn new(state: &ApiState, found: SiteList) -> Self {
        let last =
            found.sites.last().filter(|_| found.has_more).map(|site| (site.updated_at, site.id.clone()));
        let (next_before, next_before_id) = last.unzip();
        let sites = found.sites.into_iter().map(|site| SiteJson::new(&state.app, site)).collect();
        Self { sites, has_more: found.has_more, next_before, next_before_id }
    }
}

/// Reads limit, cursor and state from names and values.
pub(in crate::http) fn list_query<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<ListQuery, Error> {
    let mut list = ListQuery::default();
    for (name, value) in pairs {
        let int = || number::integer(value).ok_or_else(|| Error::field(name, "must be an integer"));
        match name {
            "limit" => list.limit = int()?,
            "before" => list.before = Some(int()?),
            "before_id" => list.before_id = Some(value.to_owned()),
            "state" => {
                let shown = |state: &SiteState| matches!(state, SiteState::Live | SiteState::Expired);
                list.state = SiteState::parse(value)
                    .filter(shown)
                    .ok_or_else(|| Error::field(name, "must be live or expired"))?;
            }
            _ => {}
        }
    }
    Ok(list)
}

/// Publish a page
///
/// Send one file and get a private link. Without a credential, the page stays online for 24 hours and the response
/// contains a `claim_token`. With an `Idempotency-Key` the same request can be repeated safely.
#[utoipa::path(
    post, path = "/sites", tag = "Sites", operation_id = "createSite",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours.")),
    request_body(content = SiteUpload, content_type = "multipart/form-data"),
    responses((status = 201, description = "Published", body = SiteJson)),
    security((), ("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Publisher(caller): Publisher,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let form = Incoming { state: &state, headers: &headers, body }.form().await?;
    let options = parse_options(&form.fields)?;
    let once = idempotent_request(&state, idempotency_key(&headers), &caller, form.hash);
    Ok(publish(&state, &caller, form.upload, options, once.as_ref()).await?)
}

pub(in crate::http) async fn publish(
    state: &ApiState,
    caller: &Caller,
    upload: Upload,
    options: UploadOptions,
    once: Option<&IdempotentRequest>,
) -> Result<IdempotentResponse, Error> {
    let render = |created: &CreatedSite| SiteJson::created(&state.app, created).to_bytes();
    let done = state.app.create_site(caller, upload, options, once, render).await?;
    Ok(IdempotentResponse::of(done, StatusCode::CREATED, render))
}

/// Read one of your sites
#[utoipa::path(
    get, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "getSite",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
    responses((status = 200, description = "The site", body = SiteJson)),
    security(("api_key" = [])),
)]
pub(super) async fn read(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(name): Path<String>,
) -> Result<Json<SiteJson>, ApiError> {
    let site = state.app.get_site(&account, &name).await?;
    Ok(Json(SiteJson::new(&state.app, site)))
}

/// Replace a page's content at the same URL
///
/// Takes the same form as publishing, or JSON with `html`. Fields of the form that are sent change those settings too.
/// For a page without an owner, send `Authorization: Claim <claim_token>`; for one that a wallet paid for,
/// `Authorization: Wallet challenge=<challenge>,sig=<signature>`. Both can replace only the content.
#[utoipa::path(
    put, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "replaceSite",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
    request_body(content((SiteReplacement = "multipart/form-data"), (ReplaceBody = "application/json"))),
    responses((status = 200, description = "Replaced, same URL", body = SiteJson)),
    security(("api_key" = []), ("claim_token" = []), ("wallet_signature" = [])),
)]
pub(super) async fn replace(
    State(state): State<ApiState>,
    SiteWriter { writer, ip, .. }: SiteWriter,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SiteJson>, ApiError> {
    let seen = state.app.check_writer(&writer, &name, ip).await?;
    let incoming = Incoming { state: &state, headers: &headers, body };
    // The share of the memory budget is held until the page is stored.
    let (upload, options, _share) = if media_type::is(&headers, media_type::JSON) {
        let limit = state.resolved.config.limits.upload_bytes;
        let (bytes, share) = incoming.json(JsonLimit::of_text(limit), || too_large(limit)).await?;
        let mut fields = Fields::new(json_object(&bytes)?);
        drop(bytes);
        let ReplaceBody { html, expected_updated_at, spa, pii_check } = fields.take()?;
        check_size(html.len() as u64, limit)?;
        let pii_check = parse_pii_check(pii_check.as_deref())?;
        let warnings = fields.unknown()?;
        let options = UploadOptions {
            expected_updated_at: expected_updated_at.value(),
            pii_check,
            spa,
            warnings,
            ..UploadOptions::default()
        };
        (Upload::html(html), options, share)
    } else {
        let form = incoming.form().await.map_err(|error| name_shapes(error, &headers, SHAPES))?;
        let options = parse_options(&form.fields)?;
        (form.upload, options, Share::default())
    };
    let updated = state.app.replace_site(&writer, &name, seen, upload, options).await?;
    Ok(Json(SiteJson::updated(&state.app, updated)))
}

//! `/sites` and `/sites/{idOrSlug}`: publish, list, read, replace. Spec §4 Sites.

use super::site_json::SiteJson;
use super::written::Written;
use super::{ApiError, ApiState};
use crate::http::extract::{
    Fields, Incoming, Publisher, Reader, Share, SiteWriter, check_size, idempotency_key, json_object,
    most_json_bytes, once, too_large,
};
use crate::http::media_type;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use dropleaf_app::{Caller, Created, ListQuery, Once, SiteList, Upload};
use dropleaf_core::options::UploadOptions;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::site::State as SiteState;
use dropleaf_core::{Code, Error, number};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

/// The multipart form of an upload. All fields but `file` are optional and string-encoded.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "file": "<!doctype html>\n<title>Weekly report</title>\n<p>All is well.</p>\n", "expires_in_hours": "24", "title": "Weekly report"
}))]
#[expect(dead_code, reason = "describes the form; it is read as a stream")]
pub(super) struct SiteUpload {
    /// One .html, .htm, .md, .pdf, .svg, .txt, .png, .jpg, .gif, .webp or .avif file, or a .zip with `index.html` at its root.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
    /// Requested public subdomain; makes the site public.
    #[schema(nullable = false, example = "weekly-report")]
    slug: Option<String>,
    /// Password gate.
    #[schema(nullable = false, example = "correct horse")]
    password: Option<String>,
    /// Lifetime in hours, or `never`; anonymous uploads are capped at 24.
    #[schema(nullable = false, example = "24")]
    expires_in_hours: Option<String>,
    /// `true` deletes the site after its first view.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    burn_after_read: Option<String>,
    /// `true` if the payload is already AES-GCM ciphertext.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    e2e: Option<String>,
    /// `true` applies a strict Content-Security-Policy.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    csp_strict: Option<String>,
    /// `true` enables the annotation toolbar on the published page.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    agentation: Option<String>,
    /// Opens the page to addresses of this e-mail domain only.
    #[schema(nullable = false, example = "example.com")]
    email_gate_domain: Option<String>,
    /// Overrules the document's own title.
    title: Option<String>,
    /// What to do about secrets and personal data in the content: `off`, `warn` (the answer names kind and line) or
    /// `block` (422). Without it, what the operator chose; an operator's `block` holds for everybody.
    #[schema(nullable = false, pattern = "^(off|warn|block)$", example = "block")]
    pii_check: Option<String>,
}

/// New HTML for an existing page.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"html": "<!doctype html>\n<title>Weekly report</title>\n<p>All is well again.</p>\n", "pii_check": "warn"}))]
#[expect(dead_code, reason = "describes the body; it is read field by field")]
pub(super) struct ReplaceBody {
    /// Full HTML document.
    html: String,
    /// Refuse unless the page is still as it was then.
    expected_updated_at: Option<i64>,
    /// What to do about secrets and personal data in it: `off`, `warn` or `block` (422).
    #[schema(nullable = false, pattern = "^(off|warn|block)$", example = "block")]
    pii_check: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct SiteListJson {
    sites: Vec<SiteJson>,
    /// Whether there are older ones.
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
        ("limit" = Option<i64>, Query, minimum = 1, maximum = 500, description = "How many, 1 to 500; 200 by default."),
        ("before" = Option<i64>, Query, description = "`next_before` of the page before."),
        ("before_id" = Option<String>, Query, description = "`next_before_id` of the page before."),
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

/// Which part of the list, from names and values.
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
/// Sends one file and gets back a private link. Without a credential the page lives 24 hours and the answer carries a
/// `claim_token`. With an `Idempotency-Key` the same request can be repeated safely.
#[utoipa::path(
    post, path = "/sites", tag = "Sites", operation_id = "createSite",
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeat the request safely for 24 hours.")),
    request_body(content = SiteUpload, content_type = "multipart/form-data"),
    responses((status = 201, description = "Published", body = SiteJson)),
    security((), ("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Publisher(caller): Publisher,
    headers: HeaderMap,
    body: Body,
) -> Result<Written, ApiError> {
    let form = Incoming { state: &state, headers: &headers, body }.form().await?;
    let options =
        UploadOptions::parse(form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    let once = once(&state, idempotency_key(&headers), &caller, form.hash);
    Ok(publish(&state, &caller, form.upload, options, once.as_ref()).await?)
}

pub(in crate::http) async fn publish(
    state: &ApiState,
    caller: &Caller,
    upload: Upload,
    options: UploadOptions,
    once: Option<&Once>,
) -> Result<Written, Error> {
    let render = |created: &Created| SiteJson::created(&state.app, created).to_bytes();
    let done = state.app.create_site(caller, upload, options, once, render).await?;
    Ok(Written::of(done, StatusCode::CREATED, render))
}

/// Read one of your sites
#[utoipa::path(
    get, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "getSite",
    params(("idOrSlug" = String, Path, description = "The id, the slug or the token.")),
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
/// A page without an owner takes `Authorization: Claim <claim_token>`, one that a wallet paid for
/// `Authorization: Wallet challenge=<challenge>,sig=<signature>`; both replace the content only.
#[utoipa::path(
    put, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "replaceSite",
    params(("idOrSlug" = String, Path, description = "The id, the slug or the token.")),
    request_body(content((SiteUpload = "multipart/form-data"), (ReplaceBody = "application/json"))),
    responses((status = 200, description = "Replaced, same URL", body = SiteJson)),
    security(("api_key" = []), ("claim_token" = []), ("wallet_signature" = [])),
)]
pub(super) async fn replace(
    State(state): State<ApiState>,
    SiteWriter { writer, ip }: SiteWriter,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SiteJson>, ApiError> {
    let seen = state.app.check_writer(&writer, &name, ip).await?;
    let incoming = Incoming { state: &state, headers: &headers, body };
    // The share of the memory budget is held until the page is stored.
    let (upload, options, _share) = if media_type::is(&headers, media_type::JSON) {
        let limit = state.resolved.config.limits.upload_bytes;
        let (bytes, share) = incoming.bytes(most_json_bytes(limit), || too_large(limit)).await?;
        let mut fields = Fields::new(json_object(&bytes)?);
        drop(bytes);
        let html = fields.required_text("html")?;
        check_size(html.len() as u64, limit)?;
        let expected = fields.optional_int("expected_updated_at")?;
        let pii_check = fields.optional_text("pii_check")?.as_deref().map(PiiCheck::read).transpose()?;
        let warnings = fields.warnings();
        let options =
            UploadOptions { expected_updated_at: expected, pii_check, warnings, ..UploadOptions::default() };
        (Upload::html(html), options, share)
    } else {
        let form = incoming.form().await.map_err(name_both_shapes)?;
        let options =
            UploadOptions::parse(form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
        (form.upload, options, Share::default())
    };
    let updated = state.app.replace_site(&writer, &name, seen, upload, options).await?;
    Ok(Json(SiteJson::updated(&state.app, updated)))
}

/// A body of neither accepted type is refused with both of them.
fn name_both_shapes(error: Error) -> Error {
    if error.code != Code::NotMultipart {
        return error;
    }
    let detail =
        "Send multipart/form-data with a `file`, or {\"html\": \"…\"} with Content-Type: application/json.";
    Error::new(Code::NotMultipart, detail)
}

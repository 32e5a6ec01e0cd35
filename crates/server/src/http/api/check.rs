//! Serves `POST /check`: runs the checks of publishing on a page without publishing it. Nothing is stored.

use super::site_form::SiteUpload;
use crate::http::api_error::ApiError;
use crate::http::body_budget::Share;
use crate::http::extract::{
    AnyCaller, Document, Fields, Incoming, JsonLimit, UploadArguments, json_object, name_shapes,
    parse_options, too_large,
};
use crate::http::media_type;
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use dropleaf_app::{DryRun, Upload, UploadBody};
use dropleaf_core::finding::Finding;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::{Code, Error, Result};
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const SHAPES: &str = "Send multipart/form-data with a `file`, {\"html\": \"…\"} with Content-Type: application/json, or the page \
                      itself with Content-Type: text/html or text/markdown.";

/// A page to check. It can also be sent as `text/html` or `text/markdown`, or as the form of `POST /sites`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"html": "<!doctype html><title>Hi</title><p>Hello"}))]
pub(super) struct CheckBody {
    /// Full HTML document. Send exactly one of `html` and `markdown`.
    #[schema(nullable = false)]
    html: Option<String>,
    /// Markdown in place of HTML.
    #[schema(nullable = false)]
    markdown: Option<String>,
    /// What to do about secrets and personal data in it: `off`, `warn` or `block`.
    #[schema(nullable = false, pattern = "^(off|warn|block)$", example = "warn")]
    pii_check: Option<String>,
    /// Sent by clients that pass a body for `POST /publish` unchanged.
    #[schema(ignore)]
    filename: Option<String>,
}

/// The result of the check.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "accepted": false, "code": "phishing_blocked",
    "reasons": [{
        "rule": "sent-to-other-site", "file": "index.html", "line": 41,
        "why": "The page submits user input to another site (forms.example).",
        "fix": "Pages on this server cannot collect secrets. Remove the fields or make the form do nothing."
    }],
    "warnings": [], "content_hash": "9c1f…"
}))]
pub(in crate::http) struct CheckJson {
    accepted: bool,
    /// The error code that publishing would return; null if it would succeed.
    code: Option<&'static str>,
    /// Why it would be refused, strongest reason first; empty if it would not.
    reasons: Vec<ReasonJson>,
    /// What the publisher should know in either case.
    warnings: Vec<String>,
    /// BLAKE3 over the paths and contents of all files. An allowed appeal applies to this hash.
    content_hash: String,
}

/// A reason for a refusal, and how to fix it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonJson {
    /// The stable name of the rule.
    pub(crate) rule: String,
    /// The path inside the upload.
    pub(crate) file: String,
    /// From 1; null if the reason concerns the file as a whole.
    pub(crate) line: Option<u64>,
    pub(crate) why: String,
    pub(crate) fix: String,
}

impl From<Finding> for ReasonJson {
    fn from(found: Finding) -> Self {
        let Finding { rule, file, line, why, fix } = found;
        Self { rule, file, line, why, fix }
    }
}

impl From<DryRun> for CheckJson {
    fn from(run: DryRun) -> Self {
        Self {
            accepted: run.code.is_none(),
            code: run.code.map(Code::as_str),
            reasons: run.checked.reasons.into_iter().map(ReasonJson::from).collect(),
            warnings: run.checked.warnings,
            content_hash: run.content_hash,
        }
    }
}

/// Check a page before publishing it
///
/// Says whether the page would be refused as phishing, as content that was taken down before, or for secrets in it,
/// with the reasons and how to fix them. Takes what `POST /sites` takes, or JSON, or the page itself. Needs no
/// credential and stores nothing; content that could not be published at all is refused with the errors of
/// `POST /sites`.
#[utoipa::path(
    post, path = "/check", tag = "Sites", operation_id = "checkPage",
    request_body(content(
        (SiteUpload = "multipart/form-data"), (CheckBody = "application/json"), (String = "text/html"), (String = "text/markdown"),
    )),
    responses((status = 200, description = "The result of the check", body = CheckJson)),
    security(()),
)]
pub(super) async fn check(
    State(state): State<ApiState>,
    AnyCaller(ip): AnyCaller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CheckJson>, ApiError> {
    let (upload, options, _share) = read(&state, &headers, body).await?;
    Ok(Json(state.app.check_upload(ip, upload, options).await?.into()))
}

/// Reads the page from the request, in any of its encodings. The returned share holds its part of the memory budget.
async fn read(state: &ApiState, headers: &HeaderMap, body: Body) -> Result<(Upload, UploadOptions, Share)> {
    let limit = state.resolved.config.limits.upload_bytes;
    let incoming = Incoming { state, headers, body };
    if media_type::is(headers, media_type::JSON) {
        let (bytes, share) = incoming.json(JsonLimit::of_text(limit), || too_large(limit)).await?;
        let mut fields = Fields::new(json_object(&bytes)?);
        drop(bytes);
        let CheckBody { html, markdown, pii_check, filename } = fields.take()?;
        let document = Document::new(html, markdown, limit)?;
        if filename.is_some_and(|name| !dropleaf_content::can_name_a_page(&name)) {
            let why = "must be the file name of an HTML page, such as report.html";
            return Err(Error::field("filename", why));
        }
        // Other upload options are ignored once they are valid: they do not affect the content check.
        let mut chosen = fields.take::<UploadArguments>()?.into_form_fields();
        chosen.extend(pii_check.map(|text| ("pii_check".to_owned(), text)));
        let mut options = parse_options(&chosen)?;
        options.warnings.extend(fields.unknown()?);
        return Ok((document.upload(), options, share));
    }
    for (kind, name) in [(media_type::HTML, "index.html"), (media_type::MARKDOWN, "index.md")] {
        if media_type::is(headers, kind) {
            let (bytes, share) = incoming.bytes(limit, || too_large(limit)).await?;
            let (filename, content_type) = (Some(name.to_owned()), Some(kind.to_owned()));
            let upload = Upload { filename, content_type, body: UploadBody::Memory(bytes) };
            return Ok((upload, UploadOptions::default(), share));
        }
    }
    let form = incoming.form().await.map_err(|error| name_shapes(error, headers, SHAPES))?;
    let options = parse_options(&form.fields)?;
    Ok((form.upload, options, Share::default()))
}

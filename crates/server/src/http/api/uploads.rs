//! Serves `/uploads/…`: accepts a file for an upload ticket issued earlier. The address is the credential.

use super::idempotent_response::IdempotentResponse;
use super::site_json::SiteJson;
use crate::http::api_error::ApiError;
use crate::http::extract::{Form, Incoming, TicketHolder};
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{TicketUpload, UpdatedSite, WritableSite};
use dropleaf_core::site::Site;
use dropleaf_core::{Code, Error, lookalike};
use http::{HeaderMap, StatusCode};
use utoipa::ToSchema;

/// The file alone: the options are part of the address.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"file": "<!doctype html>\n<title>Weekly report</title>\n<p>All is well.</p>\n"}))]
#[expect(dead_code, reason = "describes the form; it is read as a stream")]
pub(super) struct UploadForm {
    /// One .html, .htm, .md, .pdf, .svg, .txt, .csv, .tsv, .json, .ipynb, .png, .jpg, .gif, .webp or .avif file, or a .zip with an `index.html`, a `README.md` or a single HTML file.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
}

/// Send a file to an upload address
///
/// The MCP tool `create_upload` creates such addresses; `curl -T FILE ADDRESS` sends to them. An address accepts one
/// file within 15 minutes, while the key or access it was created with is valid. Sending the same file again gets the
/// same response.
#[utoipa::path(
    put, path = "/uploads/{ticket}/{filename}", tag = "Uploads", operation_id = "putUpload",
    params(
        ("ticket" = String, Path, description = "The token from `create_upload`."),
        ("filename" = String, Path, description = "The file name; its extension determines the type."),
    ),
    request_body(content = String, content_type = "application/octet-stream", description = "The file."),
    responses(
        (status = 201, description = "Published", body = SiteJson),
        (status = 200, description = "Replaced, same URL", body = SiteJson),
    ),
    security(()),
)]
pub(super) async fn put(
    State(state): State<ApiState>,
    holder: TicketHolder,
    Path(names): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let place = state.app.check_ticket_target(&holder.ticketed).await?;
    let form = Incoming { state: &state, headers: &headers, body }.file(names.1).await?;
    take(&state, holder, place, form).await
}

/// Send a file to an upload address as a form
///
/// For programs that send forms; otherwise the same as `PUT`.
#[utoipa::path(
    post, path = "/uploads/{ticket}", tag = "Uploads", operation_id = "postUpload",
    params(("ticket" = String, Path, description = "The token from `create_upload`.")),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "Published", body = SiteJson),
        (status = 200, description = "Replaced, same URL", body = SiteJson),
    ),
    security(()),
)]
pub(super) async fn post(
    State(state): State<ApiState>,
    holder: TicketHolder,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let place = state.app.check_ticket_target(&holder.ticketed).await?;
    let form = Incoming { state: &state, headers: &headers, body }.hashed_form().await?;
    take(&state, holder, place, form).await
}

async fn take(
    state: &ApiState,
    holder: TicketHolder,
    place: Option<WritableSite>,
    form: Form,
) -> Result<IdempotentResponse, ApiError> {
    let TicketHolder { ticketed, ip } = holder;
    let status = if ticketed.publishes() { StatusCode::CREATED } else { StatusCode::OK };
    let request_hash = form.hash.ok_or_else(|| Error::plain(Code::Internal))?;
    // A protection sent with the file would be ignored, so it is refused: it is part of the ticket or not set at all.
    lookalike::unknown_fields(form.fields.iter().map(|(name, _)| name.as_str()), &[])?;
    let beside = form.fields.first().map(|_| "Only the file is used here; set options with create_upload.");
    let warnings = beside.map(str::to_owned).into_iter().collect();
    let arrived = TicketUpload { ticketed, place, ip, upload: form.upload, request_hash, warnings };
    let render = |site: &Site, warnings: &[String]| {
        SiteJson::changed(&state.app, site.clone(), warnings.to_vec()).to_bytes()
    };
    let done = state.app.upload_with_ticket(arrived, render).await?;
    Ok(IdempotentResponse::of(done, status, |UpdatedSite { site, warnings }| render(site, warnings)))
}

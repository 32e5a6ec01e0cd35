//! Serves `PUT` and `DELETE /sites/{idOrSlug}/files/{path}`: one file of an archive, without sending the rest. The same
//! operation as `PATCH …/content`.

use super::idempotent_response::IdempotentResponse;
use super::site_json::SiteJson;
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, SiteWriter, idempotency_key, idempotent_request, too_large};
use crate::http::media_type;
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use bytes::Bytes;
use dropleaf_app::{Caller, ContentEdit, EditedSite, FileChange, WritableSite, Writer};
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::{Code, Error, Result, lookalike, number};
use http::{HeaderMap, StatusCode};

/// The parameters of the query.
const PARAMETERS: [&str; 2] = ["expected_updated_at", "dry_run"];

/// Add or replace one file of an archive
///
/// The body is the file; its name decides its type. The other files stay, and the result passes every check of an upload and
/// becomes a new version. If the file is already the same, nothing changes. Slashes in the path can be sent as they are.
#[utoipa::path(
    put, path = "/sites/{idOrSlug}/files/{*path}", tag = "Sites", operation_id = "putFile",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("path" = String, Path, description = "The path of the file inside the archive.", example = "css/style.css"),
        ("expected_updated_at" = Option<i64>, Query, description = "The `updated_at` you saw: refuses with `conflict` if the page has changed since."),
        ("dry_run" = Option<bool>, Query, description = "Check everything and show the difference, but change nothing."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours."),
    ),
    request_body(content = String, content_type = "application/octet-stream", description = "The file."),
    responses((status = 200, description = "Changed, same URL; `diff` shows what changed", body = SiteJson)),
    security(("api_key" = []), ("claim_token" = []), ("wallet_signature" = [])),
)]
pub(super) async fn put(
    State(state): State<ApiState>,
    caller: SiteWriter,
    Path((name, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let edit = parse_query(query.as_deref().unwrap_or_default())?;
    let seen = state.app.check_writer(&caller.writer, &name, caller.ip).await?;
    let incoming = Incoming { state: &state, headers: &headers, body };
    if media_type::is(&headers, media_type::FORM_DATA) {
        let error = Error::new(
            Code::InvalidRequest,
            "Send the file itself as the body, not as a form: `curl -T FILE URL`.",
        );
        incoming.refuse(&error);
        return Err(error.into());
    }
    let limit = state.resolved.config.limits.upload_bytes;
    // The share of the memory budget is held until the page is stored.
    let (bytes, _share) = incoming.bytes(limit, || too_large(limit)).await?;
    let target = FileTarget { name, path, content: Some(bytes) };
    Ok(change(&state, caller, target, seen, edit, &headers).await.map_err(name_parameter)?)
}

/// Remove one file of an archive
///
/// The other files stay, and the result passes every check of an upload and becomes a new version.
#[utoipa::path(
    delete, path = "/sites/{idOrSlug}/files/{*path}", tag = "Sites", operation_id = "deleteFile",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("path" = String, Path, description = "The path of the file inside the archive.", example = "css/style.css"),
        ("expected_updated_at" = Option<i64>, Query, description = "The `updated_at` you saw: refuses with `conflict` if the page has changed since."),
        ("dry_run" = Option<bool>, Query, description = "Check everything and show the difference, but change nothing."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours."),
    ),
    responses((status = 200, description = "Removed, same URL; `diff` shows what changed", body = SiteJson)),
    security(("api_key" = []), ("claim_token" = []), ("wallet_signature" = [])),
)]
pub(super) async fn delete(
    State(state): State<ApiState>,
    caller: SiteWriter,
    Path((name, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<IdempotentResponse, ApiError> {
    let edit = parse_query(query.as_deref().unwrap_or_default())?;
    let seen = state.app.check_writer(&caller.writer, &name, caller.ip).await?;
    let target = FileTarget { name, path, content: None };
    Ok(change(&state, caller, target, seen, edit, &headers).await.map_err(not_there)?)
}

/// One file of a page, with its new content unless it is deleted.
struct FileTarget {
    name: String,
    path: String,
    content: Option<Bytes>,
}

async fn change(
    state: &ApiState,
    SiteWriter { writer, grant_id, ip }: SiteWriter,
    FileTarget { name, path, content }: FileTarget,
    seen: WritableSite,
    edit: ContentEdit,
    headers: &HeaderMap,
) -> Result<IdempotentResponse> {
    let key = idempotency_key(headers);
    let hash = key.is_some().then(|| {
        let hash = RequestHash::new(if content.is_some() { "put_file" } else { "delete_file" });
        let expected = edit.expected_updated_at.map(|at| at.to_string()).unwrap_or_default();
        let hash = hash.field("site", &name).field("path", &path).field("expected", expected);
        hash.field("content", content.as_deref().unwrap_or_default()).finish()
    });
    let limit = state.resolved.config.limits.upload_bytes;
    let edit = ContentEdit {
        files: vec![FileChange { path, content }],
        most_bytes: usize::try_from(limit).unwrap_or(usize::MAX),
        may_be_same: true,
        ..edit
    };
    let account = match &writer {
        Writer::Account(account, _) => Some(account.clone()),
        Writer::Claim(_) | Writer::Wallet(_) => None,
    };
    let caller = Caller { account, grant_id, ip, maker: None };
    let once = idempotent_request(state, key, &caller, hash);
    let render = |edited: &EditedSite| SiteJson::edited(&state.app, edited).to_bytes();
    let done = state.app.edit_content(&writer, &name, seen, edit, once.as_ref(), render).await?;
    Ok(IdempotentResponse::of(done, StatusCode::OK, render))
}

/// Reads the options. One that is unknown and looks like a protection is refused; others are ignored with a warning.
fn parse_query(query: &str) -> Result<ContentEdit> {
    let mut edit = ContentEdit::default();
    let mut unknown = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "expected_updated_at" => {
                let at =
                    number::integer(&value).ok_or_else(|| Error::field(&name, "must be epoch seconds"))?;
                edit.expected_updated_at = Some(at);
            }
            "dry_run" => {
                edit.dry_run = match &*value {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    _ => return Err(Error::field(&name, "must be true or false")),
                };
            }
            _ => unknown.push(name.into_owned()),
        }
    }
    edit.warnings = lookalike::unknown_fields(unknown.iter().map(String::as_str), &PARAMETERS)?;
    Ok(edit)
}

/// Names the path as this operation calls it.
fn name_parameter(error: Error) -> Error {
    match &error.fault {
        Some(fault) if fault.name == "files[0].path" => Error::field("path", &fault.why),
        _ => error,
    }
}

/// A file that cannot be deleted because it is not there.
fn not_there(error: Error) -> Error {
    match &error.fault {
        Some(fault) if fault.name == "files[0].path" => {
            Error::new(Code::NotFound, format!("The path {}.", fault.why))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_the_query_and_misspelled_protections_refused() {
        let edit = parse_query("expected_updated_at=7&dry_run=true&colour=red").unwrap();
        assert_eq!((edit.expected_updated_at, edit.dry_run, edit.warnings.len()), (Some(7), true, 1));
        for bad in
            ["expected_updated_at=now", "expected_updated_at=", "dry_run=maybe", "pii_check=off", "passwd=x"]
        {
            assert_eq!(parse_query(bad).unwrap_err().code, Code::InvalidField, "{bad}");
        }
    }
}

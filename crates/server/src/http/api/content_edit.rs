//! Serves `PATCH /sites/{idOrSlug}/content`: edits the uploaded source in place. The MCP tool takes the same arguments.

use super::idempotent_response::IdempotentResponse;
use super::site_json::SiteJson;
use crate::http::api_error::ApiError;
use crate::http::extract::{
    Fields, Incoming, JsonLimit, SiteWriter, idempotency_key, idempotent_request, json_object, nullable,
    parse_pii_check, pii_check_schema, too_large,
};
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{Caller, ContentEdit, EditedSite, FileChange, FileEdit, MOST_CHANGED_FILES, Writer};
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::site_change::Field;
use dropleaf_core::text_edit::{MOST_EDITS, TextEdit};
use dropleaf_core::{Error, Result, base64};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::ToSchema;

/// Changes to the uploaded source of a page. All of them apply, or none.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"edits": [{"find": "All is well.", "replace": "All is well again."}]}))]
#[expect(dead_code, reason = "describes the body, which is read list by list")]
pub(in crate::http) struct ContentEditBody {
    /// At most 100 literal replacements in the source as it was before.
    #[schema(nullable = false, inline)]
    edits: Option<Vec<EditItem>>,
    /// At most 100 files of an archive to add, replace or delete.
    #[schema(nullable = false, inline)]
    files: Option<Vec<FileItem>>,
    /// The `updated_at` you saw: a page changed since is a `conflict`.
    #[schema(nullable = false)]
    expected_updated_at: Option<i64>,
    /// Check and show the difference, but change nothing.
    #[schema(nullable = false)]
    dry_run: Option<bool>,
    /// Unknown paths get the page, for client-side routes.
    #[schema(nullable = false)]
    spa: Option<bool>,
    #[schema(schema_with = pii_check_schema, required = false)]
    pii_check: Option<String>,
}

/// One literal replacement.
#[derive(Debug, Deserialize, ToSchema)]
pub(in crate::http) struct EditItem {
    /// Literal text that occurs exactly once, unless `all`.
    find: String,
    /// Literal text; may be empty.
    replace: String,
    /// Replace every match.
    #[schema(nullable = false)]
    all: Option<bool>,
    /// File of an archive; the start page by default.
    #[schema(nullable = false)]
    path: Option<String>,
}

/// One file of an archive. Send `content`, `content_base64` or `delete`.
#[derive(Debug, Deserialize, ToSchema)]
pub(in crate::http) struct FileItem {
    path: String,
    /// The whole text of the file.
    #[schema(nullable = false)]
    content: Option<String>,
    /// The whole file in base64.
    #[schema(nullable = false)]
    content_base64: Option<String>,
    /// Remove the file.
    #[schema(nullable = false)]
    delete: Option<bool>,
}

/// The fields that are not lists.
#[derive(Debug, Deserialize)]
struct EditOptions {
    #[serde(deserialize_with = "nullable")]
    expected_updated_at: Field<i64>,
    dry_run: Option<bool>,
    spa: Option<bool>,
    pii_check: Option<String>,
}

/// Edit a page's content in place
///
/// Replaces literal text in the uploaded source (the Markdown of a Markdown page, the CSV of a table), or single files of an
/// archive, without sending the rest. All changes apply, or none. The result passes every check of an upload and becomes a new
/// version. The response has the difference. With an `Idempotency-Key` the same request can be repeated safely.
#[utoipa::path(
    patch, path = "/sites/{idOrSlug}/content", tag = "Sites", operation_id = "editContent",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours."),
    ),
    request_body(content = ContentEditBody, content_type = "application/json"),
    responses((status = 200, description = "Edited, same URL; `diff` shows what changed", body = SiteJson)),
    security(("api_key" = []), ("claim_token" = []), ("wallet_signature" = [])),
)]
pub(super) async fn edit(
    State(state): State<ApiState>,
    SiteWriter { writer, grant_id, ip }: SiteWriter,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let seen = state.app.check_writer(&writer, &name, ip).await?;
    let limit = state.resolved.config.limits.upload_bytes;
    let incoming = Incoming { state: &state, headers: &headers, body };
    // The share of the memory budget is held until the page is stored.
    let (bytes, _share) = incoming.json(JsonLimit::of_text(limit), || too_large(limit)).await?;
    let key = idempotency_key(&headers);
    let hash = key
        .is_some()
        .then(|| RequestHash::new("edit_content").field("site", &name).field("body", &bytes[..]).finish());
    let mut fields = Fields::new(json_object(&bytes)?);
    drop(bytes);
    let mut edit = parse_content_edit(&mut fields, limit)?;
    edit.warnings.extend(fields.unknown()?);
    let account = match &writer {
        Writer::Account(account, _) => Some(account.clone()),
        Writer::Claim(_) | Writer::Wallet(_) => None,
    };
    let caller = Caller { account, grant_id, ip, maker: None };
    let once = idempotent_request(&state, key, &caller, hash);
    let render = |edited: &EditedSite| SiteJson::edited(&state.app, edited).to_bytes();
    let done = state.app.edit_content(&writer, &name, seen, edit, once.as_ref(), render).await?;
    Ok(IdempotentResponse::of(done, StatusCode::OK, render))
}

/// Reads the changes from the fields of a request.
pub(in crate::http) fn parse_content_edit(fields: &mut Fields, limit: u64) -> Result<ContentEdit> {
    let mut warnings = Vec::new();
    let mut edits = Vec::new();
    for (index, mut item) in fields.take_list("edits", MOST_EDITS)?.into_iter().enumerate() {
        let EditItem { find, replace, all, path } =
            item.take().map_err(|error| within(error, "edits", index))?;
        let edit = TextEdit { find, replace, all: all.unwrap_or_default(), index };
        edits.push(FileEdit { path, edit });
        warnings.extend(item.unknown()?);
    }
    let mut files = Vec::new();
    for (index, mut item) in fields.take_list("files", MOST_CHANGED_FILES)?.into_iter().enumerate() {
        let file: FileItem = item.take().map_err(|error| within(error, "files", index))?;
        files.push(file.change().map_err(|error| within(error, "files", index))?);
        warnings.extend(item.unknown()?);
    }
    let EditOptions { expected_updated_at, dry_run, spa, pii_check } = fields.take()?;
    Ok(ContentEdit {
        edits,
        files,
        expected_updated_at: expected_updated_at.value(),
        spa,
        pii_check: parse_pii_check(pii_check.as_deref())?,
        dry_run: dry_run.unwrap_or_default(),
        may_be_same: false,
        most_bytes: usize::try_from(limit).unwrap_or(usize::MAX),
        warnings,
    })
}

impl FileItem {
    fn change(self) -> Result<FileChange> {
        let Self { path, content, content_base64, delete } = self;
        let content = match (content, content_base64, delete.unwrap_or_default()) {
            (Some(text), None, false) => Some(text.into_bytes().into()),
            (None, Some(text), false) => {
                let bytes = base64::decode(&text);
                Some(bytes.ok_or_else(|| Error::field("content_base64", "is not valid base64"))?.into())
            }
            (None, None, true) => None,
            _ => {
                let why = "needs exactly one of `content`, `content_base64` and `delete: true`";
                return Err(Error::field("path", why));
            }
        };
        Ok(FileChange { path, content })
    }
}

/// Names the entry of the list in an error about one of its fields.
fn within(error: Error, list: &str, index: usize) -> Error {
    match &error.fault {
        Some(fault) => Error::field(&format!("{list}[{index}].{}", fault.name), &fault.why),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(body: Value) -> Result<ContentEdit> {
        let Value::Object(map) = body else { panic!("an object") };
        parse_content_edit(&mut Fields::new(map), 1000)
    }

    #[test]
    fn edits_and_files_are_read_from_lists() {
        let edit = parsed(json!({
            "edits": [{"find": "a", "replace": "b", "all": true, "path": "x.css"}, {"find": "c", "replace": ""}],
            "files": [{"path": "a", "content": "t"}, {"path": "b", "content_base64": "/w=="}, {"path": "c", "delete": true}],
            "expected_updated_at": 7, "dry_run": true,
        }))
        .unwrap();
        assert_eq!((edit.edits.len(), edit.edits[1].edit.index, edit.edits[0].edit.all), (2, 1, true));
        assert_eq!(edit.files[1].content.as_deref(), Some(&b"\xff"[..]));
        assert_eq!(edit.files[2].content, None);
        assert_eq!((edit.expected_updated_at, edit.dry_run), (Some(7), true));
    }

    #[test]
    fn errors_name_the_entry() {
        for (body, said) in [
            (
                json!({"edits": [{"find": "a", "replace": "b"}, {"find": 1}]}),
                "`edits[1].find` must be a string.",
            ),
            (json!({"edits": [{"find": "a"}]}), "`edits[0].replace` is required."),
            (json!({"edits": ["a"]}), "`edits` must be a list of objects."),
            (json!({"edits": {"find": "a"}}), "`edits` must be a list of objects."),
            (json!({"files": [{"path": "a"}]}), "`files[0].path` needs exactly one of"),
            (
                json!({"files": [{"path": "a", "content_base64": "?"}]}),
                "`files[0].content_base64` is not valid",
            ),
        ] {
            let detail = parsed(body).unwrap_err().detail;
            assert!(detail.starts_with(said), "{detail}");
        }
        let many: Vec<Value> = (0..=MOST_EDITS).map(|_| json!({})).collect();
        assert!(parsed(json!({"edits": many})).unwrap_err().detail.contains("more than 100"));
    }
}

//! Serves `GET /sites/{idOrSlug}/diff`: what changed between two versions, as JSON or as unified text.

use crate::http::api_error::ApiError;
use crate::http::extract::Reader;
use crate::http::media_type;
use crate::http::state::ApiState;
use crate::http::string_enum::words;
use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{FileDiff, FileStatus, Hunk, VersionDiff};
use dropleaf_core::{Error, Result, number};
use http::{HeaderMap, header};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

/// Follows the last line of a file if it has no line end, as in a unified difference.
const UNTERMINATED: &str = "\\ No newline at end of file";
const PLAIN: &str = "text/plain";

/// What changed between two versions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "from": 1, "to": 2, "truncated": false, "files": [{
        "path": "index.html", "status": "changed", "binary": false, "truncated": false, "hunks": [{
            "old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1,
            "lines": ["-<p>All is well.</p>", "+<p>All is well again.</p>"]
        }]
    }]
}))]
pub(in crate::http) struct VersionDiffJson {
    from: i64,
    to: i64,
    /// The uploaded files that differ.
    files: Vec<FileDiffJson>,
    /// Files or lines were left out or cut because the difference is too long.
    truncated: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct FileDiffJson {
    path: String,
    #[schema(schema_with = status)]
    status: &'static str,
    /// Not text, so there are no lines to compare.
    binary: bool,
    truncated: bool,
    hunks: Vec<HunkJson>,
}

/// Lines that changed, with up to three lines around them.
#[derive(Debug, Serialize, ToSchema)]
struct HunkJson {
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    /// Each begins with a space, `-` or `+`. One that begins with `\` says that the line before it has no line end.
    lines: Vec<String>,
}

fn status() -> Object {
    words([FileStatus::Added, FileStatus::Removed, FileStatus::Changed].map(FileStatus::as_str), None)
}

impl VersionDiffJson {
    pub(in crate::http) fn new(diff: VersionDiff) -> Self {
        let VersionDiff { from, to, content, .. } = diff;
        let files = content.files.into_iter().map(FileDiffJson::from).collect();
        Self { from, to, files, truncated: content.is_truncated }
    }
}

impl From<FileDiff> for FileDiffJson {
    fn from(file: FileDiff) -> Self {
        let FileDiff { path, status, is_binary, hunks, is_truncated } = file;
        let hunks = hunks.into_iter().map(HunkJson::from).collect();
        Self { path, status: status.as_str(), binary: is_binary, truncated: is_truncated, hunks }
    }
}

impl From<Hunk> for HunkJson {
    fn from(hunk: Hunk) -> Self {
        let Hunk { old_start, old_lines, new_start, new_lines, lines } = hunk;
        let lines = lines
            .into_iter()
            .flat_map(|line| {
                let end = line.is_unterminated.then(|| UNTERMINATED.to_owned());
                [Some(format!("{}{}", line.kind.sign(), line.text)), end]
            })
            .flatten()
            .collect();
        Self { old_start, old_lines, new_start, new_lines, lines }
    }
}

/// Compare two versions of a page
///
/// Compares the uploaded files, not the pages rendered from them. JSON by default; with `Accept: text/plain` or `format=text`,
/// a unified difference. Long differences are cut.
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/diff", tag = "Sites", operation_id = "diffVersions",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("from" = Option<i64>, Query, minimum = 1, description = "The older version; by default the one before `to`."),
        ("to" = Option<i64>, Query, minimum = 1, description = "The newer version; by default the current one."),
        ("format" = Option<String>, Query, description = "`json` or `text`; overrides `Accept`.", example = "text"),
    ),
    responses((status = 200, description = "The differences", content(
        (VersionDiffJson = "application/json"), (String = "text/plain"),
    ))),
    security(("api_key" = [])),
)]
pub(super) async fn diff(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let query = DiffQuery::parse(query.as_deref().unwrap_or_default())?;
    let diff = state.app.diff_versions(&account, &name, query.from, query.to).await?;
    if query.is_text.unwrap_or_else(|| prefers_text(&headers)) {
        // The text is untrusted: it must not be taken for a page.
        let headers = [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
        ];
        return Ok((headers, diff.content.unified()).into_response());
    }
    Ok(Json(VersionDiffJson::new(diff)).into_response())
}

fn prefers_text(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ACCEPT)
        && media_type::accepts(headers, PLAIN)
        && !media_type::accepts(headers, media_type::JSON)
}

/// The versions and the format named in the query.
#[derive(Debug, Default, PartialEq, Eq)]
struct DiffQuery {
    from: Option<i64>,
    to: Option<i64>,
    is_text: Option<bool>,
}

impl DiffQuery {
    fn parse(query: &str) -> Result<Self> {
        let mut parsed = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let version = || {
                let version = number::integer(&value).filter(|version| *version >= 1);
                version.ok_or_else(|| Error::field(&name, "must be an integer of at least 1"))
            };
            match &*name {
                "from" => parsed.from = Some(version()?),
                "to" => parsed.to = Some(version()?),
                "format" => {
                    parsed.is_text = match &*value {
                        "text" => Some(true),
                        "json" => Some(false),
                        _ => return Err(Error::field(&name, "must be json or text")),
                    }
                }
                _ => {}
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_format_are_read_from_the_query() {
        let parsed = DiffQuery::parse("from=2&to=5&format=text&x=y").unwrap();
        assert_eq!(parsed, DiffQuery { from: Some(2), to: Some(5), is_text: Some(true) });
        assert_eq!(DiffQuery::parse("").unwrap(), DiffQuery::default());
        for bad in ["from=0", "to=x", "format=html", "from=1.5"] {
            assert!(DiffQuery::parse(bad).is_err(), "{bad}");
        }
    }
}

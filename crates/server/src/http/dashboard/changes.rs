//! Serves `/dashboard/pages/{id}/changes`: two versions of a page, side by side.

use super::shell;
use crate::http::state::ApiState;
use crate::http::web::{Person, WebError, page};
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use dropleaf_app::{FileDiff, LineKind};
use dropleaf_core::{Error, number};
use dropleaf_pages::dashboard::{
    ChangedFile, ChangedLine, ChangedLines, ChangesPage, ComparedVersion, changes,
};

pub(super) async fn read(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    person: Person,
) -> Result<Response, WebError> {
    let query = query.unwrap_or_default();
    let version = |wanted: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let Some((_, value)) = pairs.find(|(name, _)| name == wanted) else { return Ok(None) };
        number::integer(&value).map(Some).ok_or_else(|| Error::not_found("version"))
    };
    let diff = state.app.diff_versions(&person.account, &id, version("from")?, version("to")?).await?;
    let (site, versions) = state.app.list_versions(&person.account, &id).await?;
    let versions =
        versions.iter().map(|known| ComparedVersion { version: known.version, created_at: known.created_at });
    let view = ChangesPage {
        site_id: &site.id,
        title: &site.title,
        from: diff.from,
        to: diff.to,
        versions: versions.collect(),
        files: diff.content.files.into_iter().map(file).collect(),
        is_truncated: diff.content.is_truncated,
    };
    Ok(page(changes(shell(&person, None), &view)))
}

fn file(file: FileDiff) -> ChangedFile {
    let part = |hunk: dropleaf_app::Hunk| ChangedLines {
        old_start: hunk.old_start,
        new_start: hunk.new_start,
        lines: hunk
            .lines
            .into_iter()
            .map(|line| match line.kind {
                LineKind::Context => ChangedLine::Same(line.text),
                LineKind::Removed => ChangedLine::Removed(line.text),
                LineKind::Added => ChangedLine::Added(line.text),
            })
            .collect(),
    };
    ChangedFile {
        path: file.path,
        status: file.status.as_str(),
        is_binary: file.is_binary,
        is_truncated: file.is_truncated,
        parts: file.hunks.into_iter().map(part).collect(),
    }
}

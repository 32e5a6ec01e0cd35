//! Serves `/dashboard/pages/{id}/changes`: two versions of a page, side by side.

use super::shell;
use crate::http::changed_file::changed_file;
use crate::http::state::ApiState;
use crate::http::web::{Person, WebError, page};
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use dropleaf_core::{Error, number};
use dropleaf_pages::Moment;
use dropleaf_pages::dashboard::{ChangesPage, ComparedVersion, changes};

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
    let versions = versions
        .iter()
        .map(|known| ComparedVersion { version: known.version, created: Moment(known.created_at) });
    let view = ChangesPage {
        site_id: &site.id,
        title: &site.title,
        from: diff.from,
        to: diff.to,
        versions: versions.collect(),
        files: diff.content.files.iter().map(changed_file).collect(),
        is_truncated: diff.content.is_truncated,
    };
    Ok(page(changes(shell(&person, None), &view)))
}

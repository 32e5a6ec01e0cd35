//! Serves `/dashboard/apps`: lists the programs a person has authorized, and revokes their access.

use crate::http::state::ApiState;
use crate::http::web::{Person, Query, SignedForm, WebError, page, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_pages::dashboard::{Done, Section, apps};

pub(super) async fn list(
    State(state): State<ApiState>,
    person: Person,
    query: Query,
) -> Result<Response, WebError> {
    let grants = state.app.list_grants(&person.account).await?;
    let shell = person.shell(Section::Apps, query.done());
    let base_url = state.resolved.hosts.base.url();
    Ok(page(apps(shell, &grants, &base_url)))
}

pub(super) async fn revoke(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    state.app.revoke_grant(&form.person.account, &id).await?;
    Ok(see_other(&Done::AppRevoked.address("/dashboard/apps")))
}

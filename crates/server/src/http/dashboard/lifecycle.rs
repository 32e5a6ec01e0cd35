//! Rolls back, deletes and restores a page.

use super::page::{Sent, done, refuse, settle};
use super::settings::seen;
use crate::http::state::ApiState;
use crate::http::web::{RemovalForm, SignedForm, WebError};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::version_maker::{MakerKind, VersionMaker};
use dropleaf_core::{Error, number};
use dropleaf_pages::dashboard::Done;

pub(super) async fn rollback(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let version =
        number::integer(fields.text("version")).ok_or_else(|| Error::field("version", "must be a number"));
    let outcome = match version.and_then(|version| seen(&fields).map(|at| (version, at))) {
        Ok((version, at)) => {
            let maker = VersionMaker::unnamed(MakerKind::Dashboard);
            state.app.rollback_if_unchanged(&person.account, &id, version, at, maker).await
        }
        Err(error) => Err(error),
    };
    let sent = Sent { form: "rollback", field: Some(""), fields: &fields };
    settle(&state, &person, &id, sent, outcome, Done::RolledBack).await
}

pub(super) async fn delete(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    RemovalForm { person, fields }: RemovalForm,
) -> Result<Response, WebError> {
    match state.app.delete_site(&person.account, &id, false).await {
        Ok(_) => Ok(done(&id, Done::Deleted)),
        Err(error) => {
            refuse(&state, &person, &id, Sent { form: "delete", field: Some(""), fields: &fields }, error)
                .await
        }
    }
}

pub(super) async fn restore(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let outcome = state.app.restore_site(&person.account, &id).await;
    let sent = Sent { form: "restore", field: Some(""), fields: &fields };
    settle(&state, &person, &id, sent, outcome, Done::Restored).await
}

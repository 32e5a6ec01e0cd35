//! Resolves and deletes the comments on a page.

use super::page::{Sent, done, refuse};
use crate::http::state::ApiState;
use crate::http::web::{SignedForm, WebError};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_pages::dashboard::Done;

pub(super) async fn resolve(
    State(state): State<ApiState>,
    Path((id, item)): Path<(String, String)>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    state.app.get_own_site(&person.account, &id).await?;
    let note = fields.find("note").filter(|note| !note.trim().is_empty()).map(str::to_owned);
    match state.app.resolve_feedback(&person.account, &item, note).await {
        Ok(_) => Ok(done(&id, Done::Resolved)),
        Err(error) => {
            refuse(&state, &person, &id, Sent { form: "feedback", field: Some(""), fields: &fields }, error)
                .await
        }
    }
}

pub(super) async fn delete(
    State(state): State<ApiState>,
    Path((id, item)): Path<(String, String)>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    state.app.get_own_site(&person.account, &id).await?;
    match state.app.delete_feedback(&person.account, &item).await {
        Ok(()) => Ok(done(&id, Done::CommentDeleted)),
        Err(error) => {
            refuse(&state, &person, &id, Sent { form: "feedback", field: Some(""), fields: &fields }, error)
                .await
        }
    }
}

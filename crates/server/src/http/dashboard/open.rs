//! Serves `POST /dashboard/pages/{id}/open`: takes an owner past the gates of their own page, or to the preview of a
//! burn page. With a comment, to the place that the comment is about.

use super::page::{Sent, refuse};
use crate::http::state::ApiState;
use crate::http::web::{SignedForm, WebError, see_other};
use axum::extract::{Path, State};
use axum::response::Response;

pub(super) async fn create(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let comment = fields.find("feedback").filter(|comment| !comment.is_empty());
    match state.app.create_owner_ticket(&person.account, &id, comment).await {
        Ok(address) => Ok(see_other(&address)),
        Err(error) => {
            let sent = Sent { form: "page", field: Some(""), fields: &fields };
            refuse(&state, &person, &id, sent, error).await
        }
    }
}

//! Serves `/dashboard/pages/{id}/preview.svg`: a thumbnail of a page, drawn from its layout, for its owner only.

use crate::http::state::ApiState;
use crate::http::web::{Person, WebError};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header;

pub(super) async fn read(
    State(state): State<ApiState>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Response, WebError> {
    let svg = state.app.draw_thumbnail(&person.account, &id).await?;
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        // The address contains the version, so the browser may cache it; shared caches may not.
        (header::CACHE_CONTROL, "private, max-age=86400"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
        ),
    ];
    Ok((headers, svg).into_response())
}

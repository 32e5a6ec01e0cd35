//! `POST /oauth/revoke`: a program gives a token back (RFC 7009). Whether there was such a token is not told.

use super::error::EndpointError;
use super::{client_auth, params};
use crate::http::api::ApiState;
use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, StatusCode};

pub(super) async fn revoke(
    State(state): State<ApiState>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, EndpointError> {
    let params = params::read(&headers, body).await?;
    // `token_type_hint` would only say where to look first, and there is one place.
    let token = params.required("token")?;
    let client_id = client_auth::authenticate(&state, &headers, &params).await?;
    state.app.revoke_token(&client_id, token).await?;
    Ok(StatusCode::OK)
}

//! Serves `POST /oauth/revoke` (RFC 7009). The response does not reveal whether the token existed.

use super::bodies::RevokeForm;
use super::error::EndpointError;
use super::{client_auth, params};
use crate::http::api::ApiState;
use crate::http::extract::client_ip;
use axum::extract::{Request, State};
use http::StatusCode;

/// Revoke a token
///
/// Ends the access that the token belongs to (RFC 7009). The response is the same whether or not the token existed.
#[utoipa::path(
    post, path = "/oauth/revoke", tag = "OAuth", operation_id = "revokeToken",
    request_body(content = RevokeForm, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The token is revoked")),
    security(()),
)]
pub(super) async fn revoke(
    State(state): State<ApiState>,
    request: Request,
) -> Result<StatusCode, EndpointError> {
    let (parts, body) = request.into_parts();
    state.app.take_token_request(client_ip(&parts, &state))?;
    let params = params::read(&parts.headers, body).await?;
    // `token_type_hint` only says where to look first, and there is one place.
    let token = params.required("token")?;
    let client_id = client_auth::authenticate(&state, &parts.headers, &params).await?;
    state.app.revoke_token(&client_id, token).await?;
    Ok(StatusCode::OK)
}

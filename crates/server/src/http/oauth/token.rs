//! Serves `POST /oauth/token`, which exchanges an authorization code, a refresh token or a device code for tokens, and
//! `POST /oauth/revoke` (RFC 7009).

use super::bodies::{RevokeForm, TokenForm, TokensJson};
use super::error::EndpointError;
use super::{client_auth, device, params};
use crate::http::extract::client_ip;
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{CodeExchange, Tokens};
use dropleaf_core::oauth::client::{CODE_GRANT, DEVICE_GRANT, REFRESH_GRANT};
use dropleaf_core::oauth::params::Params;
use dropleaf_core::oauth::{OAuthCode, OAuthError};
use http::StatusCode;

/// Get tokens
///
/// For an authorization code, a refresh token or a device code. A refresh token works once; using it again ends the
/// access.
#[utoipa::path(
    post, path = "/oauth/token", tag = "OAuth", operation_id = "createToken",
    request_body(content = TokenForm, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The tokens", body = TokensJson)),
    security(()),
)]
pub(super) async fn token(
    State(state): State<ApiState>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (parts, body) = request.into_parts();
    state.app.take_token_request(client_ip(&parts, &state)).await?;
    let params = params::read(&parts.headers, body).await?;
    let client_id = client_auth::authenticate(&state, &parts.headers, &params).await?;
    let tokens = match params.required("grant_type")? {
        CODE_GRANT => for_code(&state, &client_id, &params).await?,
        REFRESH_GRANT => for_refresh_token(&state, &client_id, &params).await?,
        DEVICE_GRANT => device::tokens(&state, &client_id, &params).await?,
        _ => {
            let detail = format!("grant_type must be {CODE_GRANT}, {REFRESH_GRANT} or {DEVICE_GRANT}.");
            return Err(OAuthError::new(OAuthCode::UnsupportedGrantType, detail).into());
        }
    };
    Ok(answer(tokens))
}

async fn for_code(state: &ApiState, client_id: &str, params: &Params) -> Result<Tokens, EndpointError> {
    let resources: Vec<&str> = params.all("resource").collect();
    let trade = CodeExchange {
        code: params.required("code")?,
        verifier: params.required("code_verifier")?,
        redirect_uri: params.find("redirect_uri")?,
        resources: &resources,
    };
    Ok(state.app.exchange_code(client_id, trade).await?)
}

async fn for_refresh_token(
    state: &ApiState,
    client_id: &str,
    params: &Params,
) -> Result<Tokens, EndpointError> {
    let resources: Vec<&str> = params.all("resource").collect();
    let (token, scope) = (params.required("refresh_token")?, params.find("scope")?);
    Ok(state.app.refresh_tokens(client_id, token, scope, &resources).await?)
}

/// The token response of RFC 6749 §5.1. The API middleware adds `Cache-Control: no-store`.
fn answer(tokens: Tokens) -> Response {
    Json(TokensJson {
        access_token: tokens.access_token,
        token_type: "Bearer",
        expires_in: tokens.expires_in,
        refresh_token: tokens.refresh_token,
        scope: tokens.scopes.to_string(),
    })
    .into_response()
}

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
    state.app.take_token_request(client_ip(&parts, &state)).await?;
    let params = params::read(&parts.headers, body).await?;
    // `token_type_hint` only says where to look first, and there is one place.
    let token = params.required("token")?;
    let client_id = client_auth::authenticate(&state, &parts.headers, &params).await?;
    state.app.revoke_token(&client_id, token).await?;
    Ok(StatusCode::OK)
}

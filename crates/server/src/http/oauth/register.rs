//! Serves `POST /oauth/register`: dynamic client registration (RFC 7591).

use super::described::{ClientMetadata, RegisteredClient};
use super::error::EndpointError;
use super::params;
use crate::http::api::ApiState;
use crate::http::extract::client_ip;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::NewClient;
use dropleaf_core::oauth::client::ClientMetadata;
use dropleaf_core::oauth::{OAuthCode, OAuthError};
use http::StatusCode;
use serde_json::{Map, Value, json};

/// Register a program
///
/// Dynamic client registration (RFC 7591). A program that no one authorizes is deleted after a day.
#[utoipa::path(
    post, path = "/oauth/register", tag = "OAuth", operation_id = "registerClient",
    request_body(content = ClientMetadata, content_type = "application/json"),
    responses((status = 201, description = "Registered", body = RegisteredClient)),
    security(()),
)]
pub(super) async fn register(
    State(state): State<ApiState>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (parts, body) = request.into_parts();
    let bytes = params::whole(body).await?;
    let Ok(Value::Object(said)) = serde_json::from_slice(&bytes) else {
        let why = "The body must be a JSON object.";
        return Err(OAuthError::new(OAuthCode::InvalidClientMetadata, why).into());
    };
    let new = state.app.register_client(describe(&said)?, client_ip(&parts, &state)).await?;
    // Only echoed in the response.
    let kind = said.get("application_type").and_then(Value::as_str);
    let kind = kind.filter(|kind| matches!(*kind, "native" | "web"));
    Ok((StatusCode::CREATED, Json(answer(&new, kind))).into_response())
}

/// Parses client metadata; a member of the wrong type is an error. Unknown members are ignored.
pub(super) fn describe(said: &Map<String, Value>) -> Result<ClientMetadata, OAuthError> {
    Ok(ClientMetadata {
        name: text(said, "client_name")?,
        uri: text(said, "client_uri")?,
        redirect_uris: list(said, "redirect_uris")?.unwrap_or_default(),
        grant_types: list(said, "grant_types")?,
        response_types: list(said, "response_types")?,
        auth_method: text(said, "token_endpoint_auth_method")?,
        scope: text(said, "scope")?,
    })
}

fn text(map: &Map<String, Value>, name: &str) -> Result<Option<String>, OAuthError> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => {
            Err(OAuthError::new(OAuthCode::InvalidClientMetadata, format!("{name} must be a string.")))
        }
    }
}

fn list(map: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, OAuthError> {
    let code = if name == "redirect_uris" {
        OAuthCode::InvalidRedirectUri
    } else {
        OAuthCode::InvalidClientMetadata
    };
    let bad = || OAuthError::new(code, format!("{name} must be a list of strings."));
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(bad));
            texts.collect::<Result<Vec<_>, _>>().map(Some)
        }
        Some(_) => Err(bad()),
    }
}

fn answer(new: &NewClient, application_type: Option<&str>) -> Value {
    let NewClient { client, secret } = new;
    let mut map = Map::new();
    let mut set = |name: &str, value: Value| map.insert(name.to_owned(), value);
    set("client_id", client.id.as_str().into());
    set("client_id_issued_at", client.created_at.into());
    set("client_name", client.name.as_str().into());
    if let Some(uri) = &client.uri {
        set("client_uri", uri.as_str().into());
    }
    set("redirect_uris", json!(client.redirect_uris));
    set("grant_types", json!(client.grant_types()));
    set("response_types", if client.uses_codes() { json!(["code"]) } else { json!([]) });
    set("token_endpoint_auth_method", client.auth_method.as_str().into());
    set("scope", client.scopes.to_string().into());
    if let Some(kind) = application_type {
        set("application_type", kind.into());
    }
    if let Some(secret) = secret {
        set("client_secret", secret.as_str().into());
        set("client_secret_expires_at", 0.into());
    }
    Value::Object(map)
}

//! Serves `POST /oauth/register`: dynamic client registration (RFC 7591).

use super::bodies::{ClientMetadata, RegisteredClient};
use super::error::EndpointError;
use super::params;
use crate::http::extract::{Fields, client_ip};
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::NewClient;
use dropleaf_core::Error;
use dropleaf_core::oauth::client::ClientRegistration;
use dropleaf_core::oauth::{OAuthCode, OAuthError};
use http::StatusCode;
use serde_json::{Map, Value, json};

/// Register an app
///
/// Dynamic client registration (RFC 7591). An app that no one authorizes is deleted after a day.
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
    let Ok(Value::Object(members)) = serde_json::from_slice(&bytes) else {
        let why = "The body must be a JSON object.";
        return Err(OAuthError::new(OAuthCode::InvalidClientMetadata, why).into());
    };
    // Only echoed in the response, so it may have any type.
    let kind = members.get("application_type").and_then(Value::as_str);
    let kind = kind.filter(|kind| matches!(*kind, "native" | "web")).map(str::to_owned);
    let new = state.app.register_client(describe(members)?, client_ip(&parts, &state)).await?;
    Ok((StatusCode::CREATED, Json(answer(&new, kind.as_deref()))).into_response())
}

/// Parses client metadata; a member of the wrong type is an error. Unknown members are ignored.
pub(super) fn describe(members: Map<String, Value>) -> Result<ClientRegistration, OAuthError> {
    let metadata: ClientMetadata = Fields::new(members).take().map_err(|error| wrong_member(&error))?;
    Ok(ClientRegistration {
        name: metadata.client_name.value(),
        uri: metadata.client_uri.value(),
        redirect_uris: metadata.redirect_uris.value().unwrap_or_default(),
        grant_types: metadata.grant_types.value(),
        response_types: metadata.response_types.value(),
        auth_method: metadata.token_endpoint_auth_method.value(),
        scope: metadata.scope.value(),
    })
}

/// The error of RFC 7591 §3.2.2 for a member of the wrong type.
fn wrong_member(error: &Error) -> OAuthError {
    let (name, why) =
        error.fault.as_ref().map_or(("", ""), |fault| (fault.name.as_str(), fault.why.as_str()));
    let code = if name == "redirect_uris" {
        OAuthCode::InvalidRedirectUri
    } else {
        OAuthCode::InvalidClientMetadata
    };
    OAuthError::new(code, format!("{name} {why}."))
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

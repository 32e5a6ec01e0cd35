//! Serves the OAuth metadata documents: authorization server (RFC 8414) and protected resources (RFC 9728). They list
//! only what works.

use super::bodies::{ResourceMetadata, ServerMetadata};
use crate::http::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS;
use dropleaf_core::oauth::client::{AuthMethod, CODE_GRANT, DEVICE_GRANT, REFRESH_GRANT};
use dropleaf_core::scope::Scope;
use http::header;
use serde_json::{Value, json};

/// Get the authorization server metadata
///
/// RFC 8414.
#[utoipa::path(
    get, path = "/.well-known/oauth-authorization-server", tag = "Documents", operation_id = "getAuthorizationServer",
    responses((status = 200, description = "The document", body = ServerMetadata)),
    security(()),
)]
pub(super) async fn server(State(state): State<ApiState>) -> Response {
    let base = state.resolved.hosts.base.url();
    let at = |path: &str| format!("{base}{path}");
    let methods = AuthMethod::ALL.map(AuthMethod::as_str);
    document(json!({
        "issuer": base,
        "authorization_endpoint": at("/oauth/authorize"),
        "token_endpoint": at("/oauth/token"),
        "registration_endpoint": at("/oauth/register"),
        "revocation_endpoint": at("/oauth/revoke"),
        "device_authorization_endpoint": at("/oauth/device_authorization"),
        "scopes_supported": Scope::ALL.map(Scope::as_str),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [CODE_GRANT, REFRESH_GRANT, DEVICE_GRANT],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": state.resolved.config.oauth.client_documents,
        "service_documentation": at("/auth.md"),
        "agent_auth": agent_auth(&base),
    }))
}

/// How an agent authenticates without OAuth. Agents cannot register, so no identity type is listed: an agent without an
/// account publishes anonymously, and a person claims the page.
fn agent_auth(base: &str) -> Value {
    json!({
        "skill": format!("{base}/auth.md"),
        "identity_types_supported": [],
        "credential_types_supported": ["access_token", "api_key"],
        "anonymous_publishing": {
            "endpoint": format!("{base}/sites"),
            "method": "POST",
            "lifetime_seconds": ANONYMOUS_LIFE_SECONDS,
            "claim_endpoint": format!("{base}/sites/{{id}}/claim"),
        },
        "api_key": {
            "header": "Authorization: Bearer stk_live_…",
            "management_endpoint": format!("{base}/api-keys"),
        },
        "device_login": {
            "code_endpoint": format!("{base}/device/code"),
            "token_endpoint": format!("{base}/device/token"),
        },
    })
}

/// Get the protected resource metadata of the API
///
/// RFC 9728: the API as a protected resource.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource", tag = "Documents", operation_id = "getProtectedResource",
    responses((status = 200, description = "The document", body = ResourceMetadata)),
    security(()),
)]
pub(super) async fn service(State(state): State<ApiState>) -> Response {
    let base = state.resolved.hosts.base.url();
    resource(&base, &base)
}

/// Get the protected resource metadata of `/mcp`
///
/// RFC 9728: the MCP endpoint as a protected resource.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource/mcp", tag = "Documents", operation_id = "getProtectedMcp",
    responses((status = 200, description = "The document", body = ResourceMetadata)),
    security(()),
)]
pub(super) async fn mcp(State(state): State<ApiState>) -> Response {
    let base = state.resolved.hosts.base.url();
    resource(&base, &format!("{base}/mcp"))
}

fn resource(base: &str, resource: &str) -> Response {
    document(json!({
        "resource": resource,
        "resource_name": "dropleaf",
        "authorization_servers": [base],
        "scopes_supported": Scope::ALL.map(Scope::as_str),
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{base}/auth.md"),
    }))
}

fn document(value: Value) -> Response {
    ([(header::CACHE_CONTROL, "public, max-age=300")], Json(value)).into_response()
}

//! Types of the bodies of the OAuth endpoints. JSON bodies are parsed into them; forms, whose repeated parameters are
//! errors, and documents are only described.

use crate::http::extract::nullable;
use crate::http::string_enum::words;
use dropleaf_core::oauth::client::{AuthMethod, CODE_GRANT, DEVICE_GRANT, REFRESH_GRANT};
use dropleaf_core::site_change::Field;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

fn auth_method() -> Object {
    words(AuthMethod::ALL.map(AuthMethod::as_str), None)
}

fn grant_type() -> Object {
    words([CODE_GRANT, REFRESH_GRANT, DEVICE_GRANT], None)
}

/// Client metadata (RFC 7591 §2). Unknown members are ignored.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "client_name": "Report writer", "redirect_uris": ["http://127.0.0.1:7777/callback"],
    "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
    "scope": "sites:read sites:write"
}))]
pub(super) struct ClientMetadata {
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub client_name: Field<String>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, format = "uri")]
    pub client_uri: Field<String>,
    /// Redirect addresses: https, or a loopback address. Required unless the app only uses device codes.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<Vec<String>>)]
    pub redirect_uris: Field<Vec<String>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<Vec<String>>)]
    pub grant_types: Field<Vec<String>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<Vec<String>>)]
    pub response_types: Field<Vec<String>>,
    /// How the app authenticates at the token endpoint.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub token_endpoint_auth_method: Field<String>,
    /// `sites:read`, `sites:write` or both, separated by a space.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub scope: Field<String>,
}

/// A registered app (RFC 7591 §3.2.1).
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "client_id": "client_k3v5q7x2m4n6p8r1t9w0", "client_id_issued_at": 1_794_706_860, "client_name": "Report writer",
    "redirect_uris": ["http://127.0.0.1:7777/callback"], "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"], "token_endpoint_auth_method": "none", "scope": "sites:read sites:write"
}))]
#[expect(dead_code, reason = "describes the answer; `register` writes it")]
pub(super) struct RegisteredClient {
    client_id: String,
    /// Epoch seconds.
    client_id_issued_at: i64,
    client_name: String,
    #[schema(nullable = false, format = "uri")]
    client_uri: Option<String>,
    redirect_uris: Vec<String>,
    grant_types: Vec<String>,
    response_types: Vec<String>,
    #[schema(schema_with = auth_method)]
    token_endpoint_auth_method: String,
    scope: String,
    /// As sent.
    #[schema(nullable = false)]
    application_type: Option<String>,
    /// Only for apps that authenticate with a secret; shown once.
    #[schema(nullable = false)]
    client_secret: Option<String>,
    /// With `client_secret`: always 0, because it does not expire.
    #[schema(nullable = false)]
    client_secret_expires_at: Option<i64>,
}

/// A request for tokens. Which members are needed depends on `grant_type`.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "grant_type": "authorization_code", "client_id": "dropleaf-cli", "code": "the-code-of-the-redirect",
    "redirect_uri": "http://127.0.0.1:7777/callback", "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
}))]
#[expect(
    dead_code,
    reason = "describes the form; `Params` reads it, because a parameter sent twice is an error"
)]
pub(super) struct TokenForm {
    #[schema(schema_with = grant_type)]
    grant_type: String,
    /// Required unless the app authenticates with `Authorization: Basic`.
    #[schema(nullable = false)]
    client_id: Option<String>,
    #[schema(nullable = false)]
    client_secret: Option<String>,
    /// With `authorization_code`.
    #[schema(nullable = false)]
    code: Option<String>,
    /// With `authorization_code`: the verifier of the `code_challenge`.
    #[schema(nullable = false)]
    code_verifier: Option<String>,
    /// With `authorization_code`: the same as in the authorization request.
    #[schema(nullable = false)]
    redirect_uri: Option<String>,
    /// With `refresh_token`.
    #[schema(nullable = false)]
    refresh_token: Option<String>,
    /// With `refresh_token`: at most what was granted.
    #[schema(nullable = false)]
    scope: Option<String>,
    /// With the device code grant.
    #[schema(nullable = false)]
    device_code: Option<String>,
    /// The server or its `/mcp` (RFC 8707).
    #[schema(nullable = false)]
    resource: Option<String>,
}

/// Tokens (RFC 6749 §5.1).
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "access_token": "oat_…", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "ort_…",
    "scope": "sites:read sites:write"
}))]
pub(super) struct TokensJson {
    pub access_token: String,
    pub token_type: &'static str,
    /// Seconds.
    pub expires_in: i64,
    pub refresh_token: String,
    pub scope: String,
}

/// A token to revoke (RFC 7009).
#[derive(Debug, ToSchema)]
#[schema(example = json!({"token": "ort_…", "client_id": "dropleaf-cli"}))]
#[expect(
    dead_code,
    reason = "describes the form; `Params` reads it, because a parameter sent twice is an error"
)]
pub(super) struct RevokeForm {
    /// An access token or a refresh token.
    token: String,
    /// Ignored.
    #[schema(nullable = false)]
    token_type_hint: Option<String>,
    /// Required unless the app authenticates with `Authorization: Basic`.
    #[schema(nullable = false)]
    client_id: Option<String>,
    #[schema(nullable = false)]
    client_secret: Option<String>,
}

/// A login on another device (RFC 8628).
#[derive(Debug, ToSchema)]
#[schema(example = json!({"client_id": "dropleaf-cli", "scope": "sites:read sites:write"}))]
#[expect(
    dead_code,
    reason = "describes the form; `Params` reads it, because a parameter sent twice is an error"
)]
pub(super) struct DeviceForm {
    /// Required unless the app authenticates with `Authorization: Basic`.
    #[schema(nullable = false)]
    client_id: Option<String>,
    #[schema(nullable = false)]
    client_secret: Option<String>,
    #[schema(nullable = false)]
    scope: Option<String>,
    /// The server or its `/mcp` (RFC 8707).
    #[schema(nullable = false)]
    resource: Option<String>,
}

/// The codes of a device login: one for the user, one for the app (RFC 8628 §3.2).
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "device_code": "q3mT8vXc5LkR1dWn7hZyJ2sBf9uEa4GpQ6xKoViM0wY", "user_code": "BCDF-GHJK", "verification_uri": "http://localhost:8080/device",
    "verification_uri_complete": "http://localhost:8080/device?user_code=BCDF-GHJK", "expires_in": 600, "interval": 5
}))]
pub(super) struct DeviceCodeJson {
    /// For the app only.
    pub device_code: String,
    /// For the user to type at `verification_uri`.
    pub user_code: String,
    #[schema(format = "uri")]
    pub verification_uri: String,
    #[schema(format = "uri")]
    pub verification_uri_complete: String,
    /// Seconds.
    pub expires_in: i64,
    /// Minimum seconds between two requests for the token.
    pub interval: i64,
}

/// A device login that returns an API key.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"client_name": "laptop"}))]
pub(super) struct DeviceKeyBody {
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub client_id: Field<String>,
    /// The name of the key.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub client_name: Field<String>,
}

/// The code from `POST /device/code`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"device_code": "q3mT8vXc5LkR1dWn7hZyJ2sBf9uEa4GpQ6xKoViM0wY"}))]
pub(super) struct DeviceTokenBody {
    // Absence has an error code of its own.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = String)]
    pub device_code: Field<String>,
}

/// The API key from a device login.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "access_token": "stk_live_…", "token_type": "Bearer", "scope": "sites:read sites:write",
    "key_id": "key_k3v5q7x2m4n6p8r1t9w0", "name": "laptop"
}))]
pub(super) struct DeviceKeyJson {
    /// An API key, shown once.
    pub access_token: String,
    pub token_type: &'static str,
    pub scope: String,
    pub key_id: String,
    pub name: String,
}

/// Authorization server metadata (RFC 8414), and how an agent authenticates without OAuth (`agent_auth`).
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "issuer": "http://localhost:8080",
    "authorization_endpoint": "http://localhost:8080/oauth/authorize",
    "token_endpoint": "http://localhost:8080/oauth/token",
    "registration_endpoint": "http://localhost:8080/oauth/register",
    "revocation_endpoint": "http://localhost:8080/oauth/revoke",
    "device_authorization_endpoint": "http://localhost:8080/oauth/device_authorization",
    "scopes_supported": ["sites:read", "sites:write"], "response_types_supported": ["code"],
    "grant_types_supported": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    "code_challenge_methods_supported": ["S256"],
    "agent_auth": {"skill": "http://localhost:8080/auth.md", "credential_types_supported": ["access_token", "api_key"]}
}))]
#[expect(dead_code, reason = "describes the document; `metadata` writes it")]
pub(super) struct ServerMetadata {
    #[schema(format = "uri")]
    issuer: String,
    #[schema(format = "uri")]
    authorization_endpoint: String,
    #[schema(format = "uri")]
    token_endpoint: String,
    #[schema(format = "uri")]
    registration_endpoint: String,
    #[schema(format = "uri")]
    revocation_endpoint: String,
    #[schema(format = "uri")]
    device_authorization_endpoint: String,
    scopes_supported: Vec<String>,
    response_types_supported: Vec<String>,
    grant_types_supported: Vec<String>,
    code_challenge_methods_supported: Vec<String>,
    #[schema(value_type = Object)]
    agent_auth: (),
}

/// Protected resource metadata (RFC 9728).
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "resource": "http://localhost:8080", "resource_name": "dropleaf", "authorization_servers": ["http://localhost:8080"],
    "scopes_supported": ["sites:read", "sites:write"], "bearer_methods_supported": ["header"],
    "resource_documentation": "http://localhost:8080/auth.md"
}))]
#[expect(dead_code, reason = "describes the document; `metadata` writes it")]
pub(super) struct ResourceMetadata {
    #[schema(format = "uri")]
    resource: String,
    resource_name: String,
    authorization_servers: Vec<String>,
    scopes_supported: Vec<String>,
    bearer_methods_supported: Vec<String>,
    #[schema(format = "uri")]
    resource_documentation: String,
}

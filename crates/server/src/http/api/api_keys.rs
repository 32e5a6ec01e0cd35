//! Serves `/api-keys`: list, create and revoke API keys. Spec §4 API keys.

use super::idempotent_response::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, KeyReader, Maker, idempotency_key, idempotent_request};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{Caller, Identity, KeyCreator, NewKey};
use dropleaf_core::api_key::ApiKey;
use dropleaf_core::request_hash::RequestHash;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "key_k3v5q7x2m4n6p8r1t9w0", "name": "build agent", "prefix": "stk_live_0Qm1", "created_at": 1_794_706_860,
    "last_used": null
}))]
pub(super) struct ApiKeyJson {
    id: String,
    name: String,
    /// First few characters, for display.
    prefix: String,
    created_at: i64,
    last_used: Option<i64>,
    /// The full key; only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<String>,
    /// What was ignored; only in the response that creates it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ApiKeysJson {
    keys: Vec<ApiKeyJson>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"name": "build agent"}))]
pub(super) struct ApiKeyBody {
    #[schema(nullable = false)]
    name: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"ok": true}))]
pub(in crate::http) struct OkJson {
    ok: bool,
}

impl OkJson {
    pub(in crate::http) const fn yes() -> Self {
        Self { ok: true }
    }
}

impl ApiKeyJson {
    fn new(key: ApiKey) -> Self {
        let ApiKey { id, name, prefix, created_at, last_used, .. } = key;
        Self { id, name, prefix, created_at, last_used, key: None, warnings: Vec::new() }
    }

    fn created(new: &NewKey, warnings: Vec<String>) -> Vec<u8> {
        let json = Self { key: Some(new.secret.clone()), warnings, ..Self::new(new.key.clone()) };
        serde_json::to_vec(&json).unwrap_or_default()
    }
}

/// List your keys
///
/// An app that a user authorized with OAuth sees only the keys it created.
#[utoipa::path(
    get, path = "/api-keys", tag = "API keys", operation_id = "listApiKeys",
    responses((status = 200, description = "The keys, newest first", body = ApiKeysJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    KeyReader(known): KeyReader,
) -> Result<Json<ApiKeysJson>, ApiError> {
    let keys = state.app.list_keys(&known.account, known.grant_id.as_deref()).await?;
    Ok(Json(ApiKeysJson { keys: keys.into_iter().map(ApiKeyJson::new).collect() }))
}

/// Create a key
///
/// The response is the only place where the full key is shown. A key created by an app has the scopes of the token
/// it was created with, and stops working when the user revokes the app's access.
#[utoipa::path(
    post, path = "/api-keys", tag = "API keys", operation_id = "createApiKey",
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours.")),
    request_body(content = ApiKeyBody, content_type = "application/json"),
    responses((status = 201, description = "The key, shown once", body = ApiKeyJson)),
    security(("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Maker(Identity { account, scopes, grant_id, .. }): Maker,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let ApiKeyBody { name } = fields.take()?;
    let warnings = fields.warnings();
    // A token of the same program with fewer scopes must not replay the response that holds a key with more.
    let granted = grant_id.is_some().then(|| scopes.to_string());
    let request_hash = RequestHash::new("api-keys")
        .field("name", name.as_deref().unwrap_or_default())
        .option("scopes", granted)
        .finish();
    let maker = KeyCreator { grant_id: grant_id.as_deref(), scopes };
    let caller = Caller { account: Some(account), grant_id: grant_id.clone(), ip: None, maker: None };
    let once = idempotent_request(&state, idempotency_key(&headers), &caller, Some(request_hash));
    let done = state
        .app
        .create_key_for(caller.account()?, maker, name.as_deref(), once.as_ref(), |new| {
            ApiKeyJson::created(new, warnings.clone())
        })
        .await?;
    Ok(IdempotentResponse::of(done, StatusCode::CREATED, |new| ApiKeyJson::created(new, warnings)))
}

/// Revoke a key
///
/// An app can revoke only the keys it created.
#[utoipa::path(
    delete, path = "/api-keys/{id}", tag = "API keys", operation_id = "revokeApiKey",
    params(("id" = String, Path, description = "The key's ID.")),
    responses((status = 200, description = "Revoked; it stops working immediately", body = OkJson)),
    security(("api_key" = [])),
)]
pub(super) async fn revoke(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path(id): Path<String>,
) -> Result<Json<OkJson>, ApiError> {
    state.app.revoke_key(&known.account, known.grant_id.as_deref(), &id).await?;
    Ok(Json(OkJson::yes()))
}

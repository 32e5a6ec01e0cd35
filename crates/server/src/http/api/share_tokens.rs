//! Serves `/sites/{idOrSlug}/share-tokens` and `/share-tokens/{tokenId}`. Spec §4 Share tokens.

use super::api_keys::OkJson;
use super::idempotent_response::IdempotentResponse;
use crate::http::api_error::ApiError;
use crate::http::extract::{
    Hours, Incoming, Maker, Owner, Reader, agreed, idempotency_key, idempotent_request, nullable,
};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{Caller, ShareTokenWithSecret};
use dropleaf_core::Error;
use dropleaf_core::account::Account;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::share_token::{ShareToken, ShareTokenRequest};
use dropleaf_core::site_change::Field;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "share_k3v5q7x2m4n6p8r1t9w0", "token": "shr_0Qm1Yv2nT3uW4xZ5aB6cD7", "site_id": "site_k3v5q7x2m4n6p8r1t9w0",
    "url": "http://localhost:8080/p/0Qm1Yv2nT3uW4xZ5aB6cD7/?t=shr_0Qm1Yv2nT3uW4xZ5aB6cD7", "note": "for the board", "created_at": 1_794_706_860,
    "expires_at": null, "max_uses": 5, "uses": 0, "last_used_at": null, "bypass_email_gate": false
}))]
pub(in crate::http) struct ShareTokenJson {
    id: String,
    token: String,
    site_id: String,
    /// The page's address with the token; opens the page without its password.
    #[schema(format = "uri")]
    url: String,
    created_at: i64,
    expires_at: Option<i64>,
    note: Option<String>,
    /// How many times it may be opened; null means no limit.
    max_uses: Option<i64>,
    uses: i64,
    last_used_at: Option<i64>,
    /// Whether it also opens the email gate.
    bypass_email_gate: bool,
    /// What was ignored; only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warnings: Option<Vec<String>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct ShareTokensJson {
    /// Newest first.
    tokens: Vec<ShareTokenJson>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"note": "for the board", "expires_in": 86400, "max_uses": 5}))]
pub(in crate::http) struct ShareTokenBody {
    /// For yourself; viewers do not see it. Alias: `label`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub note: Field<String>,
    #[serde(deserialize_with = "nullable")]
    #[schema(ignore)]
    pub label: Field<String>,
    /// Seconds from now; without it the token does not expire.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, minimum = 1)]
    pub expires_in: Field<i64>,
    /// The same in hours, when `expires_in` is not sent.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<f64>)]
    pub expires_in_hours: Field<Hours>,
    /// How many times it may be opened.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, minimum = 1)]
    pub max_uses: Field<i64>,
    /// Whether it also opens the email gate; false by default.
    #[schema(nullable = false)]
    pub bypass_email_gate: Option<bool>,
}

impl ShareTokenJson {
    fn new(own: ShareTokenWithSecret) -> Self {
        let ShareTokenWithSecret { token, secret, url } = own;
        let ShareToken {
            id,
            site_id,
            note,
            bypass_email_gate,
            max_uses,
            uses,
            created_at,
            expires_at,
            last_used_at,
        } = token;
        Self {
            id,
            token: secret,
            site_id,
            url,
            created_at,
            expires_at,
            note,
            max_uses,
            uses,
            last_used_at,
            bypass_email_gate,
            warnings: None,
        }
    }

    fn created(own: &ShareTokenWithSecret, warnings: Vec<String>) -> Vec<u8> {
        let json = Self { warnings: Some(warnings), ..Self::new(own.clone()) };
        serde_json::to_vec(&json).unwrap_or_default()
    }
}

impl ShareTokensJson {
    pub(in crate::http) async fn of(state: &ApiState, account: &Account, name: &str) -> Result<Self, Error> {
        let tokens = state.app.list_share_tokens(account, name).await?;
        Ok(Self { tokens: tokens.into_iter().map(ShareTokenJson::new).collect() })
    }
}

impl ShareTokenBody {
    /// The settings of the token.
    pub(in crate::http) fn request(self) -> Result<ShareTokenRequest, Error> {
        let note = agreed(("note", self.note), ("label", self.label))?;
        let lifetime = self.expires_in_hours.value().map(Hours::lifetime).transpose()?;
        let expires_in = match (self.expires_in.value(), lifetime) {
            (Some(seconds), Some(lifetime)) if lifetime != Lifetime::Seconds(seconds) => {
                return Err(Error::field(
                    "expires_in_hours",
                    "conflicts with `expires_in`: send only one of them",
                ));
            }
            (Some(seconds), _) | (None, Some(Lifetime::Seconds(seconds))) => Some(seconds),
            _ => None,
        };
        let bypass_email_gate = self.bypass_email_gate.unwrap_or_default();
        Ok(ShareTokenRequest {
            note: note.value(),
            expires_in,
            max_uses: self.max_uses.value(),
            bypass_email_gate,
        })
    }
}

/// List a page's share tokens
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/share-tokens", tag = "Share tokens", operation_id = "listShareTokens",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
    responses((status = 200, description = "The tokens", body = ShareTokensJson)),
    security(("api_key" = [])),
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    Reader(account): Reader,
    Path(name): Path<String>,
) -> Result<Json<ShareTokensJson>, ApiError> {
    Ok(Json(ShareTokensJson::of(&state, &account, &name).await?))
}

/// Create a share token
///
/// Its `url` opens the page without its password; the token is removed from the address bar at once.
#[utoipa::path(
    post, path = "/sites/{idOrSlug}/share-tokens", tag = "Share tokens", operation_id = "createShareToken",
    params(
        ("idOrSlug" = String, Path, description = "The ID, the slug or the token."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes retries safe for 24 hours."),
    ),
    request_body(content = ShareTokenBody, content_type = "application/json"),
    responses((status = 201, description = "The token", body = ShareTokenJson)),
    security(("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Maker(known): Maker,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<IdempotentResponse, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let request = fields.take::<ShareTokenBody>()?.request()?;
    let warnings = fields.unknown()?;
    let caller = Caller::of(known, None);
    Ok(make_share_token(&state, &caller, &name, request, warnings, idempotency_key(&headers)).await?)
}

/// Creates a token. `warnings` are about unknown fields of the request.
pub(in crate::http) async fn make_share_token(
    state: &ApiState,
    caller: &Caller,
    name: &str,
    request: ShareTokenRequest,
    warnings: Vec<String>,
    key: Option<String>,
) -> Result<IdempotentResponse, Error> {
    let ShareTokenRequest { note, expires_in, max_uses, bypass_email_gate } = &request;
    let request_hash = RequestHash::new("share-tokens")
        .field("site", name)
        .option("note", note.as_deref())
        .option("expires_in", expires_in.map(|seconds| seconds.to_string()))
        .option("max_uses", max_uses.map(|uses| uses.to_string()))
        .field("bypass_email_gate", bypass_email_gate.to_string())
        .finish();
    let once = idempotent_request(state, key, caller, Some(request_hash));
    let render = |own: &ShareTokenWithSecret| ShareTokenJson::created(own, warnings.clone());
    let done = state.app.create_share_token(caller.account()?, name, request, once.as_ref(), render).await?;
    Ok(IdempotentResponse::of(done, StatusCode::CREATED, render))
}

/// Revoke a share token
///
/// Viewers who used it lose access at once.
#[utoipa::path(
    delete, path = "/share-tokens/{tokenId}", tag = "Share tokens", operation_id = "revokeShareToken",
    params(("tokenId" = String, Path, description = "The ID, or the token itself.")),
    responses((status = 200, description = "Revoked", body = OkJson)),
    security(("api_key" = [])),
)]
pub(super) async fn revoke(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(name): Path<String>,
) -> Result<Json<OkJson>, ApiError> {
    state.app.revoke_share_token(&account, &name).await?;
    Ok(Json(OkJson::yes()))
}

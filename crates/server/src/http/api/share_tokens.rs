//! Serves `/sites/{idOrSlug}/share-tokens` and `/share-tokens/{tokenId}`. Spec §4 Share tokens.

use super::api_keys::OkJson;
use super::written::Written;
use super::{ApiError, ApiState};
use crate::http::extract::{Fields, Incoming, Maker, Owner, Reader, idempotency_key, once};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::{Caller, ShareTokenWithSecret};
use dropleaf_core::account::Account;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::share_token::{ShareToken, ShareTokenRequest};
use dropleaf_core::site_change::Field;
use dropleaf_core::{Error, secret};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
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
    /// The page's address with the token; opens its password gate.
    #[schema(format = "uri")]
    url: String,
    created_at: i64,
    expires_at: Option<i64>,
    note: Option<String>,
    /// How many times it may be opened; null means no limit.
    max_uses: Option<i64>,
    uses: i64,
    last_used_at: Option<i64>,
    /// Whether it also opens the e-mail gate.
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

#[derive(Debug, ToSchema)]
#[schema(example = json!({"note": "for the board", "expires_in": 86400, "max_uses": 5}))]
#[expect(dead_code, reason = "describes the body; it is read field by field")]
pub(super) struct ShareTokenBody {
    /// For yourself; viewers do not see it. Other name: `label`.
    note: Option<String>,
    /// Seconds from now; without it the token does not expire.
    #[schema(minimum = 1)]
    expires_in: Option<i64>,
    /// The same in hours, when `expires_in` is not sent.
    expires_in_hours: Option<f64>,
    /// How many times it may be opened.
    #[schema(minimum = 1)]
    max_uses: Option<i64>,
    /// Whether it also opens the e-mail gate; false by default.
    #[schema(nullable = false)]
    bypass_email_gate: Option<bool>,
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

fn wish(fields: &mut Fields) -> Result<ShareTokenRequest, Error> {
    let note = fields.text_of(&["note", "label"])?;
    let seconds = fields.int("expires_in")?;
    let hours = fields.hours("expires_in_hours")?;
    let expires_in = match (seconds, hours) {
        (Field::Value(seconds), Field::Value(lifetime)) if lifetime != Lifetime::Seconds(seconds) => {
            return Err(Error::field(
                "expires_in_hours",
                "conflicts with `expires_in`: send only one of them",
            ));
        }
        (Field::Value(seconds), _) | (_, Field::Value(Lifetime::Seconds(seconds))) => Some(seconds),
        _ => None,
    };
    let max_uses = fields.int("max_uses")?;
    let bypass_email_gate = fields.flag("bypass_email_gate")?.unwrap_or_default();
    Ok(ShareTokenRequest { note: value(note), expires_in, max_uses: value(max_uses), bypass_email_gate })
}

fn value<T>(field: Field<T>) -> Option<T> {
    match field {
        Field::Value(value) => Some(value),
        Field::Null | Field::Absent => None,
    }
}

/// List a page's share tokens
#[utoipa::path(
    get, path = "/sites/{idOrSlug}/share-tokens", tag = "Share tokens", operation_id = "listShareTokens",
    params(("idOrSlug" = String, Path, description = "The id, the slug or the token.")),
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
/// Its `url` opens the page's password gate without the password; the token is removed from the address bar at once.
#[utoipa::path(
    post, path = "/sites/{idOrSlug}/share-tokens", tag = "Share tokens", operation_id = "createShareToken",
    params(
        ("idOrSlug" = String, Path, description = "The id, the slug or the token."),
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
) -> Result<Written, ApiError> {
    let fields = Fields::new(Incoming { state: &state, headers: &headers, body }.object(64 * 1024).await?);
    let caller = Caller { account: Some(known.account), grant_id: known.grant_id, ip: None };
    Ok(make_share_token(&state, &caller, &name, fields, idempotency_key(&headers)).await?)
}

/// Creates a token from the fields of a body.
pub(in crate::http) async fn make_share_token(
    state: &ApiState,
    caller: &Caller,
    name: &str,
    mut fields: Fields,
    key: Option<String>,
) -> Result<Written, Error> {
    let wish = wish(&mut fields)?;
    let warnings =
        fields.unknown(&["note", "expires_in", "expires_in_hours", "max_uses", "bypass_email_gate"])?;
    let asked = secret::hash(&format!("share-tokens\0{name}\0{wish:?}"));
    let once = once(state, key, caller, Some(asked));
    let render = |own: &ShareTokenWithSecret| ShareTokenJson::created(own, warnings.clone());
    let done = state.app.create_share_token(caller.account()?, name, wish, once.as_ref(), render).await?;
    Ok(Written::of(done, StatusCode::CREATED, render))
}

/// Revoke a share token
///
/// Viewers who used it lose access at once.
#[utoipa::path(
    delete, path = "/share-tokens/{tokenId}", tag = "Share tokens", operation_id = "revokeShareToken",
    params(("tokenId" = String, Path, description = "The id, or the token itself.")),
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

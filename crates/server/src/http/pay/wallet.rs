//! Serves `POST /wallet-auth/challenge`: the message a wallet signs to replace a page it paid for. Spec §3 Wallet
//! challenge, §5 rule 3.

use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, client_ip};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"wallet": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}))]
pub(super) struct ChallengeBody {
    /// The address of the wallet that paid: `0x` and 40 hexadecimal digits.
    wallet: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "challenge": "WAUTH-kL0v1mJ6b0y7Jr0xg3l2iWQ4c5u8sT9nPqRzVdXeFhA",
    "message": "pages.example.com requests a signature to update one page that this wallet paid for.\n\nThis is not a \
                transaction. It does not transfer money or authorize a transfer.\n\nChallenge: \
                WAUTH-kL0v1mJ6b0y7Jr0xg3l2iWQ4c5u8sT9nPqRzVdXeFhA\nValid until: 2026-11-15T12:05:00Z",
    "expires_at": 1_794_744_300
}))]
pub(super) struct ChallengeJson {
    /// Valid for one request; begins with `WAUTH-`.
    challenge: String,
    /// The exact text to sign with `personal_sign` (EIP-191).
    message: String,
    /// 300 seconds after it was created.
    expires_at: i64,
    /// What was ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Get a challenge to sign with the wallet that paid
///
/// Sign `message` exactly as it is, as a message and not as a transaction, and send the signature within 300 seconds:
/// `PUT /sites/{idOrSlug}` with `Authorization: Wallet challenge=<challenge>,sig=<signature>`. It replaces the content
/// of one page that this wallet paid for, once. Contract wallets and Solana wallets use the claim token instead.
#[utoipa::path(
    post, path = "/wallet-auth/challenge", tag = "Sites", operation_id = "createWalletChallenge",
    request_body(content = ChallengeBody, content_type = "application/json"),
    responses((status = 200, description = "What to sign", body = ChallengeJson)),
    security(()),
)]
pub(super) async fn challenge(
    State(state): State<ApiState>,
    parts: Parts,
    body: Body,
) -> Result<Json<ChallengeJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &parts.headers, body }.fields(4 * 1024).await?;
    let ChallengeBody { wallet } = fields.take()?;
    let new = state.app.issue_challenge(&wallet, client_ip(&parts, &state)).await?;
    let (challenge, message, expires_at) = (new.challenge, new.message, new.expires_at);
    Ok(Json(ChallengeJson { challenge, message, expires_at, warnings: fields.warnings() }))
}

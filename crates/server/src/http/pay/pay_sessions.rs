//! Serves `/pay/sessions`: links at which a person pays by card for what a program needs. Spec §2 Pay session.

use crate::http::api_error::ApiError;
use crate::http::extract::{Buyer, Fields, Incoming, json_object, too_large};
use crate::http::pay_link::pay_url;
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{NewPaySession, PolledPaySession};
use dropleaf_core::ledger::Unit;
use dropleaf_core::pay_session::{Feature, INTERVAL_SECONDS, PaySessionState};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pages::qr;
use http::{HeaderMap, Method, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const BODY_BYTES: u64 = 4 * 1024;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"feature": "provision", "amount_minor": 600}))]
pub(super) struct PaySessionBody {
    /// `provision` (default), `topup`, `make_permanent`, `custom_domain` or `higher_limits`.
    feature: Option<String>,
    /// In cents. What exceeds the price becomes prepaid balance. Default: the price, or 1000 for `topup`.
    amount_minor: Option<i64>,
}

/// A link to pay at, and the code to poll with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "code": "0Qm1Yv2nT3uW4xZ5aB6cD7", "url": "https://pages.example.com/pay/k3v5q7x2m4n6p7q",
    "qr": "█▀▀▀▀▀█ …", "amount": "6.00", "feature": "provision", "expires_at": 1_794_746_400, "interval_seconds": 3,
    "sandbox": false
}))]
pub(super) struct PaySessionJson {
    /// Secret: any client that polls with it gets the key.
    code: String,
    /// Show it to the person who pays.
    #[schema(format = "uri")]
    url: String,
    /// The link as a QR code of block characters, for terminals with a dark background.
    qr: String,
    /// In dollars.
    amount: String,
    feature: String,
    /// Epoch seconds. Until then the person can begin to pay.
    expires_at: i64,
    /// How long to wait between polls.
    interval_seconds: i64,
    /// True if no money moves.
    sandbox: bool,
    /// What was ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// What became of a pay session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "code": "0Qm1Yv2nT3uW4xZ5aB6cD7", "feature": "provision", "status": "completed", "amount": "6.00",
    "expires_at": 1_794_746_400, "interval_seconds": 3, "api_key": "stk_live_0Qm1Yv2nT3uW", "prefix": "stk_live_0Qm1",
    "key_delivered": true, "sandbox": false
}))]
pub(super) struct PolledJson {
    code: String,
    feature: String,
    /// `pending`, `processing`, `completed`, `expired` or `failed`. A session that expired or failed becomes `completed` if it
    /// was paid after all.
    status: String,
    /// In dollars.
    amount: String,
    /// Epoch seconds.
    expires_at: i64,
    /// How long to wait before the next poll.
    interval_seconds: i64,
    /// The new API key; only in the first response after the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    prefix: Option<String>,
    /// Whether the key was delivered, by this response or an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key_delivered: Option<bool>,
    /// Whether the unlock is active; only for unlocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    unlocked: Option<bool>,
    /// True if no money moves.
    sandbox: bool,
}

/// Create a link to pay by card
///
/// Show `url` or `qr` to a person and poll with `code` until the status is no longer `pending` or `processing`. `provision`
/// needs no credential; the other features buy for the account of the API key. `rail_not_live` if this server does not accept
/// cards.
#[utoipa::path(
    post, path = "/pay/sessions", tag = "Payments", operation_id = "createPaySession",
    request_body(content = Option<PaySessionBody>, content_type = "application/json"),
    responses((status = 201, description = "The link", body = PaySessionJson)),
    security((), ("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Buyer { account, ip }: Buyer,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    state.app.take_paid_attempt(ip).await?;
    let incoming = Incoming { state: &state, headers: &headers, body };
    let (bytes, _share) = incoming.bytes(BODY_BYTES, || too_large(BODY_BYTES)).await?;
    let mut fields = Fields::new(json_object(&bytes)?);
    let sent: PaySessionBody = fields.take()?;
    let feature = feature(sent.feature.as_deref())?;
    let new = NewPaySession { feature, amount_minor: sent.amount_minor, account: account.as_ref(), ip };
    let created = state.app.create_pay_session(new).await?;
    let url = pay_url(&state, &created.slug);
    let json = PaySessionJson {
        qr: qr::terminal(&url),
        url,
        code: created.code,
        amount: Unit::Usd2.decimal(created.session.amount_minor),
        feature: feature.as_str().to_owned(),
        expires_at: created.session.expires_at,
        interval_seconds: INTERVAL_SECONDS,
        sandbox: created.session.sandbox,
        warnings: fields.warnings(),
    };
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(json)).into_response())
}

fn feature(sent: Option<&str>) -> Result<Feature> {
    let Some(text) = sent else { return Ok(Feature::Provision) };
    Feature::parse(text).ok_or_else(|| {
        let all = Feature::ALL.map(Feature::as_str).join(", ");
        Error::field("feature", format!("must be one of {all}"))
    })
}

/// Ask whether a link was paid
///
/// The key of a completed `provision` is in the first response after the payment, and in no other.
#[utoipa::path(
    get, path = "/pay/sessions/{code}/poll", tag = "Payments", operation_id = "pollPaySession",
    params(("code" = String, Path, description = "The `code` of the session.")),
    responses((status = 200, description = "The state of the session", body = PolledJson)),
    security(()),
)]
pub(super) async fn poll(
    State(state): State<ApiState>,
    Path(code): Path<String>,
    method: Method,
) -> Result<Response, ApiError> {
    // The response to HEAD has no body, so the key would be lost.
    if method == Method::HEAD {
        return Err(Error::plain(Code::MethodNotAllowed).into());
    }
    let polled = state.app.poll_pay_session(&code).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(PolledJson::new(code, polled))).into_response())
}

impl PolledJson {
    fn new(code: String, polled: PolledPaySession) -> Self {
        let PolledPaySession { session, state, key, is_key_delivered } = polled;
        let is_unlock = matches!(session.feature, Feature::Unlock(_));
        let (api_key, prefix) = key.map(|key| (key.secret, key.prefix)).unzip();
        Self {
            code,
            feature: session.feature.as_str().to_owned(),
            status: state.as_str().to_owned(),
            amount: Unit::Usd2.decimal(session.amount_minor),
            expires_at: session.expires_at,
            interval_seconds: INTERVAL_SECONDS,
            api_key,
            prefix,
            key_delivered: is_key_delivered,
            unlocked: is_unlock.then_some(state == PaySessionState::Completed),
            sandbox: session.sandbox,
        }
    }
}

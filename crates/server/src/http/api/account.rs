//! Serves `/me`: the account's plan, usage, limits, unlocks and balance, and which emails it gets.

use crate::http::api_error::ApiError;
use crate::http::extract::{Incoming, Owner, Reader};
use crate::http::state::ApiState;
use crate::http::string_enum::words;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::notification::NotifyMode;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "acct_k3v5q7x2m4n6p8r1t9w0", "email": "operator@localhost", "plan": "pro", "balance_minor": 0,
    "counts": {"active_pages": 3, "publishes_today": 7},
    "limits": {"active_pages": null, "longest_life_seconds": null, "publishes_a_day": null, "upload_bytes": 26_214_400,
        "unpacked_bytes": 104_857_600, "files": 2000},
    "unlocks": [{"sku": "make_permanent", "until": null}], "notify": "instant", "suspended": null
}))]
pub(in crate::http) struct MeJson {
    id: String,
    email: Option<String>,
    plan: String,
    /// Prepaid balance that can be spent now, in US cents.
    balance_minor: i64,
    counts: CountsJson,
    limits: LimitsJson,
    /// Unlocks that are active now. The limits above already include them.
    unlocks: Vec<UnlockJson>,
    /// Emails about comments and pages that expire soon: `off`, `instant` or `daily`.
    #[schema(schema_with = notify_words)]
    notify: &'static str,
    /// Set while the operator has suspended the account: it can read and delete; everything else returns 403
    /// `account_suspended`, and its pages are not shown.
    suspended: Option<SuspendedJson>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct SuspendedJson {
    /// Epoch seconds.
    since: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct UnlockJson {
    sku: &'static str,
    /// Epoch seconds; null if it does not expire.
    until: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct CountsJson {
    active_pages: i64,
    /// Counted only while the plan has a daily cap.
    publishes_today: i64,
}

/// Null means no cap.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct LimitsJson {
    active_pages: Option<i64>,
    longest_life_seconds: Option<i64>,
    publishes_a_day: Option<i64>,
    upload_bytes: u64,
    /// The unpacked size of an archive.
    unpacked_bytes: u64,
    /// The number of files in an archive.
    files: u64,
}

impl MeJson {
    pub(in crate::http) async fn of(state: &ApiState, account: &Account) -> Result<Self> {
        let me = state.app.me(account).await?;
        let limits = &state.resolved.config.limits;
        let balance_minor = state.app.spendable_balance(&me.account);
        let notify = state.app.notify_mode(&me.account).await?.as_str();
        let suspended = me.account.suspended.map(|suspension| SuspendedJson { since: suspension.since });
        let unlocks = me.account.unlocks;
        let active = unlocks.active(state.app.now());
        Ok(Self {
            id: me.account.id,
            email: me.account.email,
            plan: me.account.plan,
            balance_minor,
            counts: CountsJson { active_pages: me.account.active_pages, publishes_today: me.publishes_today },
            limits: LimitsJson {
                active_pages: me.plan.active_pages,
                longest_life_seconds: me.plan.longest_life_seconds,
                publishes_a_day: me.plan.publishes_a_day,
                upload_bytes: limits.upload_bytes,
                unpacked_bytes: limits.unpacked_bytes,
                files: limits.files as u64,
            },
            notify,
            suspended,
            unlocks: active.map(|sku| UnlockJson { sku: sku.as_str(), until: unlocks.until(sku) }).collect(),
        })
    }
}

/// Get your account, its usage and its limits
#[utoipa::path(
    get, path = "/me", tag = "Account", operation_id = "getMe",
    responses((status = 200, description = "The account", body = MeJson)),
    security(("api_key" = [])),
)]
pub(super) async fn me(
    State(state): State<ApiState>,
    Reader(account): Reader,
) -> Result<Json<MeJson>, ApiError> {
    Ok(Json(MeJson::of(&state, &account).await?))
}

fn notify_words() -> Object {
    words(
        NotifyMode::ALL.iter().map(|mode| mode.as_str()),
        Some("Emails about comments and pages that expire soon."),
    )
}

/// What to change.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"notify": "daily"}))]
pub(super) struct MeChangeBody {
    /// Emails about comments and pages that expire soon: `off`, `instant` (at most one every 10 minutes for each page) or
    /// `daily` (one digest at 07:00 UTC). The account needs an email address.
    #[schema(schema_with = notify_words)]
    notify: String,
}

/// Choose which emails you get
#[utoipa::path(
    patch, path = "/me", tag = "Account", operation_id = "changeMe",
    request_body(content = MeChangeBody, content_type = "application/json"),
    responses((status = 200, description = "The changed account", body = MeJson)),
    security(("api_key" = [])),
)]
pub(super) async fn change(
    State(state): State<ApiState>,
    Owner(account): Owner,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<MeJson>, ApiError> {
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let MeChangeBody { notify } = fields.take()?;
    fields.unknown()?;
    state.app.set_notify_mode(&account, NotifyMode::read(&notify)?).await?;
    Ok(Json(MeJson::of(&state, &account).await?))
}

//! Serves `/healthz` (the process responds) and `/readyz` (its storage does too), on every host.

use super::{OutBody, error};
use dropleaf_app::App;
use dropleaf_core::{Code, Error};
use http::{HeaderValue, Response, header};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// The response of a successful health check.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"status": "ok"}))]
pub(super) struct HealthJson {
    /// `ok`.
    status: &'static str,
}

/// Check whether the process responds
///
/// On every host.
#[utoipa::path(
    get, path = "/healthz", tag = "Documents", operation_id = "getHealth",
    responses((status = 200, description = "The process is running", body = HealthJson)),
    security(()),
)]
fn healthz() -> Response<OutBody> {
    let body = serde_json::to_string(&HealthJson { status: "ok" }).unwrap_or_default() + "\n";
    let mut response = Response::new(OutBody::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Check whether the server is ready
///
/// Also checks the storage, for two seconds at most. On every host.
#[utoipa::path(
    get, path = "/readyz", tag = "Documents", operation_id = "getReadiness",
    responses((status = 200, description = "The server is ready", body = HealthJson)),
    security(()),
)]
async fn readyz(app: &App) -> Response<OutBody> {
    let ready = match tokio::time::timeout(Duration::from_secs(2), app.ping()).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::plain(Code::StorageUnavailable).retry_after(5)),
    };
    match ready {
        Ok(()) => healthz(),
        Err(error) => error::respond(&error, error::Wants::Json),
    }
}

pub(crate) async fn answer(app: &App, path: &str) -> Response<OutBody> {
    if path == "/readyz" { readyz(app).await } else { healthz() }
}

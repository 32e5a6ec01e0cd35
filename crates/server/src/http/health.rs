//! Serves `/healthz` (the process responds) and `/readyz` (it should get requests, see `readiness`), on every host.

use super::readiness::{Readiness, ReadyFor};
use super::{OutBody, error};
use dropleaf_core::{Code, Error};
use http::{HeaderValue, Response, Uri, header};
use serde::Serialize;
use utoipa::ToSchema;

/// `Retry-After` while the server starts.
const RETRY_SECONDS: i64 = 2;

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
/// Also checks the database, for two seconds at most. A server that is about to stop is not ready. On every host.
#[utoipa::path(
    get, path = "/readyz", tag = "Documents", operation_id = "getReadiness",
    params(("for" = Option<String>, Query, description = "`views`: also ready while the database is away and pages can be shown \
        from their last known rows.")),
    responses((status = 200, description = "The server is ready", body = HealthJson)),
    security(()),
)]
async fn readyz(readiness: &Readiness, requests: ReadyFor) -> Response<OutBody> {
    match readiness.check(requests).await {
        Ok(()) => healthz(),
        Err(error) => error::respond(&error, error::Wants::Json),
    }
}

pub(crate) async fn answer(readiness: &Readiness, uri: &Uri) -> Response<OutBody> {
    if uri.path() != "/readyz" {
        return healthz();
    }
    let is_for_views = uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "for=views"));
    readyz(readiness, if is_for_views { ReadyFor::Views } else { ReadyFor::Everything }).await
}

/// The response to any request while the server waits for its database: the process runs, and is not ready.
pub(crate) fn answer_at_start(path: &str) -> Response<OutBody> {
    if path == "/healthz" {
        return healthz();
    }
    let detail = "This server is starting: its database is not available yet. Send requests to another node.";
    let error = Error::new(Code::NotReady, detail).retry_after(RETRY_SECONDS);
    error::respond(&error, error::Wants::Json)
}

//! OAuth 2.1: programs that act for a person. What programs call is open to every origin; what people see is not.

mod device;
mod device_page;

use super::api::ApiState;
use axum::Router;
use axum::routing::{get, post};

/// Called by programs: documents, registration, tokens, revocation.
pub(super) fn endpoints() -> Router<ApiState> {
    Router::new()
        .route("/device/code", post(device::key_code))
        .route("/device/token", post(device::key_token))
}

/// Seen by people: consent, a device's code.
pub(super) fn pages() -> Router<ApiState> {
    Router::new().route("/device", get(device_page::show).post(device_page::answer))
}

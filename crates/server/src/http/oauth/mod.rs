//! OAuth 2.1: programs that act for a person. What programs call is open to every origin; what people see is not.

use super::api::ApiState;
use axum::Router;

/// Called by programs: documents, registration, tokens, revocation.
pub(super) fn endpoints() -> Router<ApiState> {
    Router::new()
}

/// Seen by people: consent, a device's code.
pub(super) fn pages() -> Router<ApiState> {
    Router::new()
}

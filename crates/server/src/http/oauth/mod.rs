//! OAuth 2.1: programs that act for a person. What programs call is open to every origin; what people see is not.

mod apps;
mod authorize;
mod challenge;
mod client_auth;
mod clients;
mod consent;
mod device;
mod device_page;
mod error;
mod metadata;
mod params;
mod register;
mod revoke;
mod token;

pub(super) use challenge::{Challenge, write as write_challenge};
pub(super) use clients::Documents;

use super::api::ApiState;
use axum::Router;
use axum::routing::{get, post};

/// Called by programs: documents, registration, tokens, revocation.
pub(super) fn endpoints() -> Router<ApiState> {
    Router::new()
        .route("/device/code", post(device::key_code))
        .route("/device/token", post(device::key_token))
        .route("/.well-known/oauth-authorization-server", get(metadata::server))
        .route("/.well-known/oauth-protected-resource", get(metadata::service))
        .route("/.well-known/oauth-protected-resource/mcp", get(metadata::mcp))
        .route("/oauth/register", post(register::register))
        .route("/oauth/token", post(token::token))
        .route("/oauth/revoke", post(revoke::revoke))
        .route("/oauth/device_authorization", post(device::authorize))
}

/// Seen by people: consent, a device's code, what they have let in.
pub(super) fn pages() -> Router<ApiState> {
    Router::new()
        .route("/device", get(device_page::show).post(device_page::answer))
        .route("/oauth/authorize", get(authorize::authorize))
        .route("/oauth/consent", post(consent::answer))
        .route("/dashboard/apps", get(apps::list))
        .route("/dashboard/apps/{id}/revoke", post(apps::revoke))
}

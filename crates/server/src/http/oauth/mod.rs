//! OAuth 2.1 for programs that act for a person. Endpoints for programs are open to every origin; pages for people are
//! not.

pub(super) mod authorize;
mod bodies;
mod client_auth;
mod clients;
mod device;
mod device_page;
mod error;
mod metadata;
mod params;
mod register;
mod token;

use crate::http::state::ApiState;
use axum::Router;
use axum::routing::{get, post};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Called by programs: documents, registration, tokens, revocation, device login.
pub(super) fn endpoints() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(device::key_code))
        .routes(routes!(device::key_token))
        .routes(routes!(metadata::server))
        .routes(routes!(metadata::service))
        .routes(routes!(metadata::mcp))
        .routes(routes!(register::register))
        .routes(routes!(token::token))
        .routes(routes!(token::revoke))
        .routes(routes!(device::authorize))
}

/// Pages for people: consent and device codes.
pub(super) fn pages() -> Router<ApiState> {
    Router::new()
        .route("/device", get(device_page::show).post(device_page::answer))
        .route("/oauth/authorize", get(authorize::authorize))
        .route("/oauth/consent", post(authorize::answer_consent))
}

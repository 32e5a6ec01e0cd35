//! Signing in and out.

use super::api::ApiState;
use axum::Router;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
}

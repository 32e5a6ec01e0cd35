//! What the operator sees: figures, accounts, reports.

use super::api::ApiState;
use axum::Router;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
}

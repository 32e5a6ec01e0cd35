//! The paid doors: `/publish`, `/provision`, `/unlock`, the wallet's challenge, and what describes them. Spec §4 Payment.

mod wallet;

use crate::http::api::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The operations, each with its documentation; absent when nothing is sold.
pub(super) fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(wallet::challenge))
}

//! The paid doors: `/publish`, `/provision`, `/unlock`, the wallet's challenge, and what describes them. Spec §4 Payment.

mod counter;
mod described;
mod discovery;
mod front_door;
mod paid_page;
mod provision;
mod publish;
mod rails;
mod receipt;
mod service_record;
mod terms;
mod unlock;
mod wallet;

pub(super) use front_door::inner;

use super::api::ApiState;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The tag of the operations that are gone when nothing is sold; the wallet's challenge sells nothing and stays.
pub(super) const TAG: &str = "Payments";

/// The operations, each with its documentation.
pub(super) fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(publish::terms, publish::publish))
        .routes(routes!(provision::menu, provision::provision))
        .routes(routes!(unlock::catalogue, unlock::unlock))
}

/// What stays when nothing is sold any more.
pub(super) fn kept() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(wallet::challenge))
}

/// What describes them.
pub(super) fn documents() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(service_record::read))
        .routes(routes!(discovery::well_known))
        .routes(routes!(discovery::resources))
}

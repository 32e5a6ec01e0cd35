//! The paid endpoints `/publish`, `/provision` and `/unlock`, pay sessions, the wallet challenge, and their documents. Spec §4
//! Payment.

mod agents_host;
mod balance;
mod card_terms;
mod card_token;
mod card_webhook;
mod discovery;
mod discovery_schemas;
mod mandate;
mod menu;
mod paid_page;
mod pay_sessions;
mod provision;
mod publish;
mod purchase;
mod receipt;
mod service_record;
mod terms;
mod transactions;
mod unlock;
mod wallet;

pub(super) use agents_host::api_uri;

use crate::http::state::ApiState;
use axum::Router;
use axum::routing::any;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// OpenAPI tag of the operations that exist only while payments are enabled; the wallet challenge always exists.
pub(super) const TAG: &str = "Payments";

/// The paid operations with their OpenAPI documentation.
pub(super) fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(publish::terms, publish::publish))
        .routes(routes!(menu::list, provision::provision))
        .routes(routes!(unlock::catalogue, unlock::unlock))
        .routes(routes!(pay_sessions::create))
        .routes(routes!(pay_sessions::poll))
        .routes(routes!(card_webhook::receive))
        .routes(routes!(transactions::list))
}

/// The operations that remain when payments are disabled.
pub(super) fn kept() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(wallet::challenge))
}

/// Answers the processor's address with 404 when payments are disabled: otherwise it would name one of the owner's webhooks.
pub(super) fn absent() -> Router<ApiState> {
    Router::new().route("/webhooks/stripe", any(crate::http::api::not_found))
}

/// The documents that describe them.
pub(super) fn documents() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(service_record::read))
        .routes(routes!(discovery::well_known))
        .routes(routes!(discovery::resources))
}

//! The API: its routes, the frame every exchange goes through, and the state handlers share.

mod account;
mod api_keys;
mod feedback;
mod frame;
mod home;
pub mod openapi;
mod share_tokens;
mod site_change;
mod site_content;
mod site_json;
mod site_life;
mod sites;

pub(super) use frame::{ApiError, Exchange, carry};
pub(super) use home::designed;

use super::oauth::Documents;
use crate::config::Resolved;
use crate::tasks::Tasks;
use axum::Router;
use axum::middleware;
use axum::routing::{any, get};
use dropleaf_app::App;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(Debug, Clone)]
pub(super) struct ApiState {
    pub app: Arc<App>,
    pub resolved: Arc<Resolved>,
    /// For work that an answer does not wait for.
    pub tasks: Tasks,
    /// Programs that describe themselves at an address.
    pub documents: Arc<Documents>,
}

/// The operations of the interface, each with its documentation.
fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(sites::list, sites::create))
        .routes(routes!(sites::read, sites::replace, site_change::change, site_life::delete))
        .routes(routes!(site_content::read))
        .routes(routes!(site_life::claim))
        .routes(routes!(site_life::restore))
        .routes(routes!(site_content::versions))
        .routes(routes!(site_content::rollback))
        .routes(routes!(share_tokens::list, share_tokens::create))
        .routes(routes!(share_tokens::revoke))
        .routes(routes!(feedback::list))
        .routes(routes!(feedback::resolve))
        .routes(routes!(feedback::delete))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::revoke))
        .routes(routes!(account::me))
}

pub(super) fn router(state: ApiState) -> Router {
    let (router, _) = operations().split_for_parts();
    router
        .merge(super::oauth::endpoints())
        .merge(super::guides::texts())
        .route("/mcp", any(super::mcp::door))
        .route("/docs", get(home::docs))
        .route("/openapi.json", get(home::openapi))
        .route("/favicon.svg", get(home::favicon))
        .route("/favicon.ico", get(home::favicon))
        .route("/robots.txt", get(home::robots))
        .fallback(frame::not_found)
        .method_not_allowed_fallback(frame::method_not_allowed)
        .layer(middleware::from_fn(super::address::for_programs))
        .layer(middleware::from_fn_with_state(state.clone(), frame::exchange))
        .with_state(state)
}

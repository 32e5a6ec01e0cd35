//! Assembles the router: each module lists its own routes, and only this one knows all of them and the middleware around
//! them. Published pages do not pass through it.

use super::state::ApiState;
use super::{
    address, agent_files, anonymous_upload, api, dashboard, foreign_origin, guides, mcp, oauth, operator,
    pay, pay_link, reference, sign_in, web,
};
use axum::routing::get;
use axum::{Router, middleware};
use utoipa_axum::router::OpenApiRouter;

/// Routes that do not depend on the settings.
fn always() -> OpenApiRouter<ApiState> {
    api::operations()
        .merge(pay::kept())
        .merge(oauth::endpoints())
        .merge(guides::texts())
        .merge(agent_files::documents())
        .merge(reference::routes())
}

/// Routes that exist only while payments are enabled.
fn while_selling() -> OpenApiRouter<ApiState> {
    pay::operations().merge(pay::documents())
}

/// Every route that the OpenAPI document describes, except `/mcp`, which has its own state.
pub(super) fn documented() -> OpenApiRouter<ApiState> {
    always().merge(while_selling())
}

/// Paths that browsers, crawlers and mail programs request by convention; not part of the API.
pub(super) fn conventions() -> Router<ApiState> {
    Router::new()
        .route("/favicon.svg", get(api::favicon))
        .route("/favicon.ico", get(api::favicon))
        .route("/robots.txt", get(api::robots))
        .merge(api::mail_links())
}

/// The pages for people, who are identified by a session cookie or, at a pay link, by its address.
pub(super) fn people(sells: bool) -> Router<ApiState> {
    let always = Router::new()
        .merge(sign_in::routes())
        .merge(oauth::pages())
        .merge(dashboard::routes())
        .merge(operator::routes())
        .route("/", get(guides::home))
        .route("/drop", get(anonymous_upload::read).post(anonymous_upload::create))
        .route("/assets/{name}", get(web::asset));
    if sells { always.merge(pay_link::routes()) } else { always }
}

/// The API with its middleware.
fn for_programs(state: ApiState) -> Router {
    let sells = state.app.require_payments().is_ok();
    let routes = if sells {
        documented().split_for_parts().0
    } else {
        always().split_for_parts().0.merge(pay::absent())
    };
    routes
        .merge(mcp::routes(&state))
        .merge(conventions())
        .fallback(api::not_found)
        .method_not_allowed_fallback(api::method_not_allowed)
        .layer(middleware::from_fn(address::for_programs))
        .layer(middleware::from_fn_with_state(state.clone(), foreign_origin::guard))
        .layer(middleware::from_fn_with_state(state.clone(), api::exchange))
        .with_state(state)
}

/// The pages for people with their middleware.
fn for_people(state: ApiState) -> Router {
    people(state.app.require_payments().is_ok())
        .method_not_allowed_fallback(web::method_not_allowed)
        .layer(middleware::from_fn(address::for_people))
        .layer(middleware::from_fn_with_state(state.clone(), web::exchange))
        .with_state(state)
}

/// Everything except published pages and the health checks, which are answered before the router.
pub(super) fn router(state: ApiState) -> Router {
    for_programs(state.clone()).merge(for_people(state))
}

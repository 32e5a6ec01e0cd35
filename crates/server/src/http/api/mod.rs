//! The API: its routes, the middleware around them, and the state that handlers share.

mod account;
mod api_keys;
mod appeals;
mod check;
mod feedback;
mod home;
mod idempotent_response;
mod share_tokens;
mod site_change;
mod site_content;
mod site_form;
mod site_json;
mod site_lifecycle;
mod sites;
mod uploads;

pub(super) use account::MeJson;
pub(super) use api_keys::OkJson;
pub(super) use appeals::AppealForm;
pub(super) use check::CheckJson;
pub(crate) use check::ReasonJson;
pub(super) use feedback::{FeedbackListJson, ResolvedJson};
pub(super) use home::{designed, designed_headers};
pub(super) use idempotent_response::IdempotentResponse;
pub(super) use share_tokens::{ShareTokenBody, ShareTokenJson, ShareTokensJson, make_share_token};
pub(super) use site_change::PatchBody;
pub(super) use site_content::VersionsJson;
pub(super) use site_json::SiteJson;
pub(super) use site_lifecycle::DeletedJson;
pub(super) use sites::{SiteListJson, list_query, publish};

use super::body_budget::Budget;
use super::oauth::Documents;
use super::reference::Reference;
use super::{foreign_origin, layer, reference};
use crate::config::Resolved;
use crate::tasks::Tasks;
use axum::Router;
use axum::middleware;
use axum::routing::get;
use dropleaf_app::App;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(Debug, Clone)]
pub(super) struct ApiState {
    pub app: Arc<App>,
    pub resolved: Arc<Resolved>,
    /// For work that the response does not wait for.
    pub tasks: Tasks,
    /// Client metadata documents of OAuth clients whose client id is a URL.
    pub documents: Arc<Documents>,
    /// Memory budget for request bodies.
    pub budget: Budget,
    /// The rendered API description.
    pub reference: Arc<Reference>,
}

/// The API operations with their OpenAPI documentation; paid ones are in `http::pay`.
fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(sites::list, sites::create))
        .routes(routes!(sites::read, sites::replace, site_change::change, site_lifecycle::delete))
        .routes(routes!(site_content::read))
        .routes(routes!(site_lifecycle::claim))
        .routes(routes!(site_lifecycle::restore))
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
        .routes(routes!(check::check))
        .routes(routes!(appeals::create))
        .routes(routes!(appeals::read))
        .routes(routes!(uploads::put))
        .routes(routes!(uploads::post))
}

/// Routes that do not depend on the settings.
fn always() -> OpenApiRouter<ApiState> {
    operations()
        .merge(super::pay::kept())
        .merge(super::oauth::endpoints())
        .merge(super::guides::texts())
        .merge(reference::routes())
}

/// Routes that exist only while payments are enabled.
fn while_selling() -> OpenApiRouter<ApiState> {
    super::pay::operations().merge(super::pay::documents())
}

/// Every route that the OpenAPI document describes, except `/mcp`, which has its own state.
pub(super) fn documented() -> OpenApiRouter<ApiState> {
    always().merge(while_selling())
}

/// Paths that browsers and crawlers request by convention; not part of the API.
pub(super) fn conventions() -> Router<ApiState> {
    Router::new()
        .route("/favicon.svg", get(home::favicon))
        .route("/favicon.ico", get(home::favicon))
        .route("/robots.txt", get(home::robots))
}

pub(super) fn router(state: ApiState) -> Router {
    let sells = state.app.require_payments().is_ok();
    let routes = if sells { documented() } else { always() };
    routes
        .split_for_parts()
        .0
        .merge(super::mcp::routes(&state))
        .merge(conventions())
        .fallback(layer::not_found)
        .method_not_allowed_fallback(layer::method_not_allowed)
        .layer(middleware::from_fn(super::address::for_programs))
        .layer(middleware::from_fn_with_state(state.clone(), foreign_origin::guard))
        .layer(middleware::from_fn_with_state(state.clone(), layer::exchange))
        .with_state(state)
}

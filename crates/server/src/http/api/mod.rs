//! The JSON API: its operations and what they send and receive. `http/routes.rs` puts the middleware around them.

mod account;
mod api_keys;
mod appeals;
mod check;
mod content_edit;
mod custom_domain_json;
mod custom_domains;
mod feedback;
mod feedback_json;
mod feedback_threads;
mod home;
mod idempotent_response;
mod layer;
mod share_tokens;
mod site_change;
mod site_content;
mod site_download;
mod site_files;
mod site_form;
mod site_json;
mod site_lifecycle;
mod sites;
mod tls_allow;
mod unsubscribe;
mod uploads;
mod version_diff;
mod webhook_deliveries;
mod webhook_json;
mod webhooks;

pub(super) use account::MeJson;
pub(super) use api_keys::OkJson;
pub(super) use appeals::AppealForm;
pub(super) use check::CheckJson;
pub(crate) use check::ReasonJson;
pub(super) use content_edit::{ContentEditBody, parse_content_edit};
pub(super) use custom_domain_json::{CustomDomainJson, CustomDomainsJson};
pub(super) use custom_domains::add_domain;
pub(super) use feedback::ResolvedJson;
pub(super) use feedback_json::FeedbackListJson;
pub(super) use feedback_threads::{RepliedJson, ResolveManyBody, ResolvedManyJson, add_reply};
pub(super) use home::{designed, designed_headers, favicon, robots};
pub(super) use idempotent_response::IdempotentResponse;
pub(super) use layer::{exchange, method_not_allowed, not_found};
pub(super) use share_tokens::{ShareTokenBody, ShareTokenJson, ShareTokensJson, make_share_token};
pub(super) use site_change::PatchBody;
pub(super) use site_content::VersionsJson;
pub(super) use site_json::SiteJson;
pub(super) use site_lifecycle::DeletedJson;
#[cfg(test)]
pub(super) use sites::SiteListJson;
pub(super) use sites::{list_query, publish};
pub(super) use tls_allow::PATH as TLS_ALLOW_PATH;

use super::state::ApiState;
use axum::Router;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The addresses in our emails, which mail programs call too (RFC 8058): they send no cookie, no key and no origin.
pub(super) fn mail_links() -> Router<ApiState> {
    Router::new().route("/unsubscribe/{token}", get(unsubscribe::show).post(unsubscribe::change))
}

/// The API operations with their OpenAPI documentation; paid ones are in `http::pay`.
pub(super) fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(sites::list, sites::create))
        .routes(routes!(sites::read, sites::replace, site_change::change, site_lifecycle::delete))
        .routes(routes!(site_content::read, content_edit::edit))
        .routes(routes!(site_download::download))
        .routes(routes!(site_lifecycle::claim))
        .routes(routes!(site_lifecycle::restore))
        .routes(routes!(site_files::put, site_files::delete))
        .routes(routes!(site_content::versions))
        .routes(routes!(site_content::version))
        .routes(routes!(version_diff::diff))
        .routes(routes!(site_content::rollback))
        .routes(routes!(share_tokens::list, share_tokens::create))
        .routes(routes!(share_tokens::revoke))
        .routes(routes!(feedback::list))
        .routes(routes!(feedback::resolve))
        .routes(routes!(feedback::delete))
        .routes(routes!(feedback_threads::list, feedback_threads::create))
        .routes(routes!(feedback_threads::reopen))
        .routes(routes!(feedback_threads::resolve_many))
        .routes(routes!(custom_domains::list, custom_domains::create))
        .routes(routes!(custom_domains::read, custom_domains::change, custom_domains::delete))
        .routes(routes!(custom_domains::verify))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::revoke))
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::read, webhooks::change, webhooks::delete))
        .routes(routes!(webhooks::rotate))
        .routes(routes!(webhook_deliveries::list))
        .routes(routes!(webhook_deliveries::retry))
        .routes(routes!(webhook_deliveries::test))
        .routes(routes!(webhook_deliveries::receive))
        .routes(routes!(account::me, account::change))
        .routes(routes!(check::check))
        .routes(routes!(appeals::create))
        .routes(routes!(appeals::read))
        .routes(routes!(uploads::put))
        .routes(routes!(uploads::post))
        .routes(routes!(tls_allow::allow))
}

//! The dashboard for page owners. Every handler calls the same operations as the API.

mod account;
mod appeal;
mod apps;
mod billing;
mod changes;
mod claim;
mod domain;
mod domains;
mod feedback;
mod feedback_forms;
mod keys;
mod lifecycle;
mod list;
mod open;
mod page;
mod passkeys;
mod problem;
mod settings;
mod share_links;
mod thumbnail;
mod unlocks;
mod upload;
mod webhook;
mod webhooks;

pub(super) use billing::{HERE as BILLING, bought_address};
pub(super) use problem::{may_appeal, words};

use super::web::{Person, WebError, see_other};
use crate::http::state::ApiState;
use axum::Router;
use axum::routing::{any, get, post};
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{Done, Section, Shell};

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .merge(account::routes())
        .merge(billing::routes())
        .merge(unlocks::routes())
        .merge(domains::routes())
        .merge(keys::routes())
        .merge(passkeys::routes())
        .merge(webhooks::routes())
        .route("/dashboard", get(list::read))
        .route("/dashboard/claim", post(claim::by_link))
        .route("/dashboard/upload", get(upload::read).post(upload::create))
        .route("/dashboard/apps", get(apps::list))
        .route("/dashboard/apps/{id}/revoke", post(apps::revoke))
        .route("/dashboard/appeal", get(appeal::read).post(appeal::create))
        .route("/dashboard/pages/{id}", get(page::read))
        .route("/dashboard/pages/{id}/open", post(open::create))
        .route("/dashboard/pages/{id}/preview.svg", get(thumbnail::read))
        .route("/dashboard/pages/{id}/content", post(upload::replace))
        .route("/dashboard/pages/{id}/title", post(settings::title))
        .route("/dashboard/pages/{id}/visibility", post(settings::visibility))
        .route("/dashboard/pages/{id}/password", post(settings::password))
        .route("/dashboard/pages/{id}/email-gate", post(settings::email_gate))
        .route("/dashboard/pages/{id}/expiry", post(settings::expiry))
        .route("/dashboard/pages/{id}/options", post(settings::options))
        .route("/dashboard/pages/{id}/changes", get(changes::read))
        .route("/dashboard/pages/{id}/rollback", post(lifecycle::rollback))
        .route("/dashboard/pages/{id}/delete", post(lifecycle::delete))
        .route("/dashboard/pages/{id}/restore", post(lifecycle::restore))
        .route("/dashboard/pages/{id}/share-links", post(share_links::create))
        .route("/dashboard/pages/{id}/share-links/{link}/revoke", post(share_links::revoke))
        .route("/dashboard/pages/{id}/feedback", get(feedback::read))
        .route("/dashboard/pages/{id}/feedback/resolve", post(feedback_forms::resolve_many))
        .route("/dashboard/pages/{id}/feedback/undo", post(feedback_forms::undo))
        .route("/dashboard/pages/{id}/feedback/{item}", get(feedback::read_one))
        .route("/dashboard/pages/{id}/feedback/{item}/reply", post(feedback_forms::reply))
        .route("/dashboard/pages/{id}/feedback/{item}/reopen", post(feedback_forms::reopen))
        .route("/dashboard/pages/{id}/feedback/{item}/resolve", post(feedback_forms::resolve))
        .route("/dashboard/pages/{id}/feedback/{item}/delete", post(feedback_forms::delete))
        .route("/claim/{id}", get(claim::read).post(claim::create))
        .route("/dashboard/", get(async || see_other("/dashboard")))
        .route("/dashboard/{*rest}", any(nowhere))
}

/// The 404 for signed-in people, with a link back to the dashboard.
async fn nowhere(_: Person) -> WebError {
    Error::plain(Code::NotFound).into()
}

/// The shell with the Pages section selected.
fn shell(person: &Person, done: Option<Done>) -> Shell<'_> {
    person.shell(Section::Pages, done)
}

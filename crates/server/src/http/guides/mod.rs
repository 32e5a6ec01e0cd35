//! What a newcomer reads: the front page for people, and the texts for agents.

use super::api::{ApiState, designed};
use super::web::{MaybePerson, see_other};
use crate::pages::{self, Landing};
use axum::Router;
use axum::extract::State;
use axum::response::Response;

/// Texts for agents.
pub(super) fn texts() -> Router<ApiState> {
    Router::new()
}

/// The front page; whoever has signed in goes on to their pages.
pub(super) async fn home(State(state): State<ApiState>, MaybePerson(person): MaybePerson) -> Response {
    if person.is_some() {
        return see_other("/dashboard");
    }
    let hosts = &state.resolved.hosts;
    designed(pages::landing(&Landing {
        base_url: &hosts.base.url(),
        site_url: &hosts.site.url(),
        version: env!("CARGO_PKG_VERSION"),
        anonymous_hours: dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS / 3600,
        max_upload_mib: state.resolved.config.limits.upload_bytes >> 20,
    }))
}

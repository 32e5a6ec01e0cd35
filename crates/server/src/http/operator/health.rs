//! Serves `/operator/health`: the results of the health checks, and a button to run them again.

use super::OperatorForm;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Query, WebError, page, see_other};
use axum::extract::State;
use axum::response::Response;
use dropleaf_pages::dashboard::Section;
use dropleaf_pages::operator::health::{HealthPage, health};

const HEALTH: &str = "/operator/health";

pub(super) async fn show(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    // The first visit runs the checks; after that only the button does.
    if state.health.last().0.is_none() {
        state.health.start(&state);
    }
    let (report, is_running) = state.health.last();
    Ok(page(health(&HealthPage {
        shell: person.shell(Section::Operator, query.done()),
        report: report.as_deref(),
        is_running,
        is_recent: person.session.is_recent(state.app.now()),
    })))
}

pub(super) async fn run(State(state): State<ApiState>, _: OperatorForm) -> Result<Response, WebError> {
    state.health.start(&state);
    Ok(see_other(HEALTH))
}

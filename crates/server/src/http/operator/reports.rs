//! `/operator/reports`: what viewers reported, gathered by page; each page is taken down or its reports dismissed.

use super::{OperatorForm, actor};
use crate::http::api::ApiState;
use crate::http::error;
use crate::http::web::{Operator, Person, Query, WebError, door, page, see_other};
use crate::pages::Html;
use crate::pages::dashboard::{Done, Section};
use crate::pages::operator::{Refused, Reports, reports};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::Code;

/// Reports that were dealt with, for a glance back.
const CLOSED: i64 = 20;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    Ok(page(shown(&state, &person, query.done(), None).await?))
}

pub(super) async fn take_down(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let reason = form.fields.text("reason");
    match state.app.take_down(actor(&form.person), &id, reason).await {
        Ok(_) => Ok(back(Done::TakenDown)),
        Err(refused) if refused.code == Code::InvalidField => {
            let again = Refused { site_id: &id, reason };
            let html = shown(&state, &form.person, None, Some(again)).await?;
            Ok(door(error::status(refused.code), html, None))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn dismiss(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    state.app.dismiss_reports(actor(&form.person), &id, form.fields.text("reason")).await?;
    Ok(back(Done::Dismissed))
}

fn back(done: Done) -> Response {
    see_other(&format!("/operator/reports?done={}", done.word()))
}

async fn shown(
    state: &ApiState,
    person: &Person,
    done: Option<Done>,
    refused: Option<Refused<'_>>,
) -> Result<Html, WebError> {
    let cases = state.app.list_cases().await?;
    let waiting = state.app.count_reports().await?;
    let shown: usize = cases.iter().map(|case| case.reports.len()).sum();
    Ok(reports(&Reports {
        shell: person.shell(Section::Operator, done),
        cases: &cases,
        closed: &state.app.list_closed_reports(CLOSED).await?,
        is_cut: waiting.or_more || i64::try_from(shown).is_ok_and(|shown| shown < waiting.count),
        refused,
        is_recent: person.session.is_recent(state.app.now()),
    }))
}

//! Serves `/operator/reports`: viewers' reports grouped by page, to take the page down or dismiss the reports.

use super::{OperatorForm, actor};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Person, Query, WebError, page, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::ReportCase;
use dropleaf_core::{Code, number};
use dropleaf_pages::Html;
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::reports::{RefusedTakedown, ReportCaseView, ReportsPage, reports};

/// Pages shown at once.
const CASES: i64 = 50;
/// Recently closed reports shown.
const CLOSED: i64 = 20;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let first_at = number::integer(query.text("after"));
    let after = first_at.map(|first_at| (first_at, query.text("after_id")));
    Ok(page(shown(&state, &person, after, query.done(), None).await?))
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
            let again = RefusedTakedown { site_id: &id, reason };
            let html = shown(&state, &form.person, None, None, Some(again)).await?;
            Ok(page_with_status(error::status(refused.code), html, None))
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
    after: Option<(i64, &str)>,
    done: Option<Done>,
    refused: Option<RefusedTakedown<'_>>,
) -> Result<Html, WebError> {
    let mut cases = state.app.list_cases(after, CASES + 1).await?;
    let most = usize::try_from(CASES).unwrap_or_default();
    let next = (cases.len() > most).then(|| {
        cases.truncate(most);
        let last = cases.last()?;
        Some(format!("/operator/reports?after={}&after_id={}", last.waiting.first_at, last.site.id))
    });
    let closed = state.app.list_closed_reports(CLOSED).await?;
    Ok(reports(&ReportsPage {
        shell: person.shell(Section::Operator, done),
        cases: cases.iter().map(case_view).collect(),
        closed: closed.iter().map(|page| &page.report).collect(),
        is_first: after.is_none(),
        next: next.flatten().as_deref(),
        refused,
        is_recent: person.session.is_recent(state.app.now()),
    }))
}

fn case_view(case: &ReportCase) -> ReportCaseView<'_> {
    ReportCaseView {
        site: &case.site,
        url: &case.url,
        owner: case.owner.as_deref(),
        count: case.waiting.count,
        first_at: case.waiting.first_at,
        last_at: case.waiting.last_at,
        reasons: &case.reasons,
        reports: &case.reports,
    }
}

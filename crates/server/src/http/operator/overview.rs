//! Serves `/operator`: figures, the latest audit entries, and a form to take down any page.

use super::{OperatorForm, actor};
use crate::config::missing_chains;
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Person, Query, WebError, page, page_with_status, see_other};
use axum::extract::State;
use axum::response::Response;
use dropleaf_app::{OpenReports, ServiceStats};
use dropleaf_core::Code;
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::overview::{BackupLine, Figure, OverviewPage, TakedownForm, overview};
use dropleaf_pages::{Count, Elapsed, Html, Moment, Size};

/// Audit entries shown.
const LINES: i64 = 20;

pub(super) async fn show(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let done = query.done();
    let gone = match query.find("page") {
        Some(id) if done == Some(Done::TakenDown) => state.app.find_taken_down(id).await?,
        _ => None,
    };
    let typed = TakedownForm { gone: gone.as_deref(), ..TakedownForm::default() };
    Ok(page(shown(&state, &person, done, typed).await?))
}

pub(super) async fn take_down(
    State(state): State<ApiState>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let (name, reason) = (form.fields.text("page"), form.fields.text("reason"));
    match state.app.take_down(actor(&form.person), name, reason).await {
        Ok(down) => {
            Ok(see_other(&format!("/operator?done={}&page={}", Done::TakenDown.word(), down.site.id)))
        }
        Err(refused) if matches!(refused.code, Code::NotFound | Code::InvalidField) => {
            let problem = if refused.code == Code::NotFound {
                "No page has this name or address."
            } else {
                "Enter a reason of at most 500 characters."
            };
            let typed = TakedownForm { page: name, reason, problem: Some(problem), gone: None };
            let html = shown(&state, &form.person, None, typed).await?;
            Ok(page_with_status(error::status(refused.code), html, None))
        }
        Err(error) => Err(error.into()),
    }
}

async fn shown(
    state: &ApiState,
    person: &Person,
    done: Option<Done>,
    typed: TakedownForm<'_>,
) -> Result<Html, WebError> {
    let figures = state.app.service_stats().await?;
    let reports = state.app.count_reports().await?;
    let payments = state.app.count_open_payments().await?;
    let appeals = state.app.count_open_appeals().await?;
    let entries = state.app.list_audit(LINES).await?;
    let backup = state.app.backup_status().await?.map(|status| BackupLine {
        last: status.last.map(Moment),
        size: Size(status.stored_bytes),
        next: Moment(status.next),
        failures: status.failures,
        is_late: status.is_late,
    });
    Ok(overview(&OverviewPage {
        shell: person.shell(Section::Operator, done),
        figures: statistics(figures, reports, payments, appeals),
        counted: figures.map(|figures| Moment(figures.counted_at)),
        backup,
        version: env!("CARGO_PKG_VERSION"),
        uptime: Elapsed(state.app.uptime().as_secs()),
        entries: &entries,
        form: typed,
        missing_chains: missing_chains(&state.app),
        is_recent: person.session.is_recent(state.app.now()),
    }))
}

fn statistics(
    figures: Option<ServiceStats>,
    reports: OpenReports,
    payments: Option<i64>,
    appeals: i64,
) -> Vec<Figure> {
    let more = if reports.or_more { " or more" } else { "" };
    let waiting = Figure { value: format!("{}{more}", Count(reports.count)), label: "open reports" };
    let count = |value, label| Figure { value: Count(value).to_string(), label };
    let open = payments.map(|open| count(open, "open payments"));
    let asked = count(appeals, "open appeals");
    let Some(figures) = figures else { return [waiting, asked].into_iter().chain(open).collect() };
    let known = [
        count(figures.accounts, "accounts"),
        count(figures.live_pages, "live pages"),
        Figure { value: Size(figures.bytes).to_string(), label: "size of live pages" },
        count(figures.views, "views"),
        count(figures.new_pages, "new pages today (UTC)"),
        waiting,
        asked,
        count(figures.open_feedback, "unresolved comments"),
    ];
    known.into_iter().chain(open).collect()
}

//! Serves `/operator/accounts`: lists and searches accounts, sets their plan, suspends them and lifts suspensions.

use super::{OperatorForm, actor};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Person, Query, WebError, page, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::SuspensionResult;
use dropleaf_core::account::Account;
use dropleaf_core::error::FieldError;
use dropleaf_core::{Code, Error, number};
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::accounts::{AccountRow, AccountsPage, RefusedSuspension, accounts};
use dropleaf_pages::{Html, Moment};

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let before = number::integer(query.text("before"));
    let from = From {
        search: query.text("q").trim(),
        before: before.map(|at| (at, query.text("before_id").to_owned())),
    };
    Ok(page(shown(&state, &person, from, query.done(), None).await?))
}

/// The part of the list to show.
struct From<'a> {
    search: &'a str,
    before: Option<(i64, String)>,
}

async fn shown(
    state: &ApiState,
    person: &Person,
    from: From<'_>,
    done: Option<Done>,
    refused: Option<RefusedSuspension<'_>>,
) -> Result<Html, WebError> {
    let search = from.search;
    let found = state.app.search_accounts(search, from.before).await?;
    let older = found.accounts.last().filter(|_| found.has_more).map(|last| address(search, Some(last)));
    let plans: Vec<&str> = state.resolved.settings.plans.names().collect();
    Ok(accounts(&AccountsPage {
        shell: person.shell(Section::Operator, done),
        search,
        accounts: found.accounts.iter().map(row).collect(),
        plans: &plans,
        older: older.as_deref(),
        refused,
        is_recent: person.session.is_recent(state.app.now()),
    }))
}

pub(super) async fn suspend(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let reason = form.fields.text("reason");
    let outcome = state.app.suspend_account(actor(&form.person), &id, reason).await;
    settle(&state, &form, &id, outcome, Done::Suspended).await
}

pub(super) async fn lift(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let reason = form.fields.text("reason");
    let outcome = state.app.lift_suspension(actor(&form.person), &id, reason).await;
    settle(&state, &form, &id, outcome, Done::Lifted).await
}

/// Redirects to the list, or shows the form again with the error.
async fn settle(
    state: &ApiState,
    form: &OperatorForm,
    id: &str,
    outcome: Result<SuspensionResult, Error>,
    done: Done,
) -> Result<Response, WebError> {
    let refusal = match outcome {
        Ok(_) => return Ok(back(form.fields.text("q"), done)),
        Err(refusal) if matches!(refusal.code, Code::InvalidField | Code::Forbidden) => refusal,
        Err(error) => return Err(error.into()),
    };
    let problem = match refusal.fault.as_deref() {
        Some(FieldError { why, .. }) => format!("The reason {why}."),
        None => refusal.detail.clone(),
    };
    let again = RefusedSuspension { account_id: id, reason: form.fields.text("reason"), problem: &problem };
    let from = From { search: form.fields.text("q"), before: None };
    let html = shown(state, &form.person, from, None, Some(again)).await?;
    Ok(page_with_status(error::status(refusal.code), html, None))
}

pub(super) async fn set_plan(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    state.app.set_plan(actor(&form.person), &id, form.fields.text("plan")).await?;
    Ok(back(form.fields.text("q"), Done::PlanSet))
}

fn back(search: &str, done: Done) -> Response {
    let back = address(search, None);
    let mark = if back.contains('?') { '&' } else { '?' };
    see_other(&format!("{back}{mark}done={}", done.word()))
}

fn row(account: &Account) -> AccountRow<'_> {
    AccountRow {
        id: &account.id,
        email: account.email.as_deref(),
        plan: &account.plan,
        pages: account.active_pages,
        created: Moment(account.created_at),
        is_operator: account.is_operator,
        suspended: account.suspended.as_ref().map(|held| (Moment(held.since), held.reason.as_str())),
    }
}

/// The address of the list for this search, continued after the given account.
fn address(search: &str, last: Option<&Account>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if !search.is_empty() {
        query.append_pair("q", search);
    }
    if let Some(last) = last {
        query.append_pair("before", &last.created_at.to_string()).append_pair("before_id", &last.id);
    }
    match query.finish() {
        query if query.is_empty() => "/operator/accounts".to_owned(),
        query => format!("/operator/accounts?{query}"),
    }
}

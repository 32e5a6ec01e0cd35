//! `/operator/accounts`: who is here, found by address, and on which plan.

use super::{OperatorForm, actor};
use crate::http::api::ApiState;
use crate::http::web::{Operator, Query, WebError, page, see_other};
use crate::pages::Moment;
use crate::pages::dashboard::{Done, Section};
use crate::pages::operator::{AccountRow, Accounts, accounts};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_core::account::Account;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let search = query.text("q").trim();
    let before = query.text("before").parse::<i64>().ok();
    let before = before.map(|at| (at, query.text("before_id").to_owned()));
    let found = state.app.search_accounts(search, before).await?;
    let older = found.accounts.last().filter(|_| found.has_more).map(|last| address(search, Some(last)));
    let plans: Vec<&str> = state.resolved.settings.plans.names().collect();
    Ok(page(accounts(&Accounts {
        shell: person.shell(Section::Operator, query.done()),
        search,
        accounts: found.accounts.iter().map(row).collect(),
        plans: &plans,
        older: older.as_deref(),
        is_recent: person.session.is_recent(state.app.now()),
    })))
}

pub(super) async fn set_plan(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    state.app.set_plan(actor(&form.person), &id, form.fields.text("plan")).await?;
    let back = address(form.fields.text("q"), None);
    let mark = if back.contains('?') { '&' } else { '?' };
    Ok(see_other(&format!("{back}{mark}done={}", Done::PlanSet.word())))
}

fn row(account: &Account) -> AccountRow<'_> {
    AccountRow {
        id: &account.id,
        email: account.email.as_deref(),
        plan: &account.plan,
        pages: account.active_pages,
        created: Moment(account.created_at),
        is_operator: account.is_operator,
    }
}

/// The list for this search, from below the given account on.
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

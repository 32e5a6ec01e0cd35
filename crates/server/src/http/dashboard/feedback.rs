//! Serves `/dashboard/pages/{id}/feedback`: the comments on a page, by filter and part by part, and single threads.

use super::shell;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, WebError, page_with_status};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::FeedbackThread;
use dropleaf_core::Error;
use dropleaf_core::feedback_filter::{FeedbackFilter, Order, StateFilter};
use dropleaf_core::feedback_list::{ANSWER_BYTES, Cursor, FeedbackQuery};
use dropleaf_pages::dashboard::{self as pages, Attempt, Done, FeedbackOutcome, FeedbackPage, ThreadRow};
use http::StatusCode;

/// Comments shown at a time; the next ones are added below them.
const PART: i64 = 100;
/// The names of the filters in addresses.
const FILTERS: [&str; 5] = ["state", "severity", "intent", "order", "query"];

pub(super) async fn read(
    State(state): State<ApiState>,
    person: Person,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, WebError> {
    let outcome = Shown { done: query.done(), ..Shown::default() };
    show(&state, &person, &id, &query, outcome).await
}

pub(super) async fn read_one(
    State(state): State<ApiState>,
    person: Person,
    Path((id, item)): Path<(String, String)>,
    query: Query,
) -> Result<Response, WebError> {
    let (app, account) = (&state.app, &person.account);
    let thread = app.get_thread(account, &id, &item).await?;
    let site = app.get_own_site(account, &id).await?;
    let (filter, list) = list_filter(&query);
    let html = pages::feedback(&FeedbackPage {
        shell: shell(&person, query.done()),
        threads: vec![row(thread)],
        open: app.count_open_feedback_of(&site.id).await?,
        filter: &filter,
        query: &list,
        next: None,
        is_single: true,
        outcome: None,
        attempt: Attempt::default(),
        site: &site,
    });
    Ok(page_with_status(StatusCode::OK, html, Some(&app.page_origins(&site).join(" "))))
}

/// What the page shows besides its comments.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub done: Option<Done>,
    pub outcome: Option<FeedbackOutcome>,
    pub attempt: Attempt,
    pub status: StatusCode,
}

/// The page of comments that the filters of the address select.
pub(super) async fn show(
    state: &ApiState,
    person: &Person,
    id: &str,
    query: &Query,
    shown: Shown,
) -> Result<Response, WebError> {
    let (app, account) = (&state.app, &person.account);
    let (filter, list) = list_filter(query);
    let ask = FeedbackQuery {
        limit: Some(PART),
        // A cursor of another list starts at the beginning.
        cursor: query.find("cursor").and_then(|cursor| Cursor::parse(cursor).ok()),
        filter: filter.clone(),
        bytes: ANSWER_BYTES,
    };
    let ask = if ask.check().is_ok() { ask } else { FeedbackQuery { cursor: None, ..ask } };
    let found = app.peek_feedback(account, id, &ask).await?;
    let site = app.get_own_site(account, id).await?;
    let next =
        found.next.map(|cursor| format!("/dashboard/pages/{}/feedback?{list}&cursor={cursor}", site.id));
    let html = pages::feedback(&FeedbackPage {
        shell: shell(person, shown.done),
        threads: found.threads.into_iter().map(row).collect(),
        open: app.count_open_feedback_of(&site.id).await?,
        filter: &filter,
        query: &list,
        next,
        is_single: false,
        outcome: shown.outcome,
        attempt: shown.attempt,
        site: &site,
    });
    // The button that shows a comment on the page redirects to the page's own host.
    Ok(page_with_status(shown.status, html, Some(&app.page_origins(&site).join(" "))))
}

/// What was done and the threads that changed, for the script of the page.
pub(super) async fn fragment(
    state: &ApiState,
    person: &Person,
    id: &str,
    query: &Query,
    changed: &[String],
    outcome: FeedbackOutcome,
) -> Result<Response, WebError> {
    let (app, account) = (&state.app, &person.account);
    let (filter, list) = list_filter(query);
    let site = app.get_own_site(account, id).await?;
    let threads = app.list_threads(account, id, changed).await?;
    let html = pages::feedback_fragment(&FeedbackPage {
        shell: shell(person, None),
        threads: threads.into_iter().map(row).collect(),
        open: app.count_open_feedback_of(&site.id).await?,
        filter: &filter,
        query: &list,
        next: None,
        is_single: false,
        outcome: Some(outcome),
        attempt: Attempt::default(),
        site: &site,
    });
    Ok(page_with_status(StatusCode::OK, html, None))
}

fn row(FeedbackThread { feedback, thread }: FeedbackThread) -> ThreadRow {
    ThreadRow { item: feedback, thread }
}

/// The filter of an address, and the same as a query string. Without one: what is unresolved, the most severe first. A
/// filter that does not exist selects nothing less.
pub(super) fn list_filter(query: &Query) -> (FeedbackFilter, String) {
    let mut filter =
        FeedbackFilter { state: StateFilter::Open, order: Order::Severity, ..FeedbackFilter::default() };
    for name in FILTERS {
        if let Some(value) = query.find(name).filter(|value| !value.trim().is_empty()) {
            let _: Result<bool, Error> = filter.set(name, value);
        }
    }
    let mut text = form_urlencoded::Serializer::new(String::new());
    text.append_pair("state", filter.state.as_str()).append_pair("order", filter.order.as_str());
    if let Some(severity) = filter.severity {
        text.append_pair("severity", severity.as_str());
    }
    if let Some(intent) = filter.intent {
        text.append_pair("intent", intent.as_str());
    }
    if let Some(words) = &filter.query {
        text.append_pair("query", words);
    }
    (filter, text.finish())
}

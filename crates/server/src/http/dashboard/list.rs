//! Serves `/dashboard`: the owner's pages, with search, filters and paging on the server.

use super::shell;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, WebError, page_with_status};
use axum::extract::State;
use axum::response::Response;
use dropleaf_app::SiteSearch;
use dropleaf_core::number;
use dropleaf_core::site_filter::Filter;
use dropleaf_pages::dashboard::{self as pages, Attempt, PageCard, PageList};
use http::StatusCode;

pub(super) async fn read(
    State(state): State<ApiState>,
    person: Person,
    query: Query,
) -> Result<Response, WebError> {
    render(&state, &person, &query, StatusCode::OK, Attempt::default()).await
}

pub(super) async fn render(
    state: &ApiState,
    person: &Person,
    query: &Query,
    status: StatusCode,
    attempt: Attempt,
) -> Result<Response, WebError> {
    let words = query.text("q");
    let filter = query.find("show").and_then(Filter::parse).unwrap_or(Filter::All);
    let before = query.find("before").and_then(number::integer);
    let before = before.map(|at| (at, query.text("before_id").to_owned()));
    let search = SiteSearch { filter, words: words.to_owned(), before };
    let found = state.app.search_sites(&person.account, search).await?;
    let waiting = state.app.count_open_feedback(&person.account).await?;
    let next = found.sites.last().filter(|_| found.has_more).map(|last| {
        let mut next = form_urlencoded::Serializer::new(String::new());
        next.append_pair("before", &last.updated_at.to_string()).append_pair("before_id", &last.id);
        next.append_pair("show", filter.as_str()).append_pair("q", words);
        format!("/dashboard?{}", next.finish())
    });
    let card = |site| PageCard {
        url: state.app.canonical_url(site),
        open_feedback: waiting.get(&site.id).copied().unwrap_or_default(),
        site,
    };
    let html = pages::list(&PageList {
        shell: shell(person, query.done()),
        cards: found.sites.iter().map(card).collect(),
        filter,
        words: words.trim(),
        next,
        base_url: &state.resolved.hosts.base.url(),
        max_upload_bytes: state.resolved.config.limits.upload_bytes,
        attempt,
        now: state.app.now(),
    });
    Ok(page_with_status(status, html, None))
}

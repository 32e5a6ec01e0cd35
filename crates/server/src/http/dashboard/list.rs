//! `/dashboard`: the owner's pages, searched and narrowed on the server.

use super::{in_query, shell};
use crate::http::api::ApiState;
use crate::http::web::{Person, WebError, door};
use crate::pages::dashboard::{self as pages, Attempt, Card, List};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use dropleaf_app::SiteSearch;
use dropleaf_core::site_filter::Filter;
use http::StatusCode;

pub(super) async fn read(
    State(state): State<ApiState>,
    person: Person,
    RawQuery(query): RawQuery,
) -> Result<Response, WebError> {
    render(&state, &person, &query.unwrap_or_default(), StatusCode::OK, Attempt::default()).await
}

pub(super) async fn render(
    state: &ApiState,
    person: &Person,
    query: &str,
    status: StatusCode,
    attempt: Attempt,
) -> Result<Response, WebError> {
    let words = in_query(query, "q").unwrap_or_default();
    let filter = in_query(query, "show").and_then(|name| Filter::parse(&name)).unwrap_or(Filter::All);
    let before = in_query(query, "before").and_then(|at| at.parse::<i64>().ok());
    let before = before.map(|at| (at, in_query(query, "before_id").unwrap_or_default()));
    let search = SiteSearch { filter, words: words.clone(), before };
    let found = state.app.search_sites(&person.account, search).await?;
    let waiting = state.app.count_open_feedback(&person.account).await?;
    let next = found.sites.last().filter(|_| found.has_more).map(|last| {
        let mut next = form_urlencoded::Serializer::new(String::new());
        next.append_pair("before", &last.updated_at.to_string()).append_pair("before_id", &last.id);
        next.append_pair("show", filter.as_str()).append_pair("q", &words);
        format!("/dashboard?{}", next.finish())
    });
    let card = |site| Card {
        url: state.app.canonical_url(site),
        open_feedback: waiting.get(&site.id).copied().unwrap_or_default(),
        site,
    };
    let html = pages::list(&List {
        shell: shell(person, query),
        cards: found.sites.iter().map(card).collect(),
        filter,
        words: words.trim(),
        next,
        base_url: &state.resolved.hosts.base.url(),
        max_upload_bytes: state.resolved.config.limits.upload_bytes,
        attempt,
        now: state.app.now(),
    });
    Ok(door(status, html, None))
}

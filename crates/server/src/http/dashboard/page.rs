//! Serves `/dashboard/pages/{id}`: one page with its settings, versions, links and comments, and the outcome of its
//! forms.

use super::problem::{refused, refused_at};
use super::{domains, shell};
use crate::http::error::status;
use crate::http::state::ApiState;
use crate::http::web::{Fields, Person, Query, WebError, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::UpdatedSite;
use dropleaf_core::feedback_filter::{FeedbackFilter, StateFilter};
use dropleaf_core::feedback_list::FeedbackQuery;
use dropleaf_core::site::State as SiteState;
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{self as pages, Attempt, Done, PageView, ShareLinkRow, VersionRow};
use http::StatusCode;

pub(super) async fn read(
    State(state): State<ApiState>,
    person: Person,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, WebError> {
    show(&state, &person, &id, query.done(), StatusCode::OK, Attempt::default(), Vec::new()).await
}

pub(super) async fn show(
    state: &ApiState,
    person: &Person,
    id: &str,
    done: Option<Done>,
    status: StatusCode,
    attempt: Attempt,
    notes: Vec<String>,
) -> Result<Response, WebError> {
    let (app, account) = (&state.app, &person.account);
    let site = app.get_own_site(account, id).await?;
    let (mut versions, mut links, mut feedback, mut open_feedback) = (Vec::new(), Vec::new(), Vec::new(), 0);
    if matches!(site.state, SiteState::Live | SiteState::Expired) {
        versions = app.list_versions(account, id).await?.1;
        links = app.list_share_tokens(account, id).await?;
        let newest = app.peek_feedback(account, id, &newest_comments()).await?.threads;
        feedback = newest.into_iter().map(|thread| thread.feedback).collect();
        open_feedback = app.count_open_feedback_of(&site.id).await?;
    }
    let oldest = versions.last().map_or(0, |row| row.version);
    let domains = domains::of_page(state, account, &site.id).await?;
    // A placeholder that cannot be a slug, to split the address around it.
    let around = state.app.hosts.slug_url("\u{0}");
    let html = pages::page(&PageView {
        shell: shell(person, done),
        url: &app.canonical_url(&site),
        slug_around: around.split_once('\u{0}').unwrap_or_default(),
        plan: &app.plan_of(account),
        restorable_until: app.restorable_until(&site),
        restore_seconds: app.settings().retention.restore,
        max_upload_bytes: state.resolved.config.limits.upload_bytes,
        versions: versions
            .into_iter()
            .map(|row| VersionRow {
                has_older: row.version > oldest,
                made_by: row.maker.map(|maker| (maker.kind.label(), maker.name)),
                version: row.version,
                title: row.title,
                byte_size: row.byte_size,
                file_count: row.file_count,
                restored_from: row.restored_from,
                created_at: row.created_at,
            })
            .collect(),
        links: links.into_iter().map(|own| ShareLinkRow { token: own.token, url: own.url }).collect(),
        domains: domains.iter().map(|view| domains::row(view, None)).collect(),
        feedback,
        open_feedback,
        notes,
        attempt,
        now: app.now(),
        site: &site,
    });
    // The form redirects to the page's own host; some browsers request the shared address first.
    let targets = app.page_origins(&site).join(" ");
    Ok(page_with_status(status, html, Some(&targets)))
}

/// The comments that the page shows; the others are on a page of their own.
fn newest_comments() -> FeedbackQuery {
    let filter = FeedbackFilter { state: StateFilter::Open, ..FeedbackFilter::default() };
    FeedbackQuery { limit: Some(3), filter, ..FeedbackQuery::default() }
}

/// Redirects to the page, which shows the confirmation in the section of the form.
pub(super) fn done(id: &str, done: Done) -> Response {
    see_other(&done.address(&format!("/dashboard/pages/{id}")))
}

/// A submitted form: its name, the field that shows errors which name none, and the values sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'a> {
    pub form: &'static str,
    pub field: Option<&'static str>,
    pub fields: &'a Fields,
}

/// Ends a form on its page, with a confirmation, warnings or the error.
pub(super) async fn settle(
    state: &ApiState,
    person: &Person,
    id: &str,
    sent: Sent<'_>,
    outcome: Result<UpdatedSite, Error>,
    word: Done,
) -> Result<Response, WebError> {
    match outcome {
        Ok(updated) if updated.warnings.is_empty() => Ok(done(&updated.site.id, word)),
        Ok(updated) => {
            show(state, person, id, Some(word), StatusCode::OK, Attempt::default(), updated.warnings).await
        }
        Err(error) => refuse(state, person, id, sent, error).await,
    }
}

/// Shows the page again with the error. Server errors are returned unchanged.
pub(super) async fn refuse(
    state: &ApiState,
    person: &Person,
    id: &str,
    sent: Sent<'_>,
    error: Error,
) -> Result<Response, WebError> {
    let code = status(error.code);
    if code.is_server_error() {
        return Err(error.into());
    }
    let error = &error;
    let attempt = match (error.code, sent.field) {
        // Changed values are shown as they are now, not as they were typed.
        (Code::Conflict, _) => {
            let mut attempt = refused("page", error, Vec::new());
            if let Attempt(Some(refused)) = &mut attempt {
                refused.field = "";
            }
            attempt
        }
        (Code::NotFound, _) => refused("page", error, Vec::new()),
        // The setting would make refused content visible again.
        (Code::PhishingBlocked | Code::ContentBlocked | Code::SecretsFound, None) => {
            refused_at("page", "", error, sent.fields)
        }
        (_, Some(field)) => refused_at(sent.form, field, error, sent.fields),
        (_, None) => refused(sent.form, error, sent.fields.typed()),
    };
    show(state, person, id, None, code, attempt, Vec::new()).await
}

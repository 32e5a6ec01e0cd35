//! Serves `/dashboard/domains/{hostname}`: one domain with its DNS records and state, and the forms that change it.

use super::domains::{HERE, address, certificate, choices, page_of, plan};
use super::problem::refused_at;
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{
    Fields, Person, Query, RemovalForm, SignedForm, WebError, page, page_with_status, see_other,
};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::{DomainChange, DomainView};
use dropleaf_core::{Error, Result};
use dropleaf_pages::Html;
use dropleaf_pages::dashboard::{Attempt, DomainPage, Done, Section, domain as render};

pub(super) async fn read(
    State(state): State<ApiState>,
    Path(hostname): Path<String>,
    person: Person,
    query: Query,
) -> Result<Response, WebError> {
    let view = state.app.get_domain(&person.account, &hostname).await?;
    // The script of the page takes only the state from the response, so the rest is not looked up.
    let extent = if query.find("live").is_some() { Extent::State } else { Extent::Page };
    let html = compose(&state, &person, &view, query.done(), extent, Attempt::default()).await?;
    Ok(page(html))
}

/// What a response is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Page,
    State,
}

pub(super) async fn check(
    State(state): State<ApiState>,
    Path(hostname): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let outcome = state.app.verify_domain(&person.account, &hostname).await;
    settle(&state, &person, &hostname, ("check", &fields), outcome, Done::DomainChecked).await
}

pub(super) async fn move_to(
    State(state): State<ApiState>,
    Path(hostname): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let change = DomainChange { site: Some(fields.text("site").to_owned()), primary: None };
    let outcome = state.app.change_domain(&person.account, &hostname, change).await;
    settle(&state, &person, &hostname, ("move", &fields), outcome, Done::DomainMoved).await
}

pub(super) async fn primary(
    State(state): State<ApiState>,
    Path(hostname): Path<String>,
    SignedForm { person, fields }: SignedForm,
) -> Result<Response, WebError> {
    let is_primary = fields.text("primary") == "yes";
    let change = DomainChange { site: None, primary: Some(is_primary) };
    let outcome = state.app.change_domain(&person.account, &hostname, change).await;
    let done = if is_primary { Done::DomainPrimary } else { Done::DomainNotPrimary };
    settle(&state, &person, &hostname, ("primary", &fields), outcome, done).await
}

pub(super) async fn delete(
    State(state): State<ApiState>,
    Path(hostname): Path<String>,
    RemovalForm { person, fields }: RemovalForm,
) -> Result<Response, WebError> {
    match state.app.delete_domain(&person.account, &hostname).await {
        Ok(()) => Ok(see_other(&Done::DomainDeleted.address(HERE))),
        Err(error) => refuse(&state, &person, &hostname, ("delete", &fields), error).await,
    }
}

/// Ends a form on the page of the domain, with a confirmation or the error.
async fn settle(
    state: &ApiState,
    person: &Person,
    hostname: &str,
    sent: (&'static str, &Fields),
    outcome: Result<DomainView>,
    done: Done,
) -> Result<Response, WebError> {
    match outcome {
        Ok(view) => Ok(see_other(&done.address(&address(view.domain.hostname.as_str())))),
        Err(error) => refuse(state, person, hostname, sent, error).await,
    }
}

/// Shows the page again with the error. If the domain itself is not there, that is the response.
async fn refuse(
    state: &ApiState,
    person: &Person,
    hostname: &str,
    (form, fields): (&'static str, &Fields),
    error: Error,
) -> Result<Response, WebError> {
    let status = error::status(error.code);
    if status.is_server_error() {
        return Err(error.into());
    }
    let view = state.app.get_domain(&person.account, hostname).await?;
    let field = if form == "move" { "site" } else { "" };
    let attempt = refused_at(form, field, &error, fields);
    let html = compose(state, person, &view, None, Extent::Page, attempt).await?;
    Ok(page_with_status(status, html, None))
}

async fn compose(
    state: &ApiState,
    person: &Person,
    view: &DomainView,
    done: Option<Done>,
    extent: Extent,
    attempt: Attempt,
) -> Result<Html> {
    let account = state.app.get_account(&person.account.id).await?;
    let site_id = &view.domain.site_id;
    let (mut pages, mut addresses) = (Vec::new(), Vec::new());
    if extent == Extent::Page {
        pages = choices(state, &account, site_id).await?;
        addresses = state.app.find_server_addresses(view).await;
    }
    let shown = page_of(state, &account, &pages, site_id).await?;
    let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    Ok(render(&DomainPage {
        shell: person.shell(Section::Domains, done),
        domain: &view.domain,
        url: &view.url,
        records: &view.records,
        zone: view.domain.hostname.registered_domain(),
        addresses: &addresses,
        site_host: &state.app.hosts.site_host,
        certificate: certificate(&view.certificate),
        page: shown.as_ref(),
        pages: &pages,
        plan: plan(state, &account),
        attempt,
    }))
}

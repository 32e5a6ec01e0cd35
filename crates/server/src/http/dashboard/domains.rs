//! Serves `/dashboard/domains`: the custom domains of the account, and the form that adds one.

use super::problem::refused;
use super::{billing, domain};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Person, Query, SignedForm, WebError, page_with_status, see_other};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_app::{CertificateView, DomainView, IdempotentResult, ListQuery, NewDomain};
use dropleaf_core::account::Account;
use dropleaf_core::site::State as SiteState;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pages::Moment;
use dropleaf_pages::dashboard::{
    Attempt, CertificateRow, DomainOffer, DomainPlan, DomainRow, DomainsPage, Done, PageChoice, Section,
    domains as render,
};
use http::StatusCode;

pub(super) const HERE: &str = "/dashboard/domains";
/// The form offers this many pages, the newest. Others can be chosen from their own page, or with the API.
const CHOICES: i64 = 100;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route(HERE, get(list).post(add))
        .route("/dashboard/domains/{hostname}", get(domain::read))
        .route("/dashboard/domains/{hostname}/check", post(domain::check))
        .route("/dashboard/domains/{hostname}/page", post(domain::move_to))
        .route("/dashboard/domains/{hostname}/primary", post(domain::primary))
        .route("/dashboard/domains/{hostname}/delete", post(domain::delete))
}

async fn list(State(state): State<ApiState>, person: Person, query: Query) -> Result<Response, WebError> {
    let selected = query.text("page");
    show(&state, &person, query.done(), StatusCode::OK, selected, Attempt::default()).await
}

async fn add(State(state): State<ApiState>, form: SignedForm) -> Result<Response, WebError> {
    let SignedForm { person, fields } = form;
    let site = fields.text("site");
    let new_domain = NewDomain {
        hostname: fields.text("hostname").to_owned(),
        site: site.to_owned(),
        primary: fields.is_checked("primary"),
    };
    match state.app.add_domain(&person.account, new_domain, None, |_| Vec::new()).await {
        Ok(IdempotentResult::New(added)) => {
            Ok(see_other(&Done::DomainAdded.address(&address(added.domain.hostname.as_str()))))
        }
        Ok(IdempotentResult::Replayed { .. }) => Err(Error::plain(Code::Internal).into()),
        Err(error) => {
            let status = error::status(error.code);
            if status.is_server_error() {
                return Err(error.into());
            }
            let attempt = refused("add", &error, fields.typed());
            show(&state, &person, None, status, site, attempt).await
        }
    }
}

/// The page of a domain. Host names need no escaping in a path.
pub(super) fn address(hostname: &str) -> String {
    format!("{HERE}/{hostname}")
}

async fn show(
    state: &ApiState,
    person: &Person,
    done: Option<Done>,
    status: StatusCode,
    selected: &str,
    attempt: Attempt,
) -> Result<Response, WebError> {
    let account = state.app.get_account(&person.account.id).await?;
    let all = state.app.list_domains(&account).await?;
    let pages = choices(state, &account, selected).await?;
    let mut shown = Vec::new();
    for view in &all {
        shown.push(page_of(state, &account, &pages, &view.domain.site_id).await?);
    }
    let plan = plan(state, &account);
    let html = render(&DomainsPage {
        shell: person.shell(Section::Domains, done),
        domains: all.iter().zip(&shown).map(|(view, page)| row(view, page.as_ref())).collect(),
        plan,
        plan_name: &state.app.plan_of(&account).name,
        pages: &pages,
        selected,
        attempt,
    });
    Ok(page_with_status(status, html, None))
}

/// The domains that show a page.
pub(super) async fn of_page(state: &ApiState, account: &Account, site_id: &str) -> Result<Vec<DomainView>> {
    let mut all = state.app.list_domains(account).await?;
    all.retain(|view| view.domain.site_id == site_id);
    Ok(all)
}

pub(super) fn row<'a>(view: &'a DomainView, page: Option<&'a PageChoice>) -> DomainRow<'a> {
    DomainRow { domain: &view.domain, certificate: certificate(&view.certificate), page }
}

pub(super) fn certificate(view: &CertificateView) -> CertificateRow<'_> {
    CertificateRow {
        state: view.state,
        expires: view.expires_at.map(Moment),
        problem: view.last_error.as_deref(),
    }
}

/// The pages that a domain can show: the newest live ones, and the selected one.
pub(super) async fn choices(state: &ApiState, account: &Account, selected: &str) -> Result<Vec<PageChoice>> {
    let query = ListQuery { state: SiteState::Live, limit: CHOICES, ..ListQuery::default() };
    let sites = state.app.list_sites(account, query).await?.sites;
    let mut pages: Vec<_> =
        sites.into_iter().map(|site| PageChoice { id: site.id, title: site.title }).collect();
    if !selected.is_empty() && pages.iter().all(|page| page.id != selected) {
        match state.app.get_own_site(account, selected).await {
            Ok(site) if site.state == SiteState::Live => {
                pages.insert(0, PageChoice { id: site.id, title: site.title });
            }
            Ok(_) => {}
            Err(error) if error.code == Code::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(pages)
}

/// The page of this ID, also if it has ended; `None` if it is erased.
pub(super) async fn page_of(
    state: &ApiState,
    account: &Account,
    pages: &[PageChoice],
    id: &str,
) -> Result<Option<PageChoice>> {
    if let Some(known) = pages.iter().find(|page| page.id == id) {
        return Ok(Some(known.clone()));
    }
    match state.app.get_own_site(account, id).await {
        Ok(site) => Ok(Some(PageChoice { id: site.id, title: site.title })),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the account can have custom domains, and otherwise what is on sale.
pub(super) fn plan(state: &ApiState, account: &Account) -> DomainPlan {
    if state.app.plan_of(account).custom_domains {
        return DomainPlan::Included;
    }
    if state.app.require_payments().is_err() {
        return DomainPlan::Excluded;
    }
    billing::offer(state, account, Sku::CustomDomain).map_or(DomainPlan::Excluded, |unlock| {
        DomainPlan::ForSale(DomainOffer {
            unlock,
            balance_minor: state.app.spendable_balance(account),
            accepts_cards: state.app.accepts_cards(),
        })
    })
}

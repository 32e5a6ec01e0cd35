//! The operator's pages: figures, accounts, reports, appeals, payments. For everyone else these addresses are 404.

mod accounts;
mod appeals;
mod audit;
mod cases;
mod certificates;
mod health;
mod health_runs;
mod overview;
mod payments;
mod reports;
mod revenue;
mod safe_preview;

pub(super) use health_runs::HealthRuns;

use super::web::{Fields, Person, SignedForm, WebError};
use crate::http::state::ApiState;
use axum::Router;
use axum::extract::{FromRequest, Request};
use axum::routing::{any, get, post};
use dropleaf_core::{Code, Error};

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/operator", get(overview::show))
        .route("/operator/takedown", post(overview::take_down))
        .route("/operator/accounts", get(accounts::list))
        .route("/operator/accounts/{id}/plan", post(accounts::set_plan))
        .route("/operator/accounts/{id}/suspend", post(accounts::suspend))
        .route("/operator/accounts/{id}/lift", post(accounts::lift))
        .route("/operator/appeals", get(appeals::list))
        .route("/operator/appeals/uphold", post(appeals::uphold_marked))
        .route("/operator/appeals/{id}", get(appeals::show))
        .route("/operator/appeals/{id}/allow", post(appeals::allow))
        .route("/operator/appeals/{id}/uphold", post(appeals::uphold))
        .route("/operator/appeals/{id}/disallow", post(appeals::disallow))
        .route("/operator/audit", get(audit::list))
        .route("/operator/certificates", get(certificates::list))
        .route("/operator/certificates/renew", post(certificates::renew))
        .route("/operator/health", get(health::show))
        .route("/operator/health/run", post(health::run))
        .route("/operator/pages/{id}", get(cases::show))
        .route("/operator/pages/{id}/takedown", post(cases::take_down))
        .route("/operator/pages/{id}/dismiss", post(cases::dismiss))
        .route("/operator/pages/{id}/suspend", post(cases::suspend))
        .route("/operator/pages/{id}/evidence", post(cases::open_evidence))
        .route("/operator/pages/{id}/erase", post(cases::erase_evidence))
        .route("/operator/pages/{id}/forget", post(cases::forget))
        .route("/operator/pages/{id}/lift", post(cases::lift))
        .route("/operator/payments", get(payments::list))
        .route("/operator/payments/revenue.csv", get(revenue::download))
        .route("/operator/payments/{id}", get(payments::show))
        .route("/operator/payments/{id}/ask", post(payments::ask))
        .route("/operator/payments/{id}/resolve", post(payments::resolve))
        .route("/operator/reports", get(reports::list))
        .route("/operator/reports/{id}/takedown", post(reports::take_down))
        .route("/operator/reports/{id}/dismiss", post(reports::dismiss))
        .route("/operator/{*rest}", any(nowhere))
}

/// The 404 for unknown addresses, the same for operators and everyone else.
async fn nowhere(_: Person) -> WebError {
    Error::plain(Code::NotFound).into()
}

/// A form sent by an operator who signed in recently: these actions are permanent or affect others.
#[derive(Debug)]
struct OperatorForm {
    person: Person,
    fields: Fields,
}

impl FromRequest<ApiState> for OperatorForm {
    type Rejection = WebError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, WebError> {
        let back = page_of(request.uri().path());
        let SignedForm { person, fields } = SignedForm::from_request(request, state).await?;
        if !person.account.is_operator {
            return Err(Error::plain(Code::NotFound).into());
        }
        person.require_recent(state, &back)?;
        Ok(Self { person, fields })
    }
}

/// The page that contains the form posted to this path.
fn page_of(path: &str) -> String {
    // Cases and appeals have their own page; other forms are on the list page.
    if ["/operator/pages/", "/operator/appeals/"].iter().any(|of| path.starts_with(of))
        && let Some((page, _)) = path.rsplit_once('/')
    {
        return page.to_owned();
    }
    let all = [
        "/operator/accounts",
        "/operator/certificates",
        "/operator/health",
        "/operator/payments",
        "/operator/reports",
    ];
    all.into_iter().find(|page| path.starts_with(page)).unwrap_or("/operator").to_owned()
}

/// The operator's name in the audit log.
fn actor(person: &Person) -> &str {
    person.account.email.as_deref().unwrap_or(&person.account.id)
}

//! What the operator sees: figures, accounts, reports, money. To anybody else the addresses do not exist.

mod accounts;
mod appeals;
mod audit;
mod cases;
mod overview;
mod payments;
mod reports;

use super::api::ApiState;
use super::web::{Fields, Person, SignedForm, WebError};
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
        .route("/operator/pages/{id}", get(cases::show))
        .route("/operator/pages/{id}/takedown", post(cases::take_down))
        .route("/operator/pages/{id}/dismiss", post(cases::dismiss))
        .route("/operator/pages/{id}/suspend", post(cases::suspend))
        .route("/operator/pages/{id}/evidence", post(cases::open_evidence))
        .route("/operator/pages/{id}/erase", post(cases::erase_evidence))
        .route("/operator/pages/{id}/forget", post(cases::forget))
        .route("/operator/pages/{id}/lift", post(cases::lift))
        .route("/operator/payments", get(payments::list))
        .route("/operator/payments/{id}", get(payments::show))
        .route("/operator/payments/{id}/ask", post(payments::ask))
        .route("/operator/payments/{id}/resolve", post(payments::resolve))
        .route("/operator/reports", get(reports::list))
        .route("/operator/reports/{id}/takedown", post(reports::take_down))
        .route("/operator/reports/{id}/dismiss", post(reports::dismiss))
        .route("/operator/{*rest}", any(nowhere))
}

/// An address that leads nowhere, for operators as for anybody else.
async fn nowhere(_: Person) -> WebError {
    Error::plain(Code::NotFound).into()
}

/// A form sent by an operator who proved not long ago who they are: what these forms do is done for good, or to others.
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

/// The page that holds the form which is sent there.
fn page_of(path: &str) -> String {
    // A case and an appeal have forms of their own; of the lists, the list is the page.
    if ["/operator/pages/", "/operator/appeals/"].iter().any(|of| path.starts_with(of))
        && let Some((page, _)) = path.rsplit_once('/')
    {
        return page.to_owned();
    }
    let all = ["/operator/accounts", "/operator/payments", "/operator/reports"];
    all.into_iter().find(|page| path.starts_with(page)).unwrap_or("/operator").to_owned()
}

/// How the audit list names an operator.
fn actor(person: &Person) -> &str {
    person.account.email.as_deref().unwrap_or(&person.account.id)
}

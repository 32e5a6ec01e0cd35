//! Serves `/operator/payments`: income, revenue by month, undecided payments, and a page to decide one payment.

use super::{OperatorForm, actor};
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Operator, Person, Query, WebError, page, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::{BookLine, PaymentFilter, Resolution};
use dropleaf_core::Code;
use dropleaf_core::ledger::Unit;
use dropleaf_core::rail::Rail;
use dropleaf_pages::Html;
use dropleaf_pages::dashboard::{Done, Section};
use dropleaf_pages::operator::payments::{
    self as pages, LedgerAccount, PaymentDecisionForm, PaymentPage, PaymentsPage,
};
use dropleaf_pages::operator::revenue::{RefusedMonths, RevenueSection};
use dropleaf_pay::Network;

/// Latest payments shown, whatever their state.
const LATEST: i64 = 20;

pub(super) async fn list(
    State(state): State<ApiState>,
    Operator(person): Operator,
    query: Query,
) -> Result<Response, WebError> {
    let rail = query.find("rail").and_then(Rail::parse);
    Ok(page(listed(&state, &person, ListView { done: query.done(), rail, refused: None }).await?))
}

/// What the list page shows besides the payments.
#[derive(Debug, Default)]
pub(super) struct ListView<'a> {
    pub(super) done: Option<Done>,
    /// Only the latest payments on this rail.
    pub(super) rail: Option<Rail>,
    /// What is wrong in the form for the revenue report.
    pub(super) refused: Option<RefusedMonths<'a>>,
}

pub(super) async fn listed(state: &ApiState, person: &Person, view: ListView<'_>) -> Result<Html, WebError> {
    let ListView { done, rail, refused } = view;
    let held = state.app.payment_overview().await?;
    let latest = state.app.list_all_payments(PaymentFilter { state: None, rail }, LATEST).await?;
    let revenue = state.app.revenue_report(None, None).await?;
    let ledger: Vec<_> = held.books.iter().map(ledger_account).collect();
    let (by_network, by_item) = pages::income_rows(&ledger, network_name);
    Ok(pages::payments(&PaymentsPage {
        shell: person.shell(Section::Operator, done),
        by_network,
        by_item,
        prepaid: Unit::Usd2.written(held.prepaid_minor),
        granted: Unit::Usd2.written(pages::total_granted(&ledger)),
        revenue: RevenueSection::new(&revenue, refused),
        open: &held.open,
        is_cut: held.is_cut,
        latest: &latest,
        rail,
        network_name,
        now: state.app.now(),
        is_recent: person.session.is_recent(state.app.now()),
    }))
}

pub(super) async fn show(
    State(state): State<ApiState>,
    Operator(person): Operator,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, WebError> {
    Ok(page(shown(&state, &person, &id, query.done(), PaymentDecisionForm::default()).await?))
}

pub(super) async fn resolve(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    let (transaction, reason) = (form.fields.text("transaction"), form.fields.text("reason"));
    let (resolution, done) = match form.fields.text("outcome") {
        "settled" => (Resolution::Settled { transaction: transaction.to_owned() }, Done::PaymentSettled),
        "refunded" => (Resolution::Refunded { reason: reason.to_owned() }, Done::PaymentRefunded),
        _ => (Resolution::NotSettled { reason: reason.to_owned() }, Done::PaymentRefused),
    };
    match state.app.resolve_payment(actor(&form.person), &id, resolution).await {
        Ok(payment) => {
            let done = if payment.has_lost_content() { Done::PaymentSettledBare } else { done };
            Ok(see_other(&format!("/operator/payments/{}?done={}", payment.id, done.word())))
        }
        Err(refused) if matches!(refused.code, Code::InvalidField | Code::Conflict) => {
            let problem = match (refused.code, done) {
                (Code::InvalidField, Done::PaymentSettled) => {
                    "This is not a valid transaction hash or payment ID. Copy it from the blockchain, or from the dashboard of the \
                     card processor."
                }
                (Code::InvalidField, _) => "Enter an explanation of at most 500 characters.",
                _ => refused.detail.as_str(),
            };
            let typed = PaymentDecisionForm { transaction, reason, problem: Some(problem) };
            let html = shown(&state, &form.person, &id, None, typed).await?;
            Ok(page_with_status(error::status(refused.code), html, None))
        }
        Err(error) => Err(error.into()),
    }
}

/// Queries the chain and the facilitator, or the card processor, now, instead of at the next scheduled check.
pub(super) async fn ask(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    form: OperatorForm,
) -> Result<Response, WebError> {
    match state.app.check_payment_now(&id).await {
        Ok(payment) => {
            let done = Done::PaymentAsked.word();
            Ok(see_other(&format!("/operator/payments/{}?done={done}", payment.id)))
        }
        Err(refused) if refused.code == Code::Conflict => {
            let typed = PaymentDecisionForm {
                problem: Some(refused.detail.as_str()),
                ..PaymentDecisionForm::default()
            };
            let html = shown(&state, &form.person, &id, None, typed).await?;
            Ok(page_with_status(error::status(refused.code), html, None))
        }
        Err(error) => Err(error.into()),
    }
}

async fn shown(
    state: &ApiState,
    person: &Person,
    id: &str,
    done: Option<Done>,
    typed: PaymentDecisionForm<'_>,
) -> Result<Html, WebError> {
    let payment = state.app.get_any_payment(id).await?;
    let now = state.app.now();
    Ok(pages::payment(&PaymentPage {
        shell: person.shell(Section::Operator, done),
        payment: &payment,
        network_name,
        now,
        form: typed,
        is_recent: person.session.is_recent(now),
    }))
}

fn ledger_account(line: &BookLine) -> LedgerAccount<'_> {
    LedgerAccount { id: &line.id, unit: line.unit, kind: line.kind, balance: line.balance, since: line.since }
}

/// The name of a network in version 1 of x402, such as `base` for `eip155:8453`.
fn network_name(network: &str) -> Option<&'static str> {
    Network::parse(network).and_then(Network::v1_name)
}

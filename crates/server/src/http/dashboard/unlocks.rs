//! Serves `/dashboard/billing/unlocks/{sku}`: buys an unlock from the balance after asking, or leads to a page that takes a card.

use super::billing;
use crate::http::error;
use crate::http::state::ApiState;
use crate::http::web::{Person, SignedForm, WebError, page, page_with_status, see_other};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use dropleaf_core::ledger::Unit;
use dropleaf_core::pay_session::Feature;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error};
use dropleaf_pages::Html;
use dropleaf_pages::dashboard::{
    BillingProblem, Section, UnlockOffer, UnlockPage, UnlockState, unlock as render,
};
use http::request::Parts;

pub(super) fn routes() -> Router<ApiState> {
    Router::new()
        .route("/dashboard/billing/unlocks/{sku}", get(ask).post(buy))
        .route("/dashboard/billing/unlocks/{sku}/card", post(by_card))
}

/// An unlock that can be bought, with what the account can spend.
struct Choice {
    offer: UnlockOffer,
    balance_minor: i64,
}

/// Asks whether to buy it from the balance.
async fn ask(
    State(state): State<ApiState>,
    Path(sku): Path<String>,
    person: Person,
) -> Result<Response, WebError> {
    let choice = choose(&state, &person, &sku).await?;
    // Nothing to ask: the page says what else can be done.
    if choice.offer.state == UnlockState::Permanent || choice.balance_minor < choice.offer.price_minor {
        return Ok(see_other(billing::HERE));
    }
    Ok(page(question(&state, &person, &choice, None)?))
}

async fn buy(
    State(state): State<ApiState>,
    Path(sku): Path<String>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let SignedForm { person, fields } = form;
    let choice = choose(&state, &person, &sku).await?;
    let (sku, price) = (choice.offer.sku, choice.offer.price_minor);
    if fields.text("price") != price.to_string() {
        let problem = "The price has changed since you opened this page. Nothing was charged.";
        let html = question(&state, &person, &choice, Some(problem))?;
        return Ok(page_with_status(error::status(Code::Conflict), html, None));
    }
    match state.app.unlock_from_form(&person.account, sku, fields.text("purchase")).await {
        Ok(true) => Ok(see_other(&billing::bought_address(Feature::Unlock(sku)))),
        Ok(false) => {
            let message =
                format!("Your balance does not cover {}. Nothing was charged.", Unit::Usd2.written(price));
            refuse(&state, &person, Code::PaymentRequired, sku, &message).await
        }
        Err(error) if error.code == Code::Conflict => {
            refuse(&state, &person, error.code, sku, IN_PROGRESS).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Creates a link at which the person pays for it by card.
async fn by_card(
    State(state): State<ApiState>,
    Path(sku): Path<String>,
    parts: Parts,
    form: SignedForm,
) -> Result<Response, WebError> {
    let sku = choose(&state, &form.person, &sku).await?.offer.sku;
    match billing::pay_by_card(&state, &parts, &form.person, Feature::Unlock(sku), None).await {
        Err(error) if error.code == Code::Conflict => {
            refuse(&state, &form.person, error.code, sku, IN_PROGRESS).await
        }
        Err(error) if error.code == Code::RailNotLive => {
            refuse(&state, &form.person, error.code, sku, billing::NO_CARDS).await
        }
        result => Ok(result?),
    }
}

const IN_PROGRESS: &str =
    "You already have this unlock, or another payment for it is in progress. Nothing was charged.";

/// The unlock of this name; 404 if it is not on sale here.
async fn choose(state: &ApiState, person: &Person, sku: &str) -> Result<Choice, Error> {
    state.app.require_payments()?;
    let sku = Sku::parse(sku).ok_or_else(|| Error::plain(Code::NotFound))?;
    let account = state.app.get_account(&person.account.id).await?;
    let offer = billing::offer(state, &account, sku).ok_or_else(|| Error::plain(Code::NotFound))?;
    Ok(Choice { offer, balance_minor: state.app.spendable_balance(&account) })
}

async fn refuse(
    state: &ApiState,
    person: &Person,
    code: Code,
    sku: Sku,
    message: &str,
) -> Result<Response, WebError> {
    billing::refuse(state, person, code, BillingProblem::Unlock { sku, message }).await
}

fn question(
    state: &ApiState,
    person: &Person,
    choice: &Choice,
    problem: Option<&str>,
) -> Result<Html, Error> {
    let sandbox = state.app.require_payments()?.is_sandbox();
    let form_id = state.app.new_form_id();
    let Choice { offer, balance_minor } = *choice;
    Ok(render(
        person.shell(Section::Account, None),
        &UnlockPage { offer, balance_minor, sandbox, form_id: &form_id, problem },
    ))
}

//! Serves `/pay/sandbox/{checkout}`: the card form of the embedded sandbox, which stands for the processor's own page. It exists
//! only in sandbox mode.

use super::page::unknown;
use crate::http::state::ApiState;
use crate::http::web::{Fields, LinkForm, WebError, page_with_status, see_other};
use axum::extract::{Path, State};
use axum::response::Response;
use dropleaf_app::SandboxProcessor;
use dropleaf_core::{Code, Error};
use dropleaf_pages::pay::{self as pages, CardAuthentication, CardForm, CardProblem, TestCardRow, TypedCard};
use dropleaf_pay::stripe::CheckoutStatus;
use dropleaf_pay::stripe::sandbox::{Authentication, CardDetails, CheckoutForm, FormOutcome, TEST_CARDS};
use http::StatusCode;
use std::sync::Arc;

pub(super) async fn read(
    State(state): State<ApiState>,
    Path(checkout): Path<String>,
) -> Result<Response, WebError> {
    let form = find(&state, &checkout).await?;
    match form.status {
        CheckoutStatus::Open => Ok(show(&state, &checkout, &form, TypedCard::default(), None)),
        // The pay page says what became of it.
        CheckoutStatus::Complete => Ok(see_other(&form.return_url)),
        CheckoutStatus::Expired => leave(&form),
    }
}

/// Pays with the card that was typed.
pub(super) async fn submit(
    State(state): State<ApiState>,
    Path(checkout): Path<String>,
    LinkForm { fields, ip }: LinkForm,
) -> Result<Response, WebError> {
    state.app.take_paid_attempt(ip).await?;
    let form = find(&state, &checkout).await?;
    let typed = typed(&fields);
    let card = CardDetails { number: typed.number, expiry: typed.expiry, cvc: typed.cvc };
    let authentication = match fields.text("authentication") {
        "approved" => Some(Authentication::Approved),
        "failed" => Some(Authentication::Failed),
        _ => None,
    };
    let (outcome, events) = sandbox(&state)?.submit(&checkout, card, authentication).await?;
    state.app.receive_sandbox_events(&events).await?;
    let path = path(&checkout);
    Ok(match outcome {
        FormOutcome::Paid { return_url } | FormOutcome::Processing { return_url } => see_other(&return_url),
        FormOutcome::AlreadyComplete => see_other(&form.return_url),
        FormOutcome::Expired => return leave(&form),
        FormOutcome::Declined { code, message } | FormOutcome::InvalidCard { code, message } => {
            show(&state, &checkout, &form, typed, Some(CardProblem::new(code, message)))
        }
        FormOutcome::AuthenticationRequired => page_with_status(
            StatusCode::OK,
            pages::card_authentication(&CardAuthentication {
                action: &path,
                product: &form.product,
                amount_cents: cents(&form),
                card: typed,
                cancel: form.cancel_url.as_deref(),
            }),
            None,
        ),
        FormOutcome::NotFound => return Err(unknown().into()),
        FormOutcome::Fault => return Err(Error::internal("sandbox object cannot be read").into()),
    })
}

fn sandbox(state: &ApiState) -> Result<&Arc<SandboxProcessor>, Error> {
    state.app.sandbox_processor().ok_or_else(unknown)
}

async fn find(state: &ApiState, checkout: &str) -> Result<CheckoutForm, Error> {
    sandbox(state)?.form(checkout).await?.ok_or_else(unknown)
}

/// Back to the pay page, which says that it expired.
fn leave(form: &CheckoutForm) -> Result<Response, WebError> {
    let back = form.cancel_url.as_deref();
    Ok(see_other(back.ok_or_else(|| Error::new(Code::Expired, "This payment form has expired."))?))
}

fn typed(fields: &Fields) -> TypedCard<'_> {
    TypedCard { number: fields.text("number"), expiry: fields.text("expiry"), cvc: fields.text("cvc") }
}

fn show(
    state: &ApiState,
    checkout: &str,
    form: &CheckoutForm,
    typed: TypedCard<'_>,
    problem: Option<CardProblem<'_>>,
) -> Response {
    let cards: Vec<TestCardRow<'_>> =
        TEST_CARDS.iter().map(|card| TestCardRow { number: card.number, purpose: card.purpose }).collect();
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let html = pages::card_form(&CardForm {
        action: &path(checkout),
        product: &form.product,
        amount_cents: cents(form),
        test_cards: &cards,
        typed,
        problem,
        cancel: form.cancel_url.as_deref(),
        now: state.app.now(),
    });
    page_with_status(status, html, None)
}

fn path(checkout: &str) -> String {
    format!("/pay/sandbox/{checkout}")
}

fn cents(form: &CheckoutForm) -> i64 {
    i64::try_from(form.price.minor_units).unwrap_or(i64::MAX)
}

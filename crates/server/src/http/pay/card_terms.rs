//! The 402 response where an item cannot be paid for with a wallet, but cards are accepted: how to pay by card, without terms of
//! x402 and without an MPP challenge.

use super::menu::RAILS;
use super::purchase::PaidCall;
use axum::Json;
use axum::response::{IntoResponse, Response};
use dropleaf_app::PayRefused;
use dropleaf_core::ledger::Unit;
use dropleaf_core::pay_session::{MOST_MINOR, PROVISION_MOST_MINOR, SMALLEST_MINOR};
use dropleaf_core::payment::Item;
use dropleaf_core::{Code, Result};
use http::{StatusCode, header};
use serde_json::{Value, json};

/// Why there is nothing to deliver.
#[derive(Debug)]
pub(super) enum PaymentProblem<'a> {
    /// It did not pay.
    Unpaid,
    /// It paid by a protocol that is not available.
    NotLive(&'a str),
    Refused(&'a PayRefused),
}

/// The response, or `None` if there are terms, or if cards do not help either.
pub(super) fn respond(call: &PaidCall<'_>, problem: &PaymentProblem<'_>) -> Result<Option<Response>> {
    let app = &call.state.app;
    let sold = app.require_payments()?;
    if app.listing(call.item).is_ok() || !app.accepts_cards() {
        return Ok(None);
    }
    let price = sold.prices.cents_of(call.item);
    let mut body = call.more.clone();
    let (code, sentence) = match problem {
        PaymentProblem::Unpaid => (Code::PaymentRequired, unpaid(call.item)),
        PaymentProblem::NotLive(sentence) => (Code::RailNotLive, *sentence),
        PaymentProblem::Refused(refused) => {
            body.insert("reason".to_owned(), refused.reason.as_str().into());
            (Code::PaymentRefused, refused.sentence.as_str())
        }
    };
    body.insert("error".to_owned(), code.as_str().into());
    // What the caller is told about its balance stays.
    let description = match call.more.get("error_description").and_then(Value::as_str) {
        Some(balance) => format!("{sentence} {balance}"),
        None => sentence.to_owned(),
    };
    body.insert("error_description".to_owned(), description.into());
    body.insert("price".to_owned(), Unit::Usd2.decimal(price).into());
    body.insert("amount_minor".to_owned(), price.into());
    body.insert("currency".to_owned(), "USD".into());
    body.insert("sandbox".to_owned(), sold.is_sandbox().into());
    body.insert(RAILS.to_owned(), json!(app.rails()));
    if let Some(session) = session_body(call, price)? {
        let url = format!("{}/pay/sessions", app.hosts.base.url());
        body.insert("pay".to_owned(), json!({ "method": "POST", "url": url, "body": session }));
    }
    let headers = [(header::CACHE_CONTROL, "no-store")];
    Ok(Some((StatusCode::PAYMENT_REQUIRED, headers, Json(Value::Object(body))).into_response()))
}

const fn unpaid(item: Item) -> &'static str {
    match item {
        Item::Publish => {
            "Payment is required. Only cards are accepted, and a page is paid from a prepaid balance: send the request with \
             an API key whose account has one. `pay` is the request for a link where a person buys that by card (POST \
             /pay/sessions). `rails` says which protocols are available."
        }
        Item::Provision | Item::Unlock(_) | Item::Topup => {
            "Payment is required. Only cards are accepted. `pay` is the request for a link where a person pays by card (POST \
             /pay/sessions). `rails` says which protocols are available."
        }
    }
}

/// The body for `POST /pay/sessions`. A page is bought with a key that has a balance, or with more balance for the key that was
/// sent. `None` if no key is sold.
fn session_body(call: &PaidCall<'_>, price: i64) -> Result<Option<Value>> {
    let missing = call.more.get("missing_minor").and_then(Value::as_i64);
    let app = &call.state.app;
    Ok(match (call.item, missing) {
        (Item::Publish, Some(missing)) => {
            Some(json!({ "feature": "topup", "amount_minor": missing.clamp(SMALLEST_MINOR, MOST_MINOR) }))
        }
        (Item::Publish, None) if app.check_provision_allowed().is_err() => None,
        (Item::Publish, None) => {
            let key = app.require_payments()?.prices.cents_of(Item::Provision);
            let amount = (key + price).max(SMALLEST_MINOR).min(PROVISION_MOST_MINOR.max(key));
            Some(json!({ "feature": "provision", "amount_minor": amount }))
        }
        (item, _) => Some(json!({ "feature": item.as_str() })),
    })
}

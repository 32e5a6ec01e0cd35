//! Answers to charges, and their outcomes.

use serde_json::{Value, json};

use super::*;

fn intent(changes: Value) -> Value {
    let mut intent = json!({
        "id": "pi_1", "object": "payment_intent", "status": "succeeded", "amount": 100, "amount_received": 100,
        "currency": "usd", "latest_charge": "ch_1", "metadata": { "feature": "provision", "request_id": "r1" },
        "last_payment_error": null, "livemode": false,
    });
    for (name, value) in crate::json::into_object(changes) {
        intent[name] = value;
    }
    intent
}

fn error(kind: &str, code: Option<&str>, more: Value) -> Value {
    let mut error = json!({ "type": kind, "code": code, "message": "No such token: spt_1, from 10.0.0.1" });
    for (name, value) in crate::json::into_object(more) {
        error[name] = value;
    }
    json!({ "error": error })
}

fn expected<'a>() -> ExpectedCharge<'a> {
    ExpectedCharge { price: Money::usd_cents(100), request_id: Some("r1"), intent: None }
}

fn read(status: u16, body: &Value) -> ChargeAnswer {
    read_charge(status, false, body.to_string().as_bytes(), &expected())
}

fn id(text: &str) -> ObjectId {
    ObjectId::parse(text).unwrap()
}

fn succeeded(charge: Option<&str>) -> ChargeAnswer {
    ChargeAnswer::Succeeded { intent: id("pi_1"), charge: charge.map(id), replayed: false }
}

fn declined(code: &str) -> ChargeAnswer {
    ChargeAnswer::Declined { code: code.to_owned() }
}

fn refused(code: Option<&str>) -> ChargeAnswer {
    ChargeAnswer::Refused { code: code.map(str::to_owned) }
}

fn mismatch(why: &'static str) -> ChargeAnswer {
    ChargeAnswer::Mismatch { intent: id("pi_1"), why }
}

#[test]
fn a_success_counts_only_if_everything_fits() {
    for (changes, answer) in [
        (json!({}), succeeded(Some("ch_1"))),
        (json!({ "latest_charge": { "id": "ch_2" } }), succeeded(Some("ch_2"))),
        (json!({ "latest_charge": null }), succeeded(None)),
        (json!({ "amount_received": 99 }), mismatch("the amount differs")),
        (json!({ "amount_received": 0 }), mismatch("the amount differs")),
        (json!({ "currency": "eur" }), mismatch("the currency differs")),
        (json!({ "metadata": { "request_id": "r2" } }), mismatch("it names another purchase")),
        (json!({ "metadata": {} }), mismatch("it names another purchase")),
        (json!({ "status": "processing" }), ChargeAnswer::Processing { intent: id("pi_1") }),
        (json!({ "status": "requires_action" }), ChargeAnswer::ActionRequired { intent: id("pi_1") }),
        (json!({ "status": "requires_payment_method" }), declined("unspecified")),
        (json!({ "status": "canceled" }), declined("canceled")),
        (json!({ "status": "requires_capture" }), ambiguous("the payment intent is in an unexpected state")),
        (
            json!({ "status": "requires_confirmation" }),
            ambiguous("the payment intent is in an unexpected state"),
        ),
        (json!({ "status": "something_new" }), ambiguous("the payment intent is in an unexpected state")),
        (json!({ "status": null }), ambiguous("the answer is not a payment intent")),
        (json!({ "object": "charge" }), ambiguous("the answer is not a payment intent")),
        (json!({ "id": "" }), ambiguous("the answer is not a payment intent")),
        (json!({ "id": "spt_1" }), ambiguous("the answer is not a payment intent")),
        (json!({ "amount_received": "100" }), ambiguous("the answer is not a payment intent")),
        (json!({ "amount_received": null }), ambiguous("the answer is not a payment intent")),
        (json!({ "currency": "US Dollar" }), ambiguous("the answer is not a payment intent")),
    ] {
        assert_eq!(read(200, &intent(changes.clone())), answer, "{changes}");
    }
}

#[test]
fn declines_and_refusals_are_clear_and_the_rest_is_ambiguous() {
    let card = |code, more| error("card_error", Some(code), more);
    let invalid = |code| error("invalid_request_error", code, json!({}));
    let busy = ambiguous("the processor is busy");
    let failed = ambiguous("the processor failed");
    let no_answer = ambiguous("the status is not an answer of the processor");
    let made = ambiguous("the decline names a payment that was made");
    for (status, body, answer) in [
        (
            402,
            card("card_declined", json!({ "decline_code": "insufficient_funds" })),
            declined("insufficient_funds"),
        ),
        (402, card("card_declined", json!({})), declined("card_declined")),
        (402, card("expired_card", json!({ "decline_code": null })), declined("expired_card")),
        (402, card("Your card was declined", json!({})), declined("unspecified")),
        (
            402,
            card("card_declined", json!({ "payment_intent": { "status": "requires_payment_method" } })),
            declined("card_declined"),
        ),
        (402, card("card_declined", json!({ "payment_intent": { "status": "succeeded" } })), made.clone()),
        (402, card("card_declined", json!({ "payment_intent": { "status": "processing" } })), made),
        (402, json!({}), no_answer.clone()),
        (400, invalid(Some("resource_missing")), refused(Some("resource_missing"))),
        (400, invalid(None), refused(None)),
        (404, invalid(Some("resource_missing")), refused(Some("resource_missing"))),
        (400, invalid(Some("parameter_unknown")), ChargeAnswer::Misconfigured),
        (400, error("idempotency_error", None, json!({})), ChargeAnswer::KeyReused),
        (400, error("api_error", None, json!({})), ambiguous("the error has an unexpected type")),
        (400, json!({ "error": "invalid_request" }), no_answer.clone()),
        (404, json!({ "message": "no route" }), no_answer.clone()),
        (401, invalid(None), ChargeAnswer::Misconfigured),
        (403, json!([]), ChargeAnswer::Misconfigured),
        (409, error("idempotency_error", None, json!({})), busy.clone()),
        (429, invalid(Some("rate_limit")), busy),
        (500, error("api_error", None, json!({})), failed.clone()),
        (502, json!({}), failed.clone()),
        (503, intent(json!({})), failed),
        (201, intent(json!({})), no_answer.clone()),
        (302, intent(json!({})), no_answer.clone()),
        (418, json!({}), no_answer.clone()),
        (0, json!({}), no_answer.clone()),
        (200, error("card_error", Some("card_declined"), json!({})), no_answer),
        (200, json!([]), ambiguous("the body is not a JSON object")),
    ] {
        assert_eq!(read(status, &body), answer, "{status} {body}");
    }
    for body in [&b""[..], b"<html>", b"{", b"\xff", br#"{"id":1,"id":2}"#] {
        assert_eq!(read_charge(200, false, body, &expected()), ambiguous("the body is not a JSON object"));
    }
    let long = intent(json!({ "padding": "x".repeat(300_000) }));
    assert_eq!(read(200, &long), ambiguous("the body is not a JSON object"));
}

#[test]
fn a_replay_is_marked_and_another_intent_is_not_accepted() {
    let body = intent(json!({})).to_string();
    let answer = read_charge(200, true, body.as_bytes(), &expected());
    assert!(matches!(answer, ChargeAnswer::Succeeded { replayed: true, .. }));
    let other = id("pi_2");
    let expected = ExpectedCharge { intent: Some(&other), ..expected() };
    let answer = read_charge(200, false, body.as_bytes(), &expected);
    assert_eq!(answer, ambiguous("the answer is another payment intent"));
}

#[test]
fn the_intent_of_a_checkout_holds_no_request_id() {
    let failed = json!({
        "status": "requires_payment_method", "metadata": {}, "amount_received": 0,
        "last_payment_error": { "code": "card_declined", "decline_code": "generic_decline" },
    });
    let expected = ExpectedCharge { request_id: None, ..expected() };
    let read = |body: Value| read_charge(200, false, body.to_string().as_bytes(), &expected);
    assert_eq!(read(intent(failed)), declined("generic_decline"));
    assert_eq!(read(intent(json!({ "metadata": {} }))), succeeded(Some("ch_1")));
}

#[test]
fn messages_of_the_processor_are_never_passed_on() {
    for status in [200, 400, 401, 402, 404, 429, 500] {
        let body = error("invalid_request_error", Some("No such token: spt_1"), json!({}));
        let shown = format!("{:?}", read(status, &body));
        assert!(!shown.contains("spt_1") && !shown.contains("10.0.0.1"), "{shown}");
    }
}

#[test]
fn a_refusal_is_the_tokens_fault_unless_its_code_names_another() {
    for code in [None, Some("resource_missing"), Some("shared_payment_token_expired")] {
        assert!(is_token_fault(code), "{code:?}");
    }
    for code in ["amount_too_small", "parameter_invalid_integer", "account_invalid"] {
        assert!(!is_token_fault(Some(code)), "{code}");
    }
}

//! Answers about checkout sessions, and what they mean for a purchase.

use serde_json::{Value, json};

use super::*;
use crate::stripe::Currency;

fn session(changes: Value) -> Value {
    let mut session = json!({
        "id": "cs_test_1", "object": "checkout.session", "url": "https://checkout.stripe.com/c/pay/cs_test_1#x",
        "status": "open", "payment_status": "unpaid", "amount_total": 600, "currency": "usd",
        "payment_intent": null, "client_reference_id": "pay_1", "expires_at": 1_767_227_460, "livemode": false,
        "metadata": { "feature": "provision" },
    });
    for (name, value) in crate::json::into_object(changes) {
        session[name] = value;
    }
    session
}

fn read(status: u16, body: &Value) -> Result<Checkout, ReadFault> {
    read_checkout(status, body.to_string().as_bytes())
}

#[test]
fn every_member_is_read() {
    let paid =
        json!({ "status": "complete", "payment_status": "paid", "url": null, "payment_intent": "pi_1" });
    let expected = Checkout {
        id: ObjectId::parse("cs_test_1").unwrap(),
        url: None,
        status: CheckoutStatus::Complete,
        payment_status: PaymentStatus::Paid,
        amount_total: Some(Money { minor_units: 600, currency: Currency::USD }),
        payment_intent: ObjectId::parse("pi_1"),
        client_reference_id: Some("pay_1".to_owned()),
        expires_at: 1_767_227_460,
        livemode: false,
    };
    assert_eq!(read(200, &session(paid)), Ok(expected));
    let open = read(200, &session(json!({}))).unwrap();
    assert_eq!(open.url.as_deref(), Some("https://checkout.stripe.com/c/pay/cs_test_1#x"));
}

#[test]
fn a_session_counts_as_paid_only_if_everything_fits() {
    let mismatch = CheckoutState::Mismatch;
    let paid = json!({ "status": "complete", "payment_status": "paid" });
    let paid_with = |name: &str, value: Value| {
        let mut changes = paid.clone();
        changes[name] = value;
        changes
    };
    for (changes, state) in [
        (json!({}), CheckoutState::Open),
        (json!({ "status": "expired" }), CheckoutState::Expired),
        (json!({ "status": "complete" }), CheckoutState::Processing),
        (paid.clone(), CheckoutState::Paid),
        (json!({ "status": "expired", "payment_status": "paid" }), CheckoutState::Paid),
        (paid_with("payment_status", json!("no_payment_required")), mismatch("it required no payment")),
        (paid_with("amount_total", json!(599)), mismatch("the amount differs")),
        (paid_with("amount_total", json!(601)), mismatch("the amount differs")),
        (paid_with("amount_total", json!(null)), mismatch("it names no amount")),
        (paid_with("amount_total", json!("600")), mismatch("it names no amount")),
        (paid_with("amount_total", json!(600.0)), mismatch("it names no amount")),
        (paid_with("amount_total", json!(-600)), mismatch("it names no amount")),
        (paid_with("currency", json!("eur")), mismatch("the currency differs")),
        (paid_with("currency", json!("USD")), mismatch("it names no amount")),
        (paid_with("currency", json!(null)), mismatch("it names no amount")),
        (paid_with("client_reference_id", json!("pay_2")), mismatch("it names another purchase")),
        (paid_with("client_reference_id", json!(null)), mismatch("it names another purchase")),
        (paid_with("id", json!("cs_test_2")), mismatch("it is another session")),
        (json!({ "amount_total": 1 }), mismatch("the amount differs")),
    ] {
        let id = ObjectId::parse("cs_test_1").unwrap();
        let expected = ExpectedCheckout { id: Some(&id), reference: "pay_1", price: Money::usd_cents(600) };
        let checkout = read(200, &session(changes.clone())).unwrap();
        assert_eq!(checkout.judge(&expected), state, "{changes}");
    }
    let created = read(200, &session(json!({ "id": "cs_test_2" }))).unwrap();
    let expected = ExpectedCheckout { id: None, reference: "pay_1", price: Money::usd_cents(600) };
    assert_eq!(created.judge(&expected), CheckoutState::Open);
}

#[test]
fn what_is_not_a_session_is_a_fault() {
    for changes in [
        json!({ "object": "payment_intent" }),
        json!({ "id": null }),
        json!({ "id": "cs/1" }),
        json!({ "status": null }),
        json!({ "status": "closed" }),
        json!({ "payment_status": "PAID" }),
        json!({ "expires_at": "soon" }),
        json!({ "livemode": null }),
    ] {
        let fault = read(200, &session(changes.clone())).unwrap_err();
        assert_eq!(fault, ReadFault::Unavailable("the answer is not a checkout session"), "{changes}");
    }
    for body in [&b""[..], b"<html>", b"{", b"[]", b"\xff", br#"{"id":"cs_1","id":"cs_2"}"#] {
        assert!(matches!(read_checkout(200, body), Err(ReadFault::Unavailable(_))));
    }
    let long = session(json!({ "padding": "x".repeat(answer::BODY_BYTES) }));
    assert!(matches!(read(200, &long), Err(ReadFault::Unavailable(_))));
}

#[test]
fn faults_are_told_apart_by_status() {
    let error = |code: &str| json!({ "error": { "type": "invalid_request_error", "code": code, "message": "spt_1" } });
    let refused = |code: Option<&str>| ReadFault::Refused { code: code.map(str::to_owned) };
    for (status, body, fault) in [
        (400, error("amount_too_small"), refused(Some("amount_too_small"))),
        (400, error("No such thing: spt_1"), refused(None)),
        (401, error("x"), ReadFault::Misconfigured),
        (403, json!([]), ReadFault::Misconfigured),
        (404, error("resource_missing"), ReadFault::NotFound),
        (404, json!({}), ReadFault::Unavailable("the status is not an answer of the processor")),
        (400, json!("text"), ReadFault::Unavailable("the status is not an answer of the processor")),
        (409, error("x"), ReadFault::Unavailable("the processor is busy")),
        (429, error("rate_limit"), ReadFault::Unavailable("the processor is busy")),
        (500, error("x"), ReadFault::Unavailable("the processor failed")),
        (503, session(json!({})), ReadFault::Unavailable("the processor failed")),
        (302, session(json!({})), ReadFault::Unavailable("the status is not an answer of the processor")),
        (201, session(json!({})), ReadFault::Unavailable("the status is not an answer of the processor")),
        (0, json!({}), ReadFault::Unavailable("the status is not an answer of the processor")),
    ] {
        assert_eq!(read(status, &body), Err(fault), "{status} {body}");
    }
}

#[test]
fn browsers_are_only_sent_to_web_addresses() {
    for url in ["javascript:alert(1)", "//x.test", "https://x.test/ y", "https://x.test/é", "ftp://x.test"] {
        assert_eq!(read(200, &session(json!({ "url": url }))).unwrap().url, None, "{url}");
    }
}

//! Events and what is read from them. The events of the sandbox are read in its own tests.

use serde_json::json;

use super::*;

fn event(kind: &str, object: &Value) -> Value {
    json!({
        "id": "evt_1", "object": "event", "api_version": "2026-07-29.preview", "created": 1_767_225_600,
        "data": { "object": object, "previous_attributes": {} }, "livemode": true, "pending_webhooks": 1,
        "request": { "id": "req_1", "idempotency_key": null }, "type": kind,
    })
}

fn parse(event: &Value) -> Result<Event, EventFault> {
    Event::parse(event.to_string().as_bytes())
}

#[test]
fn refunds_and_disputes_name_their_payment() {
    let charge = json!({
        "id": "ch_1", "object": "charge", "payment_intent": "pi_1", "amount_refunded": 250, "currency": "usd",
    });
    let refunded = parse(&event("charge.refunded", &charge)).unwrap();
    assert_eq!((refunded.id.as_str(), refunded.created, refunded.livemode), ("evt_1", 1_767_225_600, true));
    let expected = RefundedCharge {
        charge: ObjectId::parse("ch_1").unwrap(),
        payment_intent: ObjectId::parse("pi_1"),
        amount_refunded: Money::usd_cents(250),
    };
    assert_eq!(refunded.kind, EventKind::ChargeRefunded(expected));
    let failed = json!({ "id": "re_1", "object": "refund", "payment_intent": "pi_1", "status": "failed" });
    let expected =
        ChangedRefund { id: ObjectId::parse("re_1").unwrap(), payment_intent: ObjectId::parse("pi_1") };
    for name in ["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"] {
        let kind = parse(&event(name, &failed)).unwrap().kind;
        assert_eq!(kind, EventKind::RefundChanged(expected.clone()), "{name}");
    }
    let dispute = json!({
        "id": "du_1", "object": "dispute", "charge": "ch_1", "payment_intent": "pi_1", "amount": 600, "currency": "usd",
    });
    let expected = Dispute {
        id: ObjectId::parse("du_1").unwrap(),
        charge: ObjectId::parse("ch_1"),
        payment_intent: ObjectId::parse("pi_1"),
        amount: Money::usd_cents(600),
    };
    let kind = |name| parse(&event(name, &dispute)).unwrap().kind;
    assert_eq!(kind("charge.dispute.funds_withdrawn"), EventKind::DisputeFundsWithdrawn(expected.clone()));
    assert_eq!(kind("charge.dispute.funds_reinstated"), EventKind::DisputeFundsReinstated(expected));
    assert_eq!(kind("charge.dispute.created"), EventKind::Other);
}

#[test]
fn unknown_events_are_accepted_whatever_they_hold() {
    for name in
        ["customer.created", "checkout.session.something_new", "shared_payment.granted_token.used", ""]
    {
        assert_eq!(parse(&event(name, &json!({ "id": "x" }))).unwrap().kind, EventKind::Other, "{name}");
    }
}

#[test]
fn an_event_that_we_handle_must_hold_its_object() {
    for name in [
        "checkout.session.completed",
        "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed",
        "checkout.session.expired",
        "payment_intent.succeeded",
        "payment_intent.payment_failed",
        "charge.refunded",
        "refund.created",
        "refund.updated",
        "refund.failed",
        "charge.refund.updated",
        "charge.dispute.funds_withdrawn",
        "charge.dispute.funds_reinstated",
    ] {
        for object in [json!({}), json!({ "object": "customer", "id": "cus_1" })] {
            assert_eq!(parse(&event(name, &object)), Err(EventFault::UnreadableObject), "{name}");
        }
    }
}

#[test]
fn other_bodies_are_not_events() {
    let good = event("customer.created", &json!({}));
    assert!(parse(&good).is_ok());
    for (name, value) in [
        ("id", json!(null)),
        ("id", json!("evt 1")),
        ("object", json!("v2.core.event")),
        ("created", json!("now")),
        ("livemode", json!(null)),
        ("data", json!({})),
        ("data", json!({ "object": [] })),
        ("type", json!(7)),
    ] {
        let mut bent = good.clone();
        bent[name] = value;
        assert_eq!(parse(&bent), Err(EventFault::NotAnEvent), "{name}");
    }
    for body in [&b""[..], b"[]", b"{", b"\xff"] {
        assert_eq!(Event::parse(body), Err(EventFault::NotAnEvent));
    }
}

//! Money that goes back: refunds and disputes.

use super::*;
use crate::stripe::RefundedCharge;

fn paid(world: &mut World) -> (ObjectId, ObjectId) {
    let open = world.open_checkout();
    world.submit(&open.id, "4242424242424242", None);
    world.take_names();
    (open.id.clone(), world.retrieve(&open.id).payment_intent.unwrap())
}

fn refund(world: &mut World, intent: &ObjectId, more: &str) -> Answer {
    world.post("/v1/refunds", &format!("payment_intent={intent}{more}"))
}

#[test]
fn a_payment_is_refunded_in_parts_and_no_more_than_once() {
    let mut world = World::new();
    let (_, intent) = paid(&mut world);
    for (amount, sum) in [(100, 100), (200, 300)] {
        let answer = refund(&mut world, &intent, &format!("&amount={amount}&reason=requested_by_customer"));
        assert_eq!(
            (answer.status, &answer.body["amount"], &answer.body["status"]),
            (200, &amount.into(), &"succeeded".into())
        );
        assert_eq!(world.take_names(), ["refund.created", "charge.refunded"]);
        let EventKind::ChargeRefunded(RefundedCharge { payment_intent, amount_refunded, .. }) =
            world.last_event()
        else {
            panic!()
        };
        assert_eq!((payment_intent.as_ref(), *amount_refunded), (Some(&intent), Money::usd_cents(sum)));
    }
    let error = refund(&mut world, &intent, "&amount=301");
    assert_eq!(error.error(), (400, "invalid_request_error", Some("amount_too_large"), Some("amount")));
    assert_eq!(refund(&mut world, &intent, "&amount=0").status, 400);
    assert_eq!(refund(&mut world, &intent, "").body["amount"], 300);
    assert_eq!(refund(&mut world, &intent, "").error().2, Some("charge_already_refunded"));
}

#[test]
fn a_payment_is_refunded_whole_by_an_operator() {
    let mut world = World::new();
    let (session, intent) = paid(&mut world);
    let step = StepKind::Refund { amount: None };
    assert_eq!(world.step(PaymentRef::Checkout(session.as_str()), step).body["amount"], 600);
    assert_eq!(world.step(PaymentRef::Intent(intent.as_str()), step).status, 400);
}

#[test]
fn only_a_successful_payment_is_refunded_or_disputed() {
    let mut world = World::new();
    let unknown = ObjectId::parse("pi_unknown").unwrap();
    let error = refund(&mut world, &unknown, "");
    assert_eq!(
        error.error(),
        (400, "invalid_request_error", Some("resource_missing"), Some("payment_intent"))
    );
    let open = world.open_checkout();
    world.submit(&open.id, "4000000000000002", None);
    let intent = world.retrieve(&open.id).payment_intent.unwrap();
    assert_eq!(refund(&mut world, &intent, "").status, 400);
    let dispute = StepKind::OpenDispute { amount: None };
    assert_eq!(world.step(PaymentRef::Intent(intent.as_str()), dispute).status, 400);
    assert_eq!(world.post("/v1/refunds", "").error().3, Some("payment_intent"));
    assert_eq!(world.post("/v1/refunds", "payment_intent=p%20i").status, 400);
}

#[test]
fn a_dispute_withdraws_the_money_and_a_won_one_brings_it_back() {
    let mut world = World::new();
    let (session, intent) = paid(&mut world);
    let payment = PaymentRef::Checkout(session.as_str());
    refund(&mut world, &intent, "&amount=100");
    world.take_names();
    let too_much = StepKind::OpenDispute { amount: Some(501) };
    assert_eq!(world.step(payment, too_much).status, 400);
    let opened = world.step(payment, StepKind::OpenDispute { amount: None });
    assert_eq!((&opened.body["amount"], &opened.body["status"]), (&500.into(), &"needs_response".into()));
    assert_eq!(world.take_names(), ["charge.dispute.created", "charge.dispute.funds_withdrawn"]);
    let EventKind::DisputeFundsWithdrawn(withdrawn) = world.last_event().clone() else { panic!() };
    assert_eq!((withdrawn.payment_intent.as_ref(), withdrawn.amount), (Some(&intent), Money::usd_cents(500)));
    assert_eq!(world.step(payment, StepKind::OpenDispute { amount: None }).status, 400);
    assert_eq!(refund(&mut world, &intent, "").error().2, Some("charge_disputed"));

    let closed = world.step(payment, StepKind::CloseDispute { won: true });
    assert_eq!(closed.body["status"], "won");
    assert_eq!(world.take_names(), ["charge.dispute.closed", "charge.dispute.funds_reinstated"]);
    assert_eq!(world.last_event(), &EventKind::DisputeFundsReinstated(withdrawn));
    assert_eq!(world.step(payment, StepKind::CloseDispute { won: true }).status, 400);
    assert_eq!(refund(&mut world, &intent, "").body["amount"], 500);
}

#[test]
fn a_lost_dispute_brings_nothing_back() {
    let mut world = World::new();
    let (_, intent) = paid(&mut world);
    let payment = PaymentRef::Intent(intent.as_str());
    assert_eq!(world.step(payment, StepKind::CloseDispute { won: false }).status, 400);
    world.step(payment, StepKind::OpenDispute { amount: Some(200) });
    world.take_names();
    assert_eq!(world.step(payment, StepKind::CloseDispute { won: false }).body["status"], "lost");
    assert_eq!(world.take_names(), ["charge.dispute.closed"]);
    assert_eq!(refund(&mut world, &intent, "&amount=401").status, 400);
    assert_eq!(refund(&mut world, &intent, "&amount=400").status, 200);
}

#[test]
fn refunds_are_listed_and_may_fail() {
    let mut world = World::new();
    let (session, intent) = paid(&mut world);
    let sum = |world: &mut World| {
        let answer = world.api(&stripe::list_refunds(&intent));
        stripe::read_refunds(answer.status, &answer.bytes(), &intent).unwrap()
    };
    assert_eq!(sum(&mut world), None);
    refund(&mut world, &intent, "&amount=100");
    refund(&mut world, &intent, "&amount=200");
    assert_eq!(sum(&mut world), Some(Money::usd_cents(300)));
    world.take_names();
    let payment = PaymentRef::Checkout(session.as_str());
    assert_eq!(world.step(payment, StepKind::FailRefund).body["status"], "failed");
    assert_eq!(world.take_names(), ["refund.updated", "refund.failed", "charge.refund.updated"]);
    assert_eq!(sum(&mut world), Some(Money::usd_cents(100)));
    assert_eq!(refund(&mut world, &intent, "").body["amount"], 500, "what failed can be refunded again");
    for _ in 0..2 {
        assert_eq!(world.step(payment, StepKind::FailRefund).status, 200);
    }
    assert_eq!(world.step(payment, StepKind::FailRefund).status, 400);
    assert_eq!(sum(&mut world), None);
    assert_eq!(world.get("/v1/refunds?payment_intent=pi_unknown").status, 400);
}

//! Payment forms: opened, paid, declined, authenticated, stalled and expired.

use super::*;
use crate::stripe::{
    ChargeAnswer, CheckoutState, CheckoutStatus, ExpectedCharge, ExpectedCheckout, PaymentStatus, read_charge,
};

const VISA: &str = "4242 4242 4242 4242";
const SECURE: &str = "4000002500003155";

fn state(checkout: &Checkout) -> CheckoutState {
    let expected =
        ExpectedCheckout { id: Some(&checkout.id), reference: "pay_1", price: Money::usd_cents(600) };
    checkout.judge(&expected)
}

fn declined(outcome: &FormOutcome) -> &'static str {
    match outcome {
        FormOutcome::Declined { code, .. } => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_form_is_opened_and_paid() {
    let mut world = World::new();
    let open = world.open_checkout();
    assert_eq!((state(&open), open.payment_intent.as_ref()), (CheckoutState::Open, None));
    assert_eq!(open.url, Some(format!("https://sandbox.test/pay/{}", open.id)));
    assert_eq!(open.expires_at, NOW + 3600);

    let paid = FormOutcome::Paid { return_url: format!("https://api.pages.test/pay/x?session={}", open.id) };
    assert_eq!(world.submit(&open.id, VISA, None), paid);
    let names = ["charge.succeeded", "payment_intent.succeeded", "checkout.session.completed"];
    assert_eq!(world.take_names(), names);
    let EventKind::CheckoutCompleted(completed) = world.last_event().clone() else { panic!() };
    assert_eq!((state(&completed), &completed.url), (CheckoutState::Paid, &None));
    assert_eq!(world.retrieve(&open.id), completed);

    let intent = completed.payment_intent.unwrap();
    let answer = world.api(&stripe::retrieve_intent(&intent));
    let expected = ExpectedCharge { price: Money::usd_cents(600), request_id: None, intent: Some(&intent) };
    let charge = read_charge(answer.status, false, &answer.bytes(), &expected);
    assert!(matches!(charge, ChargeAnswer::Succeeded { charge: Some(_), .. }), "{charge:?}");

    assert_eq!(world.submit(&open.id, VISA, None), FormOutcome::AlreadyComplete);
    assert_eq!(world.take_names(), [""; 0]);
}

#[test]
fn a_declined_card_may_be_followed_by_another() {
    for (number, code) in [
        ("4000000000000002", "generic_decline"),
        ("4000000000009995", "insufficient_funds"),
        ("4000000000000069", "expired_card"),
        ("4000000000000127", "incorrect_cvc"),
        ("4000000000000119", "processing_error"),
    ] {
        let mut world = World::new();
        let open = world.open_checkout();
        assert_eq!(declined(&world.submit(&open.id, number, None)), code);
        assert_eq!(world.take_names(), ["charge.failed", "payment_intent.payment_failed"]);
        let EventKind::IntentFailed(intent) = world.last_event() else { panic!() };
        assert_eq!((intent.failure_code.as_deref(), intent.amount_received.minor_units), (Some(code), 0));
        let (intent, failed_charge) = (intent.id.clone(), intent.charge.clone());
        assert_eq!(state(&world.retrieve(&open.id)), CheckoutState::Open);

        assert!(matches!(world.submit(&open.id, VISA, None), FormOutcome::Paid { .. }));
        let paid = world.retrieve(&open.id);
        assert_eq!((state(&paid), paid.payment_intent), (CheckoutState::Paid, Some(intent)));
        let succeeded = world.events.iter().find_map(|event| match &event.kind {
            EventKind::IntentSucceeded(intent) => Some(intent),
            _ => None,
        });
        let succeeded = succeeded.unwrap();
        assert_eq!(succeeded.failure_code, None);
        assert_ne!(succeeded.charge, failed_charge);
    }
}

#[test]
fn three_d_secure_is_asked_for_and_approved() {
    let mut world = World::new();
    let open = world.open_checkout();
    assert_eq!(world.submit(&open.id, SECURE, None), FormOutcome::AuthenticationRequired);
    assert_eq!(world.take_names(), ["payment_intent.requires_action"]);
    assert_eq!(state(&world.retrieve(&open.id)), CheckoutState::Open);
    let outcome = world.submit(&open.id, SECURE, Some(Authentication::Approved));
    assert!(matches!(outcome, FormOutcome::Paid { .. }));
    assert_eq!(state(&world.retrieve(&open.id)), CheckoutState::Paid);
}

#[test]
fn three_d_secure_that_fails_charges_nothing() {
    let mut world = World::new();
    let open = world.open_checkout();
    world.submit(&open.id, SECURE, None);
    world.take_names();
    let outcome = world.submit(&open.id, SECURE, Some(Authentication::Failed));
    assert_eq!(declined(&outcome), "payment_intent_authentication_failure");
    assert_eq!(world.take_names(), ["payment_intent.payment_failed"]);
    let EventKind::IntentFailed(intent) = world.last_event() else { panic!() };
    assert_eq!(intent.charge, None);
    assert!(matches!(world.submit(&open.id, VISA, None), FormOutcome::Paid { .. }));
}

#[test]
fn a_stalled_payment_arrives_later() {
    let mut world = World::new();
    let open = world.open_checkout();
    assert!(matches!(world.submit(&open.id, STALLED_CARD, None), FormOutcome::Processing { .. }));
    assert_eq!(world.take_names(), ["payment_intent.processing", "checkout.session.completed"]);
    let stalled = world.retrieve(&open.id);
    assert_eq!(state(&stalled), CheckoutState::Processing);
    assert_eq!(world.submit(&open.id, VISA, None), FormOutcome::AlreadyComplete);

    let intent = stalled.payment_intent.unwrap();
    let by_intent = world.step(PaymentRef::Intent(intent.as_str()), StepKind::ReceiveFunds);
    assert_eq!(by_intent.status, 400, "the session would not learn of it");
    let received = world.step(PaymentRef::Checkout(open.id.as_str()), StepKind::ReceiveFunds);
    assert_eq!((received.status, &received.body["status"]), (200, &Value::from("succeeded")));
    let names = ["charge.succeeded", "payment_intent.succeeded", "checkout.session.async_payment_succeeded"];
    assert_eq!(world.take_names(), names);
    let EventKind::CheckoutAsyncPaymentSucceeded(paid) = world.last_event().clone() else { panic!() };
    assert_eq!(state(&paid), CheckoutState::Paid);
    assert_eq!(world.retrieve(&open.id), paid);
    let again = world.step(PaymentRef::Checkout(open.id.as_str()), StepKind::FailFunds);
    assert_eq!(again.error().2, Some("payment_intent_unexpected_state"));
}

#[test]
fn a_stalled_payment_may_fail_and_then_only_the_intent_shows_it() {
    let mut world = World::new();
    let open = world.open_checkout();
    world.submit(&open.id, STALLED_CARD, None);
    world.take_names();
    assert_eq!(world.step(PaymentRef::Checkout(open.id.as_str()), StepKind::FailFunds).status, 200);
    let names = ["charge.failed", "payment_intent.payment_failed", "checkout.session.async_payment_failed"];
    assert_eq!(world.take_names(), names);
    let EventKind::CheckoutAsyncPaymentFailed(failed) = world.last_event().clone() else { panic!() };
    assert_eq!(state(&failed), CheckoutState::Processing);
    let answer = world.api(&stripe::retrieve_intent(failed.payment_intent.as_ref().unwrap()));
    let expected = ExpectedCharge { price: Money::usd_cents(600), request_id: None, intent: None };
    let charge = read_charge(answer.status, false, &answer.bytes(), &expected);
    assert_eq!(charge, ChargeAnswer::Declined { code: "generic_decline".to_owned() });
}

#[test]
fn a_form_is_expired_once_and_cannot_be_paid_afterwards() {
    let mut world = World::new();
    let open = world.open_checkout();
    let expired = world.api(&stripe::expire_checkout(&open.id)).checkout();
    assert_eq!((state(&expired), &expired.url), (CheckoutState::Expired, &None));
    assert_eq!(world.take_names(), ["checkout.session.expired"]);
    assert_eq!(world.last_event(), &EventKind::CheckoutExpired(expired));
    assert_eq!(world.api(&stripe::expire_checkout(&open.id)).status, 400);
    assert_eq!(world.submit(&open.id, VISA, None), FormOutcome::Expired);
    assert_eq!(world.take_names(), [""; 0]);
}

#[test]
fn a_form_expires_by_itself() {
    let mut world = World::new();
    let open = world.open_checkout();
    world.now = open.expires_at - 1;
    assert_eq!(state(&world.retrieve(&open.id)), CheckoutState::Open);
    world.now = open.expires_at;
    assert_eq!(world.submit(&open.id, VISA, None), FormOutcome::Expired);
    assert_eq!(world.take_names(), ["checkout.session.expired"]);
    assert_eq!(state(&world.retrieve(&open.id)), CheckoutState::Expired);
    assert_eq!(world.take_names(), [""; 0], "it is announced once");
}

#[test]
fn a_completed_form_does_not_expire() {
    let mut world = World::new();
    let open = world.open_checkout();
    world.submit(&open.id, VISA, None);
    assert_eq!(world.api(&stripe::expire_checkout(&open.id)).status, 400);
    world.now += 100_000;
    assert_eq!(state(&world.retrieve(&open.id)), CheckoutState::Paid);
}

#[test]
fn nothing_is_kept_of_a_card_that_is_mistyped_or_real() {
    let mut world = World::new();
    let open = world.open_checkout();
    let before = world.objects.clone();
    let outcome = world.submit(&open.id, "4242424242424241", None);
    assert!(matches!(outcome, FormOutcome::InvalidCard { code: "incorrect_number", .. }));
    assert_eq!(declined(&world.submit(&open.id, "4111111111111111", None)), "test_mode_live_card");
    assert!(world.objects == before && world.events.is_empty());
    world.submit(&open.id, VISA, None);
    assert!(!world.objects.values().any(|object| object.json.contains("4242424242424242")));
}

#[test]
fn two_submissions_at_once_pay_once() {
    let mut world = World::new();
    let open = world.open_checkout();
    let card = CardDetails { number: VISA, expiry: "12/34", cvc: "123" };
    let submission = FormSubmission { session: open.id.as_str(), card, authentication: None };
    let found = world.find(&submission.needs());
    let first = submission.run(&found, &world.context());
    let second = submission.run(&found, &world.context());
    let versions = |writes: &[StoredObject]| -> Vec<_> {
        writes.iter().map(|write| (write.key.clone(), write.version)).collect()
    };
    assert_eq!(versions(&first.writes), versions(&second.writes), "the condition of the second fails");
}

#[test]
fn an_unknown_form_is_not_found() {
    let mut world = World::new();
    let unknown = ObjectId::parse("cs_test_unknown").unwrap();
    assert_eq!(world.submit(&unknown, VISA, None), FormOutcome::NotFound);
    assert_eq!(world.step(PaymentRef::Checkout("cs_test_unknown"), StepKind::ReceiveFunds).status, 404);
    let open = world.open_checkout();
    assert_eq!(world.step(PaymentRef::Checkout(open.id.as_str()), StepKind::ReceiveFunds).status, 404);
}

#[test]
fn the_form_shows_what_is_sold() {
    let mut world = World::new();
    let open = world.open_checkout();
    let stored = world.objects[&CheckoutForm::key(open.id.as_str()).unwrap()].clone();
    let form = CheckoutForm::read(&stored, &world.context()).unwrap();
    assert_eq!((form.product.as_str(), form.price), ("API key", Money::usd_cents(600)));
    assert_eq!((form.status, form.expires_at), (CheckoutStatus::Open, open.expires_at));
    assert!(form.return_url.ends_with(open.id.as_str()));
    assert_eq!(form.cancel_url.as_deref(), Some("https://api.pages.test/pay/x"));
    world.now = open.expires_at;
    assert_eq!(CheckoutForm::read(&stored, &world.context()).unwrap().status, CheckoutStatus::Expired);
    assert_eq!(CheckoutForm::key("../x"), None);
}

#[test]
fn a_session_lives_half_an_hour_to_a_day() {
    let mut world = World::new();
    for (life, status) in [(1799, 400), (1800, 200), (86_400, 200), (86_401, 400), (-1, 400)] {
        let new = NewCheckout { expires_at: NOW + life, ..checkout("pay_1", NOW) };
        let request = ApiRequest { idempotency_key: None, ..stripe::create_checkout(&new) };
        assert_eq!(world.api(&request).status, status, "{life}");
    }
    let form = stripe::create_checkout(&checkout("pay_1", NOW)).form.replace("expires_at=1767229200", "");
    let default = world.post("/v1/checkout/sessions", &form).checkout();
    assert_eq!((default.expires_at, default.payment_status), (NOW + 86_400, PaymentStatus::Unpaid));
}

//! Shared payment tokens: granted, charged, exhausted, expired and revoked.

use super::*;
use crate::stripe::{
    ChargeAnswer, ExpectedCharge, SharedPaymentToken, TokenCharge, TokenSpelling, charge_token, read_charge,
};

const TOKENS: &str = "/v1/test_helpers/shared_payment/granted_tokens";

fn grant(world: &mut World, method: &str, limit: u64) -> SharedPaymentToken {
    let form = format!(
        "payment_method={method}&usage_limits[currency]=usd&usage_limits[max_amount]={limit}\
         &usage_limits[expires_at]={}&seller_details[network_id]=internal",
        world.now + 600
    );
    let answer = world.post(TOKENS, &form);
    assert_eq!(answer.status, 200, "{}", answer.body);
    SharedPaymentToken::parse(answer.body["id"].as_str().unwrap()).unwrap()
}

fn request(token: &SharedPaymentToken, cents: u64, spelling: TokenSpelling) -> ApiRequest {
    let price = Money::usd_cents(cents);
    charge_token(&TokenCharge { token, price, feature: "provision", request_id: "r1", spelling })
}

fn read(answer: &Answer, cents: u64) -> ChargeAnswer {
    let expected = ExpectedCharge { price: Money::usd_cents(cents), request_id: Some("r1"), intent: None };
    read_charge(answer.status, answer.replayed, &answer.bytes(), &expected)
}

fn charge(world: &mut World, token: &SharedPaymentToken, cents: u64) -> ChargeAnswer {
    // Without a key, so that one token can be charged several times.
    let request = ApiRequest { idempotency_key: None, ..request(token, cents, TokenSpelling::Nested) };
    let answer = world.api(&request);
    read(&answer, cents)
}

fn token_status(world: &mut World, token: &SharedPaymentToken) -> (Value, u64) {
    let answer = world.get(&format!("/v1/shared_payment/granted_tokens/{}", token.reveal()));
    let captured = answer.body["usage_details"]["amount_captured"]["value"].as_u64().unwrap();
    (answer.body["deactivated_reason"].clone(), captured)
}

#[test]
fn a_token_named_after_a_test_card_needs_no_grant() {
    let mut world = World::new();
    let token = |name: &str| SharedPaymentToken::parse(name).unwrap();
    for (name, pays) in [
        ("spt_test_visa_1", true),
        ("spt_test_visa_7f3a", true),
        ("spt_test_visa_chargeDeclined_1", false),
        ("spt_test_authenticationRequired_1", false),
        ("spt_test_visa", false),
        ("spt_test_unknown_1", false),
        ("spt_visa_1", false),
    ] {
        let answer = charge(&mut world, &token(name), 100);
        assert_eq!(matches!(answer, ChargeAnswer::Succeeded { .. }), pays, "{name}");
    }
    assert_eq!(token_status(&mut world, &token("spt_test_visa_1")), (Value::Null, 100));
}

#[test]
fn a_token_is_charged_in_either_spelling_and_consumed() {
    for spelling in [TokenSpelling::Nested, TokenSpelling::TopLevel] {
        let mut world = World::new();
        let token = grant(&mut world, "pm_card_visa", 100);
        assert_eq!(token_status(&mut world, &token), (Value::Null, 0));
        let answer = world.api(&request(&token, 100, spelling));
        let ChargeAnswer::Succeeded { intent, charge: Some(_), replayed: false } = read(&answer, 100) else {
            panic!("{}", answer.body)
        };
        let names = [
            "charge.succeeded",
            "payment_intent.succeeded",
            "shared_payment.granted_token.used",
            "shared_payment.granted_token.deactivated",
        ];
        assert_eq!(world.take_names(), names);
        let EventKind::IntentSucceeded(announced) = &world.events[1].kind else { panic!() };
        assert_eq!((&announced.id, announced.request_id.as_deref()), (&intent, Some("r1")));
        assert_eq!(token_status(&mut world, &token), (Value::from("consumed"), 100));
        let again = world.api(&stripe::retrieve_intent(&intent));
        assert!(matches!(read(&again, 100), ChargeAnswer::Succeeded { .. }));
    }
}

#[test]
fn the_older_spelling_is_accepted_and_two_are_not() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_visa", 1000);
    let text = token.reveal();
    let form = format!(
        "amount=100&currency=usd&confirm=true&payment_method_types[]=card&shared_payment_token={text}"
    );
    assert_eq!(world.post("/v1/payment_intents", &form).status, 200);
    let twice = format!("{form}&shared_payment_granted_token={text}");
    assert_eq!(world.post("/v1/payment_intents", &twice).status, 400);
}

#[test]
fn a_charge_is_repeated_with_the_same_answer_and_no_effect() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_visa", 1000);
    let request = request(&token, 100, TokenSpelling::Nested);
    let first = world.api(&request);
    let objects = world.objects.clone();
    world.take_names();
    let second = world.api(&request);
    assert_eq!((first.body, second.replayed), (second.body.clone(), true));
    assert!(matches!(read(&second, 100), ChargeAnswer::Succeeded { replayed: true, .. }));
    assert!(world.objects == objects && world.take_names().is_empty());
    let other = ApiRequest { form: request.form.replace("=r1", "=r2"), ..request };
    assert_eq!(read(&world.api(&other), 100), ChargeAnswer::KeyReused);
}

#[test]
fn a_token_is_limited_in_amount_over_all_its_charges() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_visa", 250);
    assert_eq!(charge(&mut world, &token, 251), ChargeAnswer::Refused { code: None });
    assert!(matches!(charge(&mut world, &token, 100), ChargeAnswer::Succeeded { .. }));
    assert_eq!(token_status(&mut world, &token), (Value::Null, 100));
    assert_eq!(charge(&mut world, &token, 151), ChargeAnswer::Refused { code: None });
    assert!(matches!(charge(&mut world, &token, 150), ChargeAnswer::Succeeded { .. }));
    assert_eq!(token_status(&mut world, &token), (Value::from("consumed"), 250));
    assert_eq!(charge(&mut world, &token, 50), ChargeAnswer::Refused { code: None });
}

#[test]
fn a_token_expires() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_visa", 1000);
    world.now += 599;
    assert!(matches!(charge(&mut world, &token, 100), ChargeAnswer::Succeeded { .. }));
    world.take_names();
    world.now += 1;
    assert_eq!(charge(&mut world, &token, 100), ChargeAnswer::Refused { code: None });
    assert_eq!(world.take_names(), ["shared_payment.granted_token.deactivated"]);
    assert_eq!(token_status(&mut world, &token), (Value::from("expired"), 100));
}

#[test]
fn a_token_is_revoked_once() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_visa", 1000);
    let path = format!("{TOKENS}/{}/revoke", token.reveal());
    let revoked = world.post(&path, "");
    assert_eq!(revoked.body["deactivated_reason"], "revoked");
    assert_eq!(world.take_names(), ["shared_payment.granted_token.deactivated"]);
    assert_eq!(world.post(&path, "").status, 400);
    assert_eq!(charge(&mut world, &token, 100), ChargeAnswer::Refused { code: None });
}

#[test]
fn a_token_in_another_currency_or_unknown_is_refused() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_visa", 1000);
    let form = request(&token, 100, TokenSpelling::Nested).form.replace("currency=usd", "currency=eur");
    let answer = world.post("/v1/payment_intents", &form);
    assert_eq!(answer.error(), (400, "invalid_request_error", None, Some("currency")));
    let unknown = SharedPaymentToken::parse("spt_unknown").unwrap();
    let code = Some("resource_missing".to_owned());
    assert_eq!(charge(&mut world, &unknown, 100), ChargeAnswer::Refused { code });
}

#[test]
fn a_declined_token_charges_nothing_and_stays_active() {
    for (method, code) in [
        ("pm_card_visa_chargeDeclined", "generic_decline"),
        ("pm_card_chargeDeclinedInsufficientFunds", "insufficient_funds"),
        ("pm_card_chargeDeclinedExpiredCard", "expired_card"),
    ] {
        let mut world = World::new();
        let token = grant(&mut world, method, 1000);
        let request = request(&token, 100, TokenSpelling::Nested);
        let answer = world.api(&request);
        assert_eq!((answer.error().0, answer.error().1), (402, "card_error"));
        assert_eq!(answer.body["error"]["payment_intent"]["status"], "requires_payment_method");
        assert_eq!(read(&answer, 100), ChargeAnswer::Declined { code: code.to_owned() });
        assert_eq!(world.take_names(), ["charge.failed", "payment_intent.payment_failed"]);
        assert_eq!(token_status(&mut world, &token), (Value::Null, 0));
        let again = world.api(&request);
        assert_eq!((again.status, again.replayed, again.body), (402, true, answer.body));
    }
}

#[test]
fn a_token_may_need_its_cardholder_or_time() {
    let mut world = World::new();
    let secure = grant(&mut world, "pm_card_authenticationRequired", 1000);
    assert!(matches!(charge(&mut world, &secure, 100), ChargeAnswer::ActionRequired { .. }));
    let slow = grant(&mut world, "pm_card_stalled", 1000);
    let ChargeAnswer::Processing { intent } = charge(&mut world, &slow, 100) else { panic!() };
    assert_eq!(world.step(PaymentRef::Intent(intent.as_str()), StepKind::ReceiveFunds).status, 200);
    let answer = world.api(&stripe::retrieve_intent(&intent));
    assert!(matches!(read(&answer, 100), ChargeAnswer::Succeeded { .. }));
    let slow = grant(&mut world, "pm_card_stalled", 1000);
    let ChargeAnswer::Processing { intent } = charge(&mut world, &slow, 100) else { panic!() };
    assert_eq!(world.step(PaymentRef::Intent(intent.as_str()), StepKind::FailFunds).status, 200);
    let answer = world.api(&stripe::retrieve_intent(&intent));
    assert!(matches!(read(&answer, 100), ChargeAnswer::Declined { .. }));
}

#[test]
fn a_token_must_be_granted_with_limits() {
    let mut world = World::new();
    let limits = "usage_limits[currency]=usd&usage_limits[max_amount]=100";
    for (form, param) in [
        (limits.to_owned(), "payment_method"),
        (format!("payment_method=pm_unknown&{limits}"), "payment_method"),
        ("payment_method=pm_card_visa&usage_limits[max_amount]=100".to_owned(), "usage_limits[currency]"),
        ("payment_method=pm_card_visa&usage_limits[currency]=usd".to_owned(), "usage_limits[max_amount]"),
        (
            format!("payment_method=pm_card_visa&{limits}&usage_limits[expires_at]={NOW}"),
            "usage_limits[expires_at]",
        ),
        (format!("payment_method=pm_card_visa&{}", limits.replace("100", "0")), "usage_limits[max_amount]"),
        (format!("payment_method=pm_card_visa&{limits}&x=1"), "x"),
    ] {
        let answer = world.post(TOKENS, &form);
        assert_eq!((answer.error().0, answer.error().3), (400, Some(param)), "{form}");
    }
}

#[test]
fn a_payment_that_was_not_made_is_canceled_once() {
    let mut world = World::new();
    let token = grant(&mut world, "pm_card_authenticationRequired", 100);
    let ChargeAnswer::ActionRequired { intent } = charge(&mut world, &token, 100) else { panic!() };
    world.take_names();
    let canceled = world.api(&stripe::cancel_intent(&intent));
    assert_eq!(read(&canceled, 100), ChargeAnswer::Declined { code: "canceled".to_owned() });
    assert_eq!(world.take_names(), ["payment_intent.canceled"]);
    let unexpected = ChargeAnswer::Refused { code: Some("payment_intent_unexpected_state".to_owned()) };
    assert_eq!(read(&world.api(&stripe::cancel_intent(&intent)), 100), unexpected);
    let paid = grant(&mut world, "pm_card_visa", 100);
    let ChargeAnswer::Succeeded { intent, .. } = charge(&mut world, &paid, 100) else { panic!() };
    assert_eq!(read(&world.api(&stripe::cancel_intent(&intent)), 100), unexpected);
}

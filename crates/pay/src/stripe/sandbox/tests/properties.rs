//! Property tests: nothing that is sent, typed, stored or received makes the module panic.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::stripe::{ExpectedCharge, SharedPaymentToken, read_charge, read_checkout};

const PATHS: [&str; 9] = [
    "/v1/checkout/sessions",
    "/v1/checkout/sessions/cs_1",
    "/v1/checkout/sessions/cs_1/expire",
    "/v1/payment_intents",
    "/v1/payment_intents/pi_1",
    "/v1/test_helpers/shared_payment/granted_tokens",
    "/v1/test_helpers/shared_payment/granted_tokens/spt_1/revoke",
    "/v1/shared_payment/granted_tokens/spt_1",
    "/v1/refunds",
];

const NAMES: [&str; 16] = [
    "mode",
    "amount",
    "currency",
    "confirm",
    "expires_at",
    "payment_intent",
    "payment_method",
    "success_url",
    "shared_payment_token",
    "metadata[a]",
    "line_items[0][quantity]",
    "line_items[0][price_data][unit_amount]",
    "line_items[0][price_data][currency]",
    "line_items[0][price_data][product_data][name]",
    "usage_limits[max_amount]",
    "usage_limits[currency]",
];

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "[0-9]{1,20}",
        Just("usd".to_owned()),
        Just("payment".to_owned()),
        Just("true".to_owned()),
        Just("pm_card_visa".to_owned()),
        Just("https://x.test".to_owned()),
        Just("spt_1".to_owned()),
    ]
}

fn form() -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(NAMES.as_slice()), value()), 0..12)
        .prop_map(|pairs| form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::from),
        Just(json!("succeeded")),
        Just(json!("usd")),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

/// Everything that the module reads, given these bytes.
fn read_all(status: u16, body: &[u8]) {
    let expected = ExpectedCharge { price: Money::usd_cents(100), request_id: Some("r1"), intent: None };
    let _ = read_checkout(status, body);
    let _ = read_charge(status, status.is_multiple_of(2), body, &expected);
    let _ = Event::parse(body);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_request_is_answered(
        method in "GET|POST|[A-Z]{0,6}", path in prop::sample::select(PATHS.as_slice()), other in ".{0,40}",
        form in form(), bytes in prop::collection::vec(any::<u8>(), 0..200), now in any::<i64>(), random in any::<[u8; 32]>(),
    ) {
        let context = Context { now, random, form_url: "https://sandbox.test" };
        for (path, parameters) in [(path, form.as_bytes()), (path, &bytes), (&other, &bytes)] {
            let authorization = Some("Bearer sk_test_x");
            let request = Request { method: &method, path, authorization, idempotency_key: Some("k"), parameters };
            let handled = Call::parse(&request).run(&[], &context);
            prop_assert!((200..500).contains(&handled.status), "{}", handled.status);
            prop_assert!(serde_json::from_str::<Value>(&handled.body).is_ok());
            read_all(handled.status, handled.body.as_bytes());
        }
    }

    #[test]
    fn any_header_is_an_answer_without_a_key(text in ".{0,60}") {
        for text in [text.clone(), format!("Basic {text}"), format!("Bearer sk_live_{text}")] {
            let request = Request {
                method: "GET", path: "/v1/payment_intents/pi_1", authorization: Some(&text), idempotency_key: None, parameters: b"",
            };
            let mut world = World::new();
            prop_assert_eq!(world.send(&request).status, 401);
        }
    }

    #[test]
    fn any_card_is_paid_declined_or_refused(number in ".{0,30}", digits in "[0-9 -]{0,24}", expiry in ".{0,9}", cvc in ".{0,5}", now in any::<i64>()) {
        let mut world = World::new();
        let open = world.open_checkout();
        let context = Context { now, ..world.context() };
        for number in [number.as_str(), &digits, "4242424242424242"] {
            let card = CardDetails { number, expiry: &expiry, cvc: &cvc };
            let submission = FormSubmission { session: open.id.as_str(), card, authentication: None };
            let found = world.find(&submission.needs());
            let _ = submission.run(&found, &context);
        }
    }

    #[test]
    fn damaged_objects_are_faults_and_not_panics(
        at in any::<prop::sample::Index>(), with in any_json(), amount in any::<u64>(), now in any::<i64>(),
    ) {
        let mut world = World::new();
        let open = world.open_checkout();
        world.submit(&open.id, "4242424242424242", None);
        for object in world.objects.values_mut() {
            let mut record: Value = serde_json::from_str(&object.json).unwrap();
            let members: Vec<String> = record.as_object().unwrap().keys().cloned().collect();
            record[at.get(&members)] = with.clone();
            object.json = record.to_string();
            object.version = amount;
        }
        let context = Context { now, ..world.context() };
        let payment = PaymentRef::Checkout(open.id.as_str());
        for kind in [
            StepKind::ReceiveFunds,
            StepKind::Refund { amount: Some(amount) },
            StepKind::OpenDispute { amount: None },
            StepKind::OpenDispute { amount: Some(amount) },
            StepKind::CloseDispute { won: true },
        ] {
            let step = Step { payment, kind };
            let _ = step.run(&world.find(&step.needs()), &context);
        }
        for object in world.objects.values() {
            let _ = CheckoutForm::read(object, &context);
        }
    }

    #[test]
    fn any_answer_or_event_is_read(status in 0..700_u16, value in any_json(), bytes in prop::collection::vec(any::<u8>(), 0..60), kind in ".{0,12}") {
        read_all(status, &bytes);
        read_all(status, value.to_string().as_bytes());
        for name in ["payment_intent.succeeded", "checkout.session.completed", "charge.refunded", &kind] {
            let event = json!({ "id": "evt_1", "object": "event", "created": 1, "livemode": false, "type": name, "data": { "object": value } });
            let _ = Event::parse(event.to_string().as_bytes());
        }
    }

    #[test]
    fn an_answer_with_any_member_replaced_is_read(at in any::<prop::sample::Index>(), with in any_json(), status in prop::sample::select(vec![200_u16, 400, 402, 404])) {
        let mut world = World::new();
        let open = world.open_checkout();
        world.submit(&open.id, "4000000000000002", None);
        let intent = world.retrieve(&open.id).payment_intent.unwrap();
        let answers =
            [world.api(&stripe::retrieve_checkout(&open.id)).body, world.api(&stripe::retrieve_intent(&intent)).body];
        for mut answer in answers {
            let members: Vec<String> = answer.as_object().unwrap().keys().cloned().collect();
            answer[at.get(&members)] = with.clone();
            read_all(status, answer.to_string().as_bytes());
            read_all(status, json!({ "error": answer }).to_string().as_bytes());
        }
    }

    #[test]
    fn tokens_and_ids_are_read_or_refused(text in ".{0,300}", plain in "[A-Za-z0-9_]{1,255}") {
        let _ = SharedPaymentToken::parse(&text);
        let _ = ObjectId::parse(&text);
        let token = format!("spt_{plain}");
        prop_assert!(SharedPaymentToken::parse(&token).is_some());
    }
}

//! Authentication, routes, parameters and the shapes of answers.

use serde_json::json;

use super::*;

#[test]
fn without_a_test_key_nothing_is_told() {
    let mut world = World::new();
    let open = world.open_checkout();
    let path = format!("/v1/checkout/sessions/{}", open.id);
    for authorization in [None, Some(""), Some("Bearer sk_live_x"), Some("Basic c2tfbGl2ZV94Og==")] {
        let request =
            Request { method: "GET", path: &path, authorization, idempotency_key: None, parameters: b"" };
        assert!(Call::parse(&request).needs().is_empty());
        assert_eq!(world.send(&request).error(), (401, "invalid_request_error", None, None));
    }
}

#[test]
fn unknown_routes_and_methods_are_not_found() {
    let mut world = World::new();
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/v1"),
        ("GET", "/v2/checkout/sessions/x"),
        ("GET", "/v1/checkout/sessions"),
        ("PUT", "/v1/refunds"),
        ("PUT", "/v1/checkout/sessions"),
        ("DELETE", "/v1/payment_intents/pi_1"),
        ("POST", "/v1/payment_intents/pi_1"),
        ("POST", "/v1/checkout/sessions/"),
        ("POST", "/v1/charges"),
        ("get", "/v1/payment_intents/pi_1"),
    ] {
        let authorization = Some("Bearer sk_test_x");
        let answer =
            world.send(&Request { method, path, authorization, idempotency_key: None, parameters: b"" });
        assert_eq!(answer.error(), (404, "invalid_request_error", None, None), "{method} {path}");
    }
}

#[test]
fn unknown_ids_are_missing() {
    let mut world = World::new();
    let long = format!("/v1/payment_intents/{}", "x".repeat(256));
    for path in [
        "/v1/checkout/sessions/cs_1",
        "/v1/payment_intents/pi_1",
        "/v1/payment_intents/p%20i",
        "/v1/payment_intents/",
        "/v1/shared_payment/granted_tokens/spt_1",
        &long,
    ] {
        assert_eq!(
            world.get(path).error(),
            (404, "invalid_request_error", Some("resource_missing"), None),
            "{path}"
        );
    }
    for path in
        ["/v1/checkout/sessions/cs_1/expire", "/v1/test_helpers/shared_payment/granted_tokens/spt_1/revoke"]
    {
        assert_eq!(world.post(path, "").error().0, 404, "{path}");
    }
}

#[test]
fn parameters_are_checked_by_name_and_value() {
    let mut world = World::new();
    let good = stripe::create_checkout(&checkout("pay_1", NOW)).form;
    for (from, to, code, param) in [
        ("mode=payment&", "", Some("parameter_missing"), "mode"),
        ("mode=payment", "mode=subscription", None, "mode"),
        ("=600", "=49", Some("amount_too_small"), "line_items[0][price_data][unit_amount]"),
        ("=600", "=6.00", Some("parameter_invalid_integer"), "line_items[0][price_data][unit_amount]"),
        ("=600", "=100000000", Some("amount_too_large"), "line_items[0][price_data][unit_amount]"),
        (
            "%5Bquantity%5D=1",
            "%5Bquantity%5D=18446744073709551615",
            Some("amount_too_large"),
            "line_items[0][price_data][unit_amount]",
        ),
        ("=usd", "=dollar", None, "line_items[0][price_data][currency]"),
        ("=usd", "=1.5", None, "line_items[0][price_data][currency]"),
        ("=API+key", "=", Some("parameter_missing"), "line_items[0][price_data][product_data][name]"),
        ("success_url=https", "success_url=javascript", Some("url_invalid"), "success_url"),
        ("expires_at=", "expires_at=x", Some("parameter_invalid_integer"), "expires_at"),
        ("expires_at=", "expires_at=999999999", Some("parameter_invalid_integer"), "expires_at"),
        ("=card", "=sepa_debit", None, "payment_method_types[0]"),
        ("mode=payment", "mode=payment&tip=5", Some("parameter_unknown"), "tip"),
        (
            "mode=payment",
            "mode=payment&line_items[1][quantity]=1",
            Some("parameter_unknown"),
            "line_items[1][quantity]",
        ),
    ] {
        let form = good.replacen(from, to, 1);
        assert_ne!(form, good, "{from}");
        let answer = world.post("/v1/checkout/sessions", &form);
        assert_eq!(answer.error(), (400, "invalid_request_error", code, Some(param)), "{to}");
    }
    let harmful = world.post("/v1/checkout/sessions", &format!("{good}&<script>=1"));
    assert_eq!(harmful.error().3, None);
    for (form, param) in [
        ("currency=usd&confirm=true&shared_payment_token=spt_1", "amount"),
        ("amount=100&currency=usd&shared_payment_token=spt_1", "confirm"),
        ("amount=100&currency=usd&confirm=false&shared_payment_token=spt_1", "confirm"),
        ("amount=100&currency=usd&confirm=true", "payment_method_data[shared_payment_granted_token]"),
        ("amount=100&currency=usd&confirm=true&capture_method=manual", "capture_method"),
    ] {
        assert_eq!(world.post("/v1/payment_intents", form).error().3, Some(param), "{form}");
    }
}

#[test]
fn quantities_multiply() {
    let mut world = World::new();
    let form =
        stripe::create_checkout(&checkout("pay_1", NOW)).form.replace("%5Bquantity%5D=1", "%5Bquantity%5D=3");
    assert_eq!(
        world.post("/v1/checkout/sessions", &form).checkout().amount_total,
        Some(Money::usd_cents(1800))
    );
}

#[test]
fn errors_never_repeat_what_was_sent() {
    let mut world = World::new();
    let answers = [
        world.get("/v1/payment_intents/pi_needle"),
        world.get("/v1/needle"),
        world.post("/v1/refunds", "payment_intent=needle"),
        world.post("/v1/refunds", "payment_intent=pi_1&reason=needle"),
        world.post("/v1/payment_intents", "amount=needle&currency=usd"),
        world.post(
            "/v1/payment_intents",
            "amount=100&currency=usd&confirm=true&shared_payment_token=spt_needle",
        ),
    ];
    for answer in answers {
        assert!(answer.status >= 400 && !answer.body.to_string().contains("needle"), "{}", answer.body);
    }
}

#[test]
fn a_damaged_object_is_a_fault_without_effects() {
    let mut world = World::new();
    let open = world.open_checkout();
    let key = CheckoutForm::key(open.id.as_str()).unwrap();
    world.objects.get_mut(&key).unwrap().json = "{}".to_owned();
    let before = world.objects.clone();
    let answer = world.post_with_key(&format!("/v1/checkout/sessions/{}/expire", open.id), "", Some("k"));
    assert_eq!(answer.error().0, 500);
    assert_eq!(world.submit(&open.id, "4242424242424242", None), FormOutcome::Fault);
    assert!(world.objects == before);
}

#[test]
fn answers_have_the_members_that_clients_expect() {
    let mut world = World::new();
    let session = world.api(&stripe::create_checkout(&checkout("pay_1", NOW)));
    assert_eq!(session.body["metadata"], json!({ "feature": "provision" }));
    assert_eq!(
        (&session.body["mode"], &session.body["payment_method_types"]),
        (&json!("payment"), &json!(["card"]))
    );
    let id = session.checkout().id;
    assert!(id.as_str().starts_with("cs_test_a1") && id.as_str().len() == 66);
    world.submit(&id, "4242424242424242", None);
    let intent = world.retrieve(&id).payment_intent.unwrap();
    let intent = world.api(&stripe::retrieve_intent(&intent)).body;
    for (member, prefix, len) in
        [("id", "pi_3", 27), ("latest_charge", "ch_3", 27), ("payment_method", "pm_1", 28)]
    {
        let text = intent[member].as_str().unwrap();
        assert!(text.starts_with(prefix) && text.len() == len, "{text}");
    }
    let event = &world.events[0];
    assert!(event.id.as_str().starts_with("evt_1") && event.id.as_str().len() == 29);
}

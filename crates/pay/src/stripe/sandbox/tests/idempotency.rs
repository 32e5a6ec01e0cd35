//! Idempotency keys.

use super::*;

#[test]
fn the_same_request_gets_the_same_answer() {
    let mut world = World::new();
    let request = stripe::create_checkout(&checkout("pay_1", NOW));
    let first = world.api(&request);
    assert!(!first.replayed);
    let open = first.checkout();
    world.submit(&open.id, "4242424242424242", None);
    let second = world.api(&request);
    assert_eq!((second.status, second.replayed, &second.body), (200, true, &first.body));
    assert_eq!(world.objects.keys().filter(|key| key.kind == ObjectKind::CheckoutSession).count(), 1);
}

#[test]
fn the_order_of_parameters_does_not_matter_and_their_values_do() {
    let mut world = World::new();
    let request = stripe::create_checkout(&checkout("pay_1", NOW));
    world.api(&request);
    let mut pairs: Vec<&str> = request.form.split('&').collect();
    pairs.reverse();
    let key = request.idempotency_key.as_deref();
    assert!(world.post_with_key(&request.path, &pairs.join("&"), key).replayed);
    let other = request.form.replace("=600", "=601");
    let conflict = world.post_with_key(&request.path, &other, key);
    assert_eq!(conflict.error(), (400, "idempotency_error", None, None));
    let elsewhere = world.post_with_key("/v1/payment_intents", &request.form, key);
    assert_eq!(elsewhere.error().1, "idempotency_error");
}

#[test]
fn refused_parameters_do_not_use_up_a_key_and_executed_errors_do() {
    let mut world = World::new();
    let request = stripe::create_checkout(&checkout("pay_1", NOW));
    let key = request.idempotency_key.as_deref();
    let small = request.form.replace("=600", "=49");
    assert_eq!(world.post_with_key(&request.path, &small, key).error().2, Some("amount_too_small"));
    assert_eq!(world.api(&request).status, 200);

    let refund = |world: &mut World| world.post_with_key("/v1/refunds", "payment_intent=pi_1", Some("k"));
    assert_eq!((refund(&mut world).status, refund(&mut world).replayed), (400, true));
}

#[test]
fn a_key_is_kept_for_a_day() {
    let mut world = World::new();
    let post = |world: &mut World| world.post_with_key("/v1/refunds", "payment_intent=pi_1", Some("k"));
    post(&mut world);
    world.now += 86_399;
    assert!(post(&mut world).replayed);
    world.now += 1;
    assert!(!post(&mut world).replayed);
    assert!(post(&mut world).replayed);
}

#[test]
fn keys_have_a_length_and_only_posts_use_them() {
    let mut world = World::new();
    for key in ["", &"k".repeat(256)] {
        assert_eq!(world.post_with_key("/v1/refunds", "payment_intent=pi_1", Some(key)).status, 400);
    }
    assert!(world.objects.is_empty());
    let authorization = Some("Bearer sk_test_x");
    let path = "/v1/payment_intents/pi_1";
    let request = Request { method: "GET", path, authorization, idempotency_key: Some("k"), parameters: b"" };
    assert!(Call::parse(&request).needs().iter().all(|key| key.kind == ObjectKind::Payment));
}

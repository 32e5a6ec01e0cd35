//! Shared payment tokens with a processor that fails or changes its mind: nothing is charged twice, what was charged is never
//! denied, and what was not is never kept as unknown.

use crate::harness::card_till::{CardTill, at_each_card_till};
use crate::harness::till::HOME;
use crate::harness::{CardFault, payment};
use dropleaf_app::{CardProcessor, PayError, PayRefused, PurchaseResult, TokenRequest};
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::{Code, Error};
use dropleaf_pay::stripe::sandbox::Request;
use dropleaf_pay::stripe::{ObjectId, SharedPaymentToken, retrieve_intent};
use serde_json::{Value, json};

const CONFIRMED: &str = "pm_card_authenticationRequired";

/// A token that an agent grants us, for 100 cents.
pub(super) async fn granted(till: &CardTill, method: &str) -> SharedPaymentToken {
    let form = format!("payment_method={method}&usage_limits[currency]=usd&usage_limits[max_amount]=100");
    let request = Request {
        method: "POST",
        path: "/v1/test_helpers/shared_payment/granted_tokens",
        authorization: Some("Bearer sk_test_agent"),
        idempotency_key: None,
        parameters: form.as_bytes(),
    };
    let reply = till.processor.sandbox.call(&request).await.unwrap();
    let body: Value = serde_json::from_str(&reply.body).unwrap();
    SharedPaymentToken::parse(body["id"].as_str().unwrap()).unwrap()
}

pub(super) async fn send(
    till: &CardTill,
    token: &SharedPaymentToken,
    idempotency_key: Option<&str>,
) -> Result<PurchaseResult, PayError> {
    let request = TokenRequest {
        token: token.clone(),
        request_hash: [7; 32],
        idempotency_key: idempotency_key.map(str::to_owned),
        ip: Some(HOME.into()),
    };
    Box::pin(till.app().provision_with_token(request)).await
}

pub(super) async fn fails(till: &CardTill, token: &SharedPaymentToken) -> Error {
    match send(till, token, None).await {
        Err(PayError::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn refused(till: &CardTill, token: &SharedPaymentToken) -> PayRefused {
    match send(till, token, None).await {
        Err(PayError::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn only_payment(till: &CardTill) -> Payment {
    let mut all = till.app().list_payments(None, 10).await.unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The state of a payment intent at the processor.
async fn intent_state(till: &CardTill, intent: &str) -> String {
    let request = retrieve_intent(&ObjectId::parse(intent).unwrap());
    let reply = till.processor.sandbox.send(&request).await.unwrap();
    let body: Value = serde_json::from_slice(&reply.body).unwrap();
    body["status"].as_str().unwrap().to_owned()
}

pub(super) async fn keys(till: &CardTill) -> i64 {
    till.till.count("SELECT COUNT(*) FROM api_keys").await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_is_charged_while_too_many_payments_are_unknown() {
    at_each_card_till(async |till| {
        let token = granted(till, "pm_card_visa").await;
        let unknown = (0..500).map(|n| payment(&format!("pay_{n}"), PaymentState::Unknown));
        till.store.commit(unknown.map(|row| dropleaf_store::payments::insert(&row)).collect()).await.unwrap();
        let error = fails(till, &token).await;
        assert_eq!(error.code, Code::ProcessorUnavailable);
        assert!(error.retry_after.is_some() && error.detail.contains("Nothing was charged"), "{error}");
        assert!(till.processor.keys().is_empty(), "the processor is not asked");
        assert_eq!((till.till.count("SELECT COUNT(*) FROM payments").await, keys(till).await), (500, 0));
        till.till.exec("UPDATE payments SET state = 'refused' WHERE id = 'pay_7'").await;
        send(till, &token, None).await.unwrap();
        assert_eq!(keys(till).await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_not_taken_is_released_and_can_be_sent_again() {
    let unauthorized = "{\"error\":{\"type\":\"invalid_request_error\"}}";
    let unknown_parameter = "{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"parameter_unknown\"}}";
    at_each_card_till(async |till| {
        let mut bought = 0;
        for (status, body) in [(401, unauthorized), (403, unauthorized), (401, ""), (400, unknown_parameter)]
        {
            let token = granted(till, "pm_card_visa").await;
            for _ in 0..2 {
                till.processor.next([CardFault::Says(status, body)]);
                let error = fails(till, &token).await;
                assert_eq!(error.code, Code::ProcessorUnavailable, "{status}");
                assert!(error.detail.contains("nothing was charged"), "{error}");
            }
            assert_eq!(till.till.count("SELECT COUNT(*) FROM payments WHERE state = 'unknown'").await, 0);
            assert_eq!(till.app().recover_payments().await.unwrap(), 0);
            // The operator corrected the key.
            let paid = send(till, &token, None).await.unwrap();
            bought += 1;
            assert_eq!((paid.payment.state, keys(till).await), (PaymentState::Fulfilled, bought));
        }
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_becomes_wrong_after_an_unclear_charge_decides_nothing() {
    at_each_card_till(async |till| {
        let token = granted(till, "pm_card_visa").await;
        till.processor.next([CardFault::DoesAndIsLost, CardFault::Says(401, "")]);
        for _ in 0..2 {
            assert_eq!(fails(till, &token).await.code, Code::SettlementUnknown);
            assert_eq!(only_payment(till).await.state, PaymentState::Unknown);
        }
        send(till, &token, None).await.unwrap();
        assert_eq!(keys(till).await, 1);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_waits_for_the_cardholder_is_canceled() {
    at_each_card_till(async |till| {
        let token = granted(till, CONFIRMED).await;
        for _ in 0..2 {
            let refused = refused(till, &token).await;
            assert_eq!(refused.reason, "payment_action_required");
            assert!(refused.sentence.contains("Nothing was charged"), "{}", refused.sentence);
        }
        let payment = only_payment(till).await;
        assert_eq!(payment.state, PaymentState::Refused);
        let intent = payment.transaction.expect("it is recorded");
        assert_eq!(intent_state(till, &intent).await, "canceled");
        till.check_nothing_sold().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_without_an_answer_is_repeated() {
    at_each_card_till(async |till| {
        for fault in [
            CardFault::Unreachable,
            CardFault::Says(500, "{}"),
            CardFault::DoesAndIsLost,
            CardFault::DoesAndSays(503),
            CardFault::Says(200, "null"),
        ] {
            till.till.exec("DELETE FROM payments").await;
            let token = granted(till, CONFIRMED).await;
            till.processor.next([CardFault::Bends(|_| {}), fault.clone()]);
            assert_eq!(fails(till, &token).await.code, Code::SettlementUnknown, "{fault:?}");
            let payment = only_payment(till).await;
            assert!(payment.state == PaymentState::Unknown && payment.transaction.is_some(), "{fault:?}");
            till.till.clock.advance(60);
            assert_eq!(till.app().recover_payments().await.unwrap(), 1, "{fault:?}");
            let payment = only_payment(till).await;
            assert_eq!(payment.state, PaymentState::Refused, "{fault:?}");
            assert_eq!(intent_state(till, &payment.transaction.unwrap()).await, "canceled", "{fault:?}");
        }
        till.check_nothing_sold().await;
    })
    .await;
}

/// The answer of a processor where the cardholder has confirmed meanwhile.
fn has_succeeded(intent: &mut Value) {
    intent["status"] = json!("succeeded");
    intent["amount_received"] = json!(100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_succeeded_before_it_was_canceled_is_delivered() {
    let too_late =
        "{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"payment_intent_unexpected_state\"}}";
    at_each_card_till(async |till| {
        for faults in [
            vec![CardFault::Bends(|_| {}), CardFault::Bends(has_succeeded)],
            vec![CardFault::Bends(|_| {}), CardFault::Says(400, too_late), CardFault::Bends(has_succeeded)],
        ] {
            let before = keys(till).await;
            let token = granted(till, CONFIRMED).await;
            till.processor.next(faults);
            let paid = send(till, &token, None).await.unwrap();
            assert_eq!((paid.payment.state, keys(till).await), (PaymentState::Fulfilled, before + 1));
        }
        till.check_ledger().await;
    })
    .await;
}

/// A payment that was refused because it waits for the cardholder, and that the processor did not cancel: its token and intent.
pub(super) async fn left_open(till: &CardTill) -> (SharedPaymentToken, String) {
    let refuses = "{\"error\":{\"type\":\"invalid_request_error\"}}";
    let token = granted(till, CONFIRMED).await;
    till.processor.next([CardFault::Bends(|_| {}), CardFault::Says(403, refuses)]);
    assert_eq!(refused(till, &token).await.reason, "payment_action_required");
    let intent = only_payment(till).await.transaction.unwrap();
    assert_eq!(intent_state(till, &intent).await, "requires_action");
    (token, intent)
}

/// The event that reports the success of a payment of 100 cents.
pub(super) fn success_of(intent: &str) -> String {
    let object = json!({
        "id": intent, "object": "payment_intent", "status": "succeeded", "amount": 100, "amount_received": 100,
        "currency": "usd", "livemode": true, "latest_charge": "ch_1", "metadata": {},
    });
    let event = json!({
        "id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "created": 1, "livemode": true,
        "data": {"object": object},
    });
    event.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_could_not_be_canceled_and_succeeds_later_is_delivered() {
    at_each_card_till(async |till| {
        let (token, intent) = left_open(till).await;
        for _ in 0..2 {
            // The refunds, then the payment.
            till.processor.next([CardFault::Bends(|_| {}), CardFault::Bends(has_succeeded)]);
            till.deliver_body(&success_of(&intent)).await.unwrap();
        }
        assert_eq!(only_payment(till).await.state, PaymentState::Fulfilled);
        let paid = send(till, &token, None).await.unwrap();
        assert!(paid.is_replay && keys(till).await == 1, "its sender gets the key");
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_told_apart_and_stay_the_same_when_repeated() {
    at_each_card_till(async |till| {
        for (status, body, reason, who) in [
            (400, r#"{"error":{"type":"invalid_request_error"}}"#, "token_refused", "accept this token"),
            (
                404,
                r#"{"error":{"type":"invalid_request_error","code":"resource_missing"}}"#,
                "token_refused",
                "accept this token",
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","code":"amount_too_small"}}"#,
                "request_refused",
                "accept this charge",
            ),
            (
                402,
                r#"{"error":{"type":"card_error","code":"card_declined","decline_code":"lost_card"}}"#,
                "lost_card",
                "bank declined",
            ),
            (
                402,
                r#"{"error":{"type":"card_error","code":"authentication_required"}}"#,
                "authentication_required",
                "cardholder to confirm",
            ),
        ] {
            let token = granted(till, "pm_card_visa").await;
            till.processor.next([CardFault::Says(status, body)]);
            for _ in 0..2 {
                let refused = refused(till, &token).await;
                assert_eq!(refused.reason, reason, "{body}");
                assert!(refused.sentence.contains(who), "{reason}: {}", refused.sentence);
            }
        }
        till.check_nothing_sold().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_buys_one_key_with_one_token() {
    at_each_card_till(async |till| {
        let (first, second) = (granted(till, "pm_card_visa").await, granted(till, "pm_card_visa").await);
        for key in ["my agent", "a key of more than sixteen characters"] {
            let before = keys(till).await;
            let (token, other) = (granted(till, "pm_card_visa").await, granted(till, "pm_card_visa").await);
            send(till, &token, Some(key)).await.unwrap();
            for _ in 0..2 {
                match send(till, &other, Some(key)).await {
                    Err(PayError::Failed(error)) => assert_eq!(error.code, Code::IdempotencyMismatch),
                    wrong => panic!("{wrong:?}"),
                }
            }
            assert!(send(till, &token, Some(key)).await.unwrap().is_replay, "the same request");
            assert_eq!(keys(till).await, before + 1);
            send(till, &other, Some(&format!("{key} 2"))).await.unwrap();
            assert_eq!(keys(till).await, before + 2);
        }
        // At once, on two nodes.
        let before = keys(till).await;
        let node = till.beside().await;
        let both = futures_util::future::join(
            send(till, &first, Some("at once")),
            send(&node, &second, Some("at once")),
        );
        let (one, two) = both.await;
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        assert_eq!(keys(till).await, before + 1);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_decline_another_token_may_use_the_idempotency_key() {
    at_each_card_till(async |till| {
        let (bad, good) =
            (granted(till, "pm_card_visa_chargeDeclined").await, granted(till, "pm_card_visa").await);
        assert!(matches!(send(till, &bad, Some("one")).await, Err(PayError::Refused(_))));
        send(till, &good, Some("one")).await.unwrap();
        assert_eq!(keys(till).await, 1);
    })
    .await;
}

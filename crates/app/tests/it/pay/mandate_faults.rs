//! Mandates with a card processor that declines, fails, stalls or lies: no key without the money, and no second charge.

use crate::harness::card_till::at_each_card_till;
use crate::harness::mandate_signer::{mandate, pay, refused};
use crate::harness::till::{failed, key};
use crate::harness::{CardFault, DAY};
use dropleaf_app::Resolution;
use dropleaf_core::Code;
use dropleaf_core::payment::PaymentState;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_mandate_costs_nothing_and_stays_declined() {
    at_each_card_till(async |till| {
        for (card, reason) in [
            ("chargeDeclined", "generic_decline"),
            ("chargeDeclinedInsufficientFunds", "insufficient_funds"),
            ("chargeDeclinedExpiredCard", "expired_card"),
            ("chargeDeclinedIncorrectCvc", "incorrect_cvc"),
            ("chargeDeclinedProcessingError", "processing_error"),
            ("authenticationRequired", "payment_action_required"),
        ] {
            let body = mandate(till.app(), &format!("spt_test_{card}_1"));
            for _ in 0..2 {
                assert_eq!(refused(pay(till.app(), &body).await), reason);
            }
        }
        // The processor does not know it.
        refused(pay(till.app(), &mandate(till.app(), "spt_unknown")).await);
        till.check_keys_sold(0).await;
        assert_eq!(till.till.count("SELECT COUNT(*) FROM payments WHERE state <> 'refused'").await, 0);
        assert_eq!(till.till.count("SELECT COUNT(*) FROM payments WHERE ask IS NOT NULL").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unclear_answer_is_unknown_and_the_same_mandate_finishes_it() {
    at_each_card_till(async |till| {
        let faults = [
            CardFault::Unreachable,
            CardFault::Says(500, "{}"),
            CardFault::Says(503, "<html>"),
            CardFault::Says(429, "{\"error\":{\"type\":\"rate_limit_error\"}}"),
            CardFault::Says(200, "{}"),
            CardFault::Says(200, "null"),
            CardFault::DoesAndSays(500),
            CardFault::DoesAndIsLost,
        ];
        for (at, fault) in faults.into_iter().enumerate() {
            let what = format!("{fault:?}");
            let body = mandate(till.app(), &format!("spt_test_visa_{at}"));
            till.processor.next([fault]);
            failed(pay(till.app(), &body).await, Code::SettlementUnknown);
            let unknown = "SELECT COUNT(*) FROM payments WHERE state = 'unknown'";
            assert_eq!(till.till.count(unknown).await, 1, "{what}: the operator sees it");
            let first = pay(till.app(), &body).await.unwrap();
            assert_eq!(key(&pay(till.app(), &body).await.unwrap()), key(&first), "{what}");
            let keys = till.processor.keys();
            let [.., earlier, later] = keys.as_slice() else { panic!("two requests") };
            assert_eq!(earlier, later, "{what}: the same idempotency key");
            till.check_keys_sold(i64::try_from(at).unwrap() + 1).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mandate_that_the_processor_did_not_take_can_be_sent_again() {
    at_each_card_till(async |till| {
        let body = mandate(till.app(), "spt_test_visa_1");
        for _ in 0..2 {
            till.processor.next([CardFault::Says(401, "{\"error\":{\"type\":\"invalid_request_error\"}}")]);
            failed(pay(till.app(), &body).await, Code::ProcessorUnavailable);
            assert_eq!(till.till.count("SELECT COUNT(*) FROM payments WHERE state <> 'refused'").await, 0);
        }
        // The operator corrected the key.
        let first = pay(till.app(), &body).await.unwrap();
        assert_eq!(key(&pay(till.app(), &body).await.unwrap()), key(&first));
        till.check_keys_sold(1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_processor_that_lies_delivers_nothing() {
    at_each_card_till(async |till| {
        type Lie = fn(&mut serde_json::Value);
        let lies: [(&str, Lie); 4] = [
            ("less", |intent| intent["amount_received"] = json!(99)),
            ("another currency", |intent| intent["currency"] = json!("eur")),
            ("another purchase", |intent| intent["metadata"]["request_id"] = json!("pay_other")),
            ("not yet", |intent| intent["status"] = json!("processing")),
        ];
        for (at, (what, lie)) in lies.into_iter().enumerate() {
            let body = mandate(till.app(), &format!("spt_test_visa_{at}"));
            till.processor.next([CardFault::Bends(lie)]);
            failed(pay(till.app(), &body).await, Code::SettlementUnknown);
            assert_eq!(
                till.till.count("SELECT COUNT(*) FROM api_keys").await,
                i64::try_from(at).unwrap(),
                "{what}"
            );
            // It says the truth when it is asked again.
            pay(till.app(), &body).await.unwrap();
            till.check_keys_sold(i64::try_from(at).unwrap() + 1).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_decides_on_a_mandate_whose_charge_stays_unclear() {
    at_each_card_till(async |till| {
        for is_paid in [true, false] {
            let body = mandate(till.app(), &format!("spt_test_visa_{is_paid}"));
            till.processor.next([CardFault::Unreachable]);
            failed(pay(till.app(), &body).await, Code::SettlementUnknown);
            till.till.clock.advance(DAY);
            let open = till.app().list_payments(Some(PaymentState::Unknown), 10).await.unwrap();
            let [payment] = open.as_slice() else { panic!("one payment: {open:?}") };
            let resolution = if is_paid {
                Resolution::Settled { transaction: "pi_found".into() }
            } else {
                Resolution::NotSettled { reason: "Not in the dashboard".into() }
            };
            till.app().resolve_payment("ada", &payment.id, resolution).await.unwrap();
            if is_paid {
                key(&pay(till.app(), &body).await.unwrap());
            } else {
                assert_eq!(refused(pay(till.app(), &body).await), "refused");
            }
        }
        assert_eq!(till.till.count("SELECT COUNT(*) FROM api_keys").await, 1);
        till.check_ledger().await;
    })
    .await;
}

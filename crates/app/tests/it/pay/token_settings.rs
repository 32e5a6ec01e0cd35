//! Shared payment tokens after a change of the settings: what was charged under the old ones is never denied.

use super::token_faults::{fails, granted, keys, left_open, only_payment, send, success_of};
use crate::harness::CardFault;
use crate::harness::card_till::{CardTill, at_each_card_till};
use dropleaf_core::Code;
use dropleaf_core::payment::PaymentState;
use serde_json::json;

/// The same service after a restart without a card processor, or with a price that no card is charged.
async fn restarted(till: &CardTill, has_processor: bool) -> CardTill {
    let changed = till.till.beside_with(|config| {
        let payments = config.settings.payments.as_mut().unwrap();
        if has_processor {
            payments.prices.provision = 400_000;
        } else {
            payments.cards = None;
            config.card_processor = None;
        }
    });
    CardTill { till: changed.await, processor: till.processor.clone(), store: till.store.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn charged_token_is_delivered_where_no_further_token_is_charged() {
    at_each_card_till(async |till| {
        let token = granted(till, "pm_card_visa").await;
        let bought = send(till, &token, None).await.unwrap();
        for has_processor in [true, false] {
            let after = restarted(till, has_processor).await;
            let again = send(&after, &token, None).await.unwrap();
            assert!(again.is_replay && again.payment.id == bought.payment.id);
            let other = granted(till, "pm_card_visa").await;
            let error = fails(&after, &other).await;
            assert_eq!(error.code, Code::RailNotLive);
            assert!(error.detail.contains("Nothing was charged"), "{error}");
            after.app().close().await;
        }
        assert_eq!(keys(till).await, 1);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unclear_payment_stays_unclear_without_a_processor() {
    at_each_card_till(async |till| {
        let token = granted(till, "pm_card_visa").await;
        till.processor.next([CardFault::DoesAndIsLost]);
        assert_eq!(fails(till, &token).await.code, Code::SettlementUnknown);
        let after = restarted(till, false).await;
        till.till.clock.advance(60);
        assert_eq!(fails(&after, &token).await.code, Code::SettlementUnknown);
        assert_eq!(only_payment(till).await.state, PaymentState::Unknown);
        after.app().close().await;
        send(till, &token, None).await.unwrap();
        assert_eq!(keys(till).await, 1);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payment_that_the_processor_no_longer_knows_is_not_refused() {
    let missing = "{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"resource_missing\"}}";
    at_each_card_till(async |till| {
        let token = granted(till, "pm_card_stalled").await;
        assert_eq!(fails(till, &token).await.code, Code::SettlementUnknown);
        let intent = only_payment(till).await.transaction.expect("it has an id");
        // The settings name another account of the processor.
        till.processor.next([CardFault::Says(404, missing)]);
        till.till.clock.advance(60);
        assert_eq!(fails(till, &token).await.code, Code::SettlementUnknown);
        let payment = only_payment(till).await;
        assert_eq!((payment.state, payment.transaction), (PaymentState::Unknown, Some(intent)));
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_payment_that_succeeds_after_its_refund_buys_nothing() {
    at_each_card_till(async |till| {
        let (_, intent) = left_open(till).await;
        let event = success_of(&intent);
        // Without an answer about the refunds the event is not accepted, so the processor repeats it.
        till.processor.next([CardFault::Unreachable]);
        till.deliver_body(&event).await.unwrap_err();
        let refund = json!({
            "id": "re_1", "object": "refund", "amount": 100, "currency": "usd", "status": "succeeded",
            "payment_intent": intent,
        });
        let refunds = json!({ "object": "list", "data": [refund], "has_more": false, "url": "/v1/refunds" });
        till.processor.next([CardFault::Says(200, refunds.to_string().leak())]);
        till.deliver_body(&event).await.unwrap();
        assert_eq!(only_payment(till).await.state, PaymentState::Refused);
        till.check_nothing_sold().await;
    })
    .await;
}

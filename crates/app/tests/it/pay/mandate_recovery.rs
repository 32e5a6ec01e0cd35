//! Mandates after a crash: the next start finishes what was reserved, without the client and without a second charge.

use crate::harness::CardFault;
use crate::harness::card_till::{CardTill, at_each_card_till};
use crate::harness::mandate_signer::{VISA_TOKEN, mandate, pay};
use crate::harness::till::{failed, key};
use dropleaf_core::Code;
use dropleaf_core::payment::PaymentState;
use serde_json::Value;

const LEASE: i64 = 30;

/// A process that is killed while it waits for the processor, which has charged the token.
async fn killed_while_charging(till: &CardTill) -> Value {
    let body = mandate(till.app(), VISA_TOKEN);
    till.processor.next([CardFault::DoesAndWaits]);
    {
        let waiting = pay(till.app(), &body);
        tokio::pin!(waiting);
        tokio::select! {
            _ = &mut waiting => panic!("it has no answer"),
            () = till.processor.stalled() => {}
        }
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_charging_it_is_finished_once_after_the_restart() {
    at_each_card_till(async |till| {
        let body = killed_while_charging(till).await;
        assert_eq!(till.till.states().await, ["settling"]);
        assert_eq!(till.till.count("SELECT COUNT(*) FROM api_keys").await, 0);
        let after = till.beside().await;
        failed(pay(after.app(), &body).await, Code::PaymentInFlight);
        assert_eq!(after.app().recover_payments().await.unwrap(), 0, "another process may hold it");
        // Longer than the mandate and its transaction are valid.
        till.till.clock.advance(3600);
        assert_eq!(after.app().recover_payments().await.unwrap(), 1);
        assert_eq!(after.app().recover_payments().await.unwrap(), 0);
        after.check_keys_sold(1).await;
        let first = key(&pay(after.app(), &body).await.unwrap());
        assert_eq!(key(&pay(after.app(), &body).await.unwrap()), first, "not delivered before");
        after.check_keys_sold(1).await;
        after.till.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_charging_the_same_mandate_takes_over() {
    at_each_card_till(async |till| {
        let body = killed_while_charging(till).await;
        till.till.clock.advance(LEASE);
        pay(till.app(), &body).await.unwrap();
        till.check_keys_sold(1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_charging_it_is_charged_once_after_the_restart() {
    at_each_card_till(async |till| {
        let body = mandate(till.app(), VISA_TOKEN);
        till.processor.next([CardFault::Unreachable]);
        failed(pay(till.app(), &body).await, Code::SettlementUnknown);
        // As the reservation left it.
        till.till.exec("UPDATE payments SET state = 'verified', attempts = 0, reason = NULL, held_until = created_at").await;
        let after = till.beside().await;
        after.app().release_payment_leases().await.unwrap();
        assert_eq!(after.app().recover_payments().await.unwrap(), 1);
        after.check_keys_sold(1).await;
        pay(after.app(), &body).await.unwrap();
        after.check_keys_sold(1).await;
        after.till.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_fulfilment_the_key_is_created_after_the_restart() {
    at_each_card_till(async |till| {
        let body = mandate(till.app(), VISA_TOKEN);
        till.till.exec("ALTER TABLE api_keys RENAME TO api_keys_away").await;
        failed(pay(till.app(), &body).await, Code::PaidNotSaved);
        till.till.exec("ALTER TABLE api_keys_away RENAME TO api_keys").await;
        assert_eq!(till.till.states().await, ["settled"]);
        till.till.clock.advance(LEASE);
        let after = till.beside().await;
        assert_eq!(after.app().recover_payments().await.unwrap(), 1);
        pay(after.app(), &body).await.unwrap();
        after.check_keys_sold(1).await;
        after.till.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_that_stays_unclear_is_left_to_the_operator() {
    at_each_card_till(async |till| {
        let body = mandate(till.app(), VISA_TOKEN);
        till.processor.next([CardFault::Unreachable, CardFault::Unreachable]);
        failed(pay(till.app(), &body).await, Code::SettlementUnknown);
        till.till.clock.advance(23 * 3600);
        // The processor may have forgotten the idempotency key.
        till.app().recover_payments().await.unwrap();
        failed(pay(till.app(), &body).await, Code::SettlementUnknown);
        let open = till.app().list_payments(Some(PaymentState::Unknown), 10).await.unwrap();
        assert_eq!(open.len(), 1);
        till.check_keys_sold(0).await;
    })
    .await;
}

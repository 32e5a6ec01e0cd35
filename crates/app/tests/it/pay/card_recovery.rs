//! Card payments with several nodes, after crashes, and without polls and events: each is recorded once and fulfilled once.

use crate::harness::card_till::{CardTill, Sold, VISA, at_each_card_till};
use crate::harness::{CardFault, DAY};
use dropleaf_core::pay_session::{BEGIN_SECONDS, FORM_SECONDS, Feature, PaySessionState};
use dropleaf_core::payment::PaymentState;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::stripe::sandbox::{STALLED_CARD, StepKind};
use futures_util::future::{BoxFuture, join_all};

const LEASE: i64 = 30;

/// A payment that was recorded by a process that was killed before it could fulfil it.
async fn killed_before_fulfilment(till: &CardTill) -> Sold {
    let sold = till.sell_key().await;
    till.pay(&sold, VISA).await;
    till.till.exec("ALTER TABLE api_keys RENAME TO api_keys_away").await;
    let polled = till.poll(&sold).await;
    assert!(polled.state == PaySessionState::Pending && polled.key.is_none());
    till.till.exec("ALTER TABLE api_keys_away RENAME TO api_keys").await;
    // A killed process does not give up its lease.
    till.till.exec("UPDATE payments SET held_until = created_at + 30 WHERE state = 'settled'").await;
    assert_eq!(till.payment(&sold).await.state, PaymentState::Settled);
    sold
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_fulfilment_it_is_fulfilled_once_after_the_restart() {
    at_each_card_till(async |till| {
        let sold = killed_before_fulfilment(till).await;
        let after = till.beside().await;
        // Another process may still hold it.
        assert_eq!(after.app().recover_payments().await.unwrap(), 0);
        assert_eq!(after.poll(&sold).await.state, PaySessionState::Pending);
        till.till.clock.advance(LEASE);
        assert_eq!(after.app().recover_payments().await.unwrap(), 1);
        assert_eq!(after.app().recover_payments().await.unwrap(), 0);
        assert_eq!(after.session(&sold).await.state, PaySessionState::Completed);
        after.check_key_once(&sold).await;
        assert_eq!(after.balance(&sold).await, 500);
        assert_eq!(till.till.count("SELECT COUNT(*) FROM api_keys").await, 1);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn polling_takes_over_what_a_killed_process_left() {
    at_each_card_till(async |till| {
        let sold = killed_before_fulfilment(till).await;
        till.till.clock.advance(LEASE);
        till.check_key_once(&sold).await;
        assert_eq!(till.app().recover_payments().await.unwrap(), 0);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_server_that_is_alone_does_not_wait_for_the_lease() {
    let till = CardTill::open(&crate::harness::Database::Sqlite).await;
    let sold = killed_before_fulfilment(&till).await;
    let after = till.beside().await;
    after.app().release_payment_leases().await.unwrap();
    assert_eq!(after.app().recover_payments().await.unwrap(), 1);
    after.check_key_once(&sold).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_fulfilment_the_key_is_still_delivered() {
    at_each_card_till(async |till| {
        let sold = till.sell_key().await;
        let (_, events) = till.pay(&sold, VISA).await;
        for event in &events {
            till.deliver(event).await.unwrap();
        }
        assert_eq!(till.payment(&sold).await.delivered_at, None, "an event delivers no key");
        let after = till.beside().await;
        assert_eq!(after.app().recover_payments().await.unwrap(), 0);
        after.check_key_once(&sold).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_waited_for_a_killed_process_is_applied_by_the_recovery() {
    at_each_card_till(async |till| {
        let sold = killed_before_fulfilment(till).await;
        for event in till.step(&sold, StepKind::Refund { amount: Some(200) }).await {
            till.deliver(&event).await.unwrap();
        }
        assert_eq!(till.payment(&sold).await.refunded_minor, 0);
        till.till.clock.advance(LEASE);
        let after = till.beside().await;
        assert_eq!(after.app().recover_payments().await.unwrap(), 1);
        after.app().recover_pay_sessions().await.unwrap();
        assert_eq!(after.payment(&sold).await.refunded_minor, 200);
        assert_eq!(after.balance(&sold).await, 300);
        assert_eq!(till.till.count("SELECT COUNT(*) FROM processor_events").await, 0);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_was_refunded_before_anything_was_delivered_buys_nothing() {
    at_each_card_till(async |till| {
        let sold = killed_before_fulfilment(till).await;
        till.till.clock.advance(LEASE);
        for event in till.step(&sold, StepKind::Refund { amount: None }).await {
            till.deliver(&event).await.unwrap();
        }
        assert_eq!(till.payment(&sold).await.state, PaymentState::Refunded);
        for _ in 0..2 {
            let polled = till.poll(&sold).await;
            assert!(polled.state == PaySessionState::Failed && polled.key.is_none());
        }
        assert_eq!(till.app().recover_payments().await.unwrap(), 0);
        till.check_nothing_sold().await;
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_and_events_on_two_nodes_at_once_are_one_payment_and_one_key() {
    at_each_card_till(async |till| {
        let other = till.beside().await;
        for round in 1..=4 {
            let sold = till.sell_key().await;
            let (_, events) = till.pay(&sold, VISA).await;
            till.till.clock.advance(2);
            let (mut polls, mut deliveries): (Vec<BoxFuture<'_, usize>>, Vec<BoxFuture<'_, ()>>) =
                (Vec::new(), Vec::new());
            for node in [till, &other].repeat(5) {
                let (code, events) = (&sold.code, &events);
                polls.push(Box::pin(async move {
                    usize::from(node.app().poll_pay_session(code).await.unwrap().key.is_some())
                }));
                deliveries.push(Box::pin(async move {
                    for event in events {
                        node.deliver(event).await.unwrap();
                    }
                }));
            }
            let (keys, _) = tokio::join!(join_all(polls), join_all(deliveries));
            // A node that found the payment held by the other leaves it to that one.
            let mut keys: usize = keys.iter().sum();
            keys += usize::from(till.poll(&sold).await.key.is_some());
            keys += usize::from(other.poll(&sold).await.key.is_some());
            assert_eq!(keys, 1);
            assert_eq!(till.till.count("SELECT COUNT(*) FROM payments").await, round);
            assert_eq!(till.till.count("SELECT COUNT(*) FROM api_keys").await, round);
            assert_eq!(till.balance(&sold).await, 500);
        }
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_session_is_completed_without_polls_and_events() {
    at_each_card_till(async |till| {
        let account = till.app().create_account("a@example.org", Some("free"), false).await.unwrap();
        let paid = till.sell(Feature::Topup, 1000, Some(&account)).await;
        let open = till.sell_key().await;
        let stalled = till.sell_key().await;
        till.pay(&paid, VISA).await;
        till.pay(&stalled, STALLED_CARD).await;
        assert_eq!(till.app().recover_pay_sessions().await.unwrap(), 0, "they were just opened");
        till.till.clock.advance(61);
        // One that cannot be checked does not stop the others. They are checked at the same time, so it may be any of them.
        till.processor.next([CardFault::Unreachable]);
        assert_eq!(till.app().recover_pay_sessions().await.unwrap(), 3);
        till.till.clock.advance(61);
        let undecided = till.app().recover_pay_sessions().await.unwrap();
        assert!((2..=3).contains(&undecided), "{undecided}");
        till.till.clock.advance(61);
        assert_eq!(till.session(&paid).await.state, PaySessionState::Completed);
        assert_eq!(till.balance(&paid).await, 1000);
        assert_eq!(till.session(&open).await.state, PaySessionState::Pending);
        assert_eq!(till.session(&stalled).await.state, PaySessionState::Processing);
        till.till.clock.advance(BEGIN_SECONDS + FORM_SECONDS);
        till.step(&stalled, StepKind::FailFunds).await;
        assert_eq!(till.app().recover_pay_sessions().await.unwrap(), 2);
        assert_eq!(till.session(&open).await.state, PaySessionState::Expired);
        assert_eq!(till.session(&stalled).await.state, PaySessionState::Failed);
        till.till.clock.advance(61);
        assert_eq!(till.app().recover_pay_sessions().await.unwrap(), 0, "all are decided");
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_for_an_expired_session_still_counts() {
    at_each_card_till(async |till| {
        let (by_poll, by_event) = (till.sell_key().await, till.sell_key().await);
        till.till.clock.advance(BEGIN_SECONDS + 1);
        for sold in [&by_poll, &by_event] {
            assert_eq!(till.poll(sold).await.state, PaySessionState::Pending, "the form is open for longer");
            assert!(till.open_form(sold).await.unwrap().ends_with(&sold.form));
        }
        till.pay(&by_poll, VISA).await;
        let (_, events) = till.pay(&by_event, VISA).await;
        till.till.exec("UPDATE pay_sessions SET state = 'expired'").await;
        till.check_key_once(&by_poll).await;
        for event in &events {
            till.deliver(event).await.unwrap();
        }
        till.check_key_once(&by_event).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_that_the_account_has_by_then_becomes_credit() {
    at_each_card_till(async |till| {
        let account = till.app().create_account("a@example.org", Some("free"), false).await.unwrap();
        let unlock = Feature::Unlock(Sku::MakePermanent);
        let (first, second) =
            (till.sell(unlock, 250, Some(&account)).await, till.sell(unlock, 200, Some(&account)).await);
        till.pay(&first, VISA).await;
        till.pay(&second, VISA).await;
        assert_eq!(till.poll(&first).await.state, PaySessionState::Completed);
        assert_eq!(till.balance(&first).await, 50);
        assert_eq!(till.poll(&second).await.state, PaySessionState::Completed);
        assert_eq!(till.balance(&second).await, 250);
        for event in till.step(&second, StepKind::Refund { amount: None }).await {
            till.deliver(&event).await.unwrap();
        }
        assert_eq!(till.balance(&second).await, 50);
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweep_deletes_old_sessions_and_no_others() {
    at_each_card_till(async |till| {
        let untouched = till.create(Feature::Provision, 600, None).await;
        let (open, paid, stalled) = (till.sell_key().await, till.sell_key().await, till.sell_key().await);
        till.pay(&paid, VISA).await;
        till.pay(&stalled, STALLED_CARD).await;
        assert_eq!(till.poll(&paid).await.state, PaySessionState::Completed);
        assert_eq!(till.poll(&stalled).await.state, PaySessionState::Processing);
        let left = async |sold: &Sold| {
            till.app().sweep().await.unwrap();
            till.app().poll_pay_session(&sold.code).await.is_ok()
        };
        till.till.clock.advance(BEGIN_SECONDS + DAY - 4);
        assert!(left(&untouched).await);
        till.till.clock.advance(4);
        assert!(!left(&untouched).await, "a day after its end");
        for sold in [&open, &paid, &stalled] {
            assert!(left(sold).await);
        }
        till.till.clock.advance(89 * DAY);
        assert!(!left(&open).await && !left(&paid).await);
        assert!(left(&stalled).await, "its money may still arrive");
        till.check_ledger().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_fails_before_anything_was_delivered_leaves_a_payment_to_fulfil() {
    at_each_card_till(async |till| {
        let sold = killed_before_fulfilment(till).await;
        till.till.clock.advance(LEASE);
        for event in till.step(&sold, StepKind::Refund { amount: None }).await {
            till.deliver(&event).await.unwrap();
        }
        assert_eq!(till.payment(&sold).await.state, PaymentState::Refunded);
        for event in till.step(&sold, StepKind::FailRefund).await {
            till.deliver(&event).await.unwrap();
        }
        assert_eq!(till.payment(&sold).await.state, PaymentState::Settled);
        till.till.clock.advance(3600);
        assert_eq!(till.app().recover_payments().await.unwrap(), 1);
        till.app().recover_pay_sessions().await.unwrap();
        till.check_key_once(&sold).await;
        assert_eq!((till.payment(&sold).await.refunded_minor, till.balance(&sold).await), (0, 500));
        assert_eq!(till.till.count("SELECT COUNT(*) FROM processor_events").await, 0);
        till.check_ledger().await;
    })
    .await;
}

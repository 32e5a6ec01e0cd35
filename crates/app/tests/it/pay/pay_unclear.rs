//! Ambiguous outcomes: concurrent requests, earlier refusals, and chains that can or cannot be queried.
//! x402 §8.2, §8.3.

use crate::harness::till::{HTML, PRICE, Till, at_each_till, failed, page};
use crate::harness::{Call, Database, Fault};
use dropleaf_app::PayError;
use dropleaf_core::Code;
use dropleaf_core::payment::{Item, PaymentState};
use dropleaf_store::payments;

const USED: &str = r#"{"success":false,"errorReason":"invalid_exact_evm_nonce_already_used","transaction":"","network":"eip155:8453"}"#;
const POOR: &str =
    r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#;
/// What the reference facilitators answer when sending failed, although it may have been sent.
const THREW: &str = r#"{"success":false,"errorReason":"invalid_exact_evm_transaction_failed","transaction":"","network":"eip155:8453"}"#;
const HOLD: i64 = 30;
const COME_BACK: i64 = 10;

#[tokio::test]
async fn a_transaction_that_failed_without_a_name_may_have_been_sent() {
    at_each_till(async |till| {
        let threw = Fault::does_and_says(200, THREW);
        till.fake.next(Call::Settle, [threw.clone(), threw]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
        till.clock.advance(COME_BACK);
        till.check_one_page(&till.publish_html(sign(till, 1), HTML).await.unwrap()).await;
    })
    .await;
}

/// Signed at the start of the test.
fn sign(till: &Till, nonce: u8) -> dropleaf_pay::Proof {
    till.purse.sign(&till.terms(Item::Publish), nonce, crate::harness::NOW)
}

#[tokio::test]
async fn what_one_has_heard_is_noted_though_another_has_taken_the_payment_over() {
    at_each_till(async |till| {
        let other = till.beside().await;
        till.fake.forgets();
        till.fake.next(Call::Settle, [Fault::DoesAndWaits]);
        let slow = till.publish(1);
        let meanwhile = async {
            till.fake.stalled().await;
            till.clock.advance(HOLD);
            // The other node only learns that it was used, which is ambiguous.
            assert_eq!(other.app.recover_payments().await.unwrap(), 0);
            assert_eq!(other.states().await, ["unknown"]);
            till.fake.let_go();
        };
        let (bought, ()) = tokio::join!(slow, meanwhile);
        till.check_one_page(&bought.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn a_payment_that_was_refused_once_is_not_refused_again_because_it_was_used() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, POOR)]);
        assert!(matches!(till.publish(1).await, Err(PayError::Refused(_))));
        // It was submitted anyway, or is now, and the response is lost.
        till.fake.next(Call::Settle, [Fault::does_and_says(200, USED)]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
        till.clock.advance(COME_BACK);
        till.check_one_page(&till.publish_html(sign(till, 1), HTML).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn a_used_nonce_is_looked_for_where_one_can_look() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.next(Call::Settle, [Fault::says(200, USED)]);
        // The chain does not show it yet; it may be behind.
        failed(till.publish(1).await, Code::SettlementUnknown);

        // A chain that does not answer has not denied it.
        till.fake.is_blind(true);
        till.fake.next(Call::Settle, [Fault::does_and_says(200, USED)]);
        let proof = till.sign(Item::Publish, 2);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        till.fake.is_blind(false);
        till.fake.forgets();
        till.clock.advance(COME_BACK);
        till.publish_html(proof, HTML).await.unwrap();
        assert_eq!(till.fake.moved(), PRICE);
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled'").await, 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_look_at_the_chain_keeps_the_payment_in_the_hands_of_who_looks() {
    let till = Till::open(&Database::Sqlite).await;
    let other = till.beside().await;
    till.fake.sees_the_chain();
    till.fake.looks_slowly();
    till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes]);
    let slow = till.publish(1);
    let meanwhile = async {
        assert_eq!(till.fake.stalled().await, Call::Trace);
        till.hold_is_renewed(3).await;
        assert_eq!(other.app.recover_payments().await.unwrap(), 0);
        failed(other.publish_html(sign(&other, 1), HTML).await, Code::PaymentInFlight);
        till.fake.let_go();
    };
    let (bought, ()) = tokio::join!(slow, meanwhile);
    till.check_one_page(&bought.unwrap()).await;
}

#[tokio::test]
async fn whoever_asks_again_and_again_is_answered_without_asking() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, vec![Fault::Closes; 10]);
        let proof = till.sign(Item::Publish, 1);
        // Immediate retries call settle again, a few times; the first attempt calls it twice.
        for asks in [2, 3, 4, 5, 6] {
            failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            assert_eq!(till.fake.calls(Call::Settle), asks);
        }
        for _ in 0..3 {
            let error = failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            assert_eq!(error.retry_after, Some(COME_BACK));
        }
        assert_eq!(till.fake.calls(Call::Settle), 6);
        for asks in [7, 8, 9, 10] {
            till.clock.advance(COME_BACK);
            failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            assert_eq!(till.fake.calls(Call::Settle), asks);
        }
        // Frequent retries do not lengthen the server's own intervals.
        let pause = till.count("SELECT held_until - updated_at FROM payments").await;
        assert_eq!(pause, HOLD + 4 * COME_BACK);
        till.clock.advance(pause);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_settled_is_taken_up_first() {
    at_each_till(async |till| {
        let store = till.open_store().await;
        for (id, state, held_until) in [
            ("pay_1", PaymentState::Unknown, 1),
            ("pay_2", PaymentState::Settled, 3),
            ("pay_3", PaymentState::Settling, 2),
        ] {
            let sample = crate::harness::payment(id, state);
            let updated_at = sample.created_at;
            let draft = Some(vec![1]);
            let payment = dropleaf_core::payment::Payment { held_until, updated_at, draft, ..sample };
            store.commit(vec![payments::insert(&payment)]).await.unwrap();
        }
        let ids = async |sandbox, limit| -> Vec<String> {
            let stray = store.list_resumable_payments(sandbox, 3, limit).await.unwrap();
            stray.into_iter().map(|payment| payment.id).collect()
        };
        assert_eq!(ids(Some(false), 9).await, ["pay_2", "pay_1", "pay_3"]);
        assert_eq!(ids(Some(false), 1).await, ["pay_2"]);
        assert_eq!(ids(Some(true), 9).await, ["pay_2"]);
        assert_eq!(ids(None, 9).await, ["pay_2"]);
    })
    .await;
}

#[tokio::test]
async fn recovery_begins_nothing_when_it_is_told_to_stop() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::Closes, Fault::Closes]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        till.clock.advance(HOLD);
        assert_eq!(till.app.recover_payments_while(|| false).await.unwrap(), 0);
        assert_eq!(till.fake.calls(Call::Settle), 2);
        assert!(!till.app.has_payments_in_flight());
        let proof = sign(till, 2);
        till.fake.next(Call::Settle, [Fault::DoesAndWaits]);
        let seen = async {
            till.fake.stalled().await;
            assert!(till.app.has_payments_in_flight());
            till.fake.let_go();
        };
        let (bought, ()) = tokio::join!(till.publish_html(proof, HTML), seen);
        page(&bought.unwrap());
        assert!(!till.app.has_payments_in_flight());
    })
    .await;
}

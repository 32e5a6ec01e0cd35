//! Payments interrupted by a crash or an ambiguous response: after a restart they are completed or refused
//! automatically. x402 §8.2, §8.3.

use crate::harness::till::{HOME, HTML, PRICE, Till, at_each_till, failed, key, page};
use crate::harness::{Call, DAY, Database, Fault, VALID_SECONDS};
use dropleaf_app::Mode;
use dropleaf_core::Code;
use dropleaf_core::payment::Item;

const USED: &str = r#"{"success":false,"errorReason":"invalid_exact_evm_nonce_already_used","transaction":"","network":"eip155:8453"}"#;
/// How long another node waits for one that has died.
const HOLD: i64 = 30;

/// Pays until a call stalls, and is aborted there.
async fn cut_off(till: &Till, call: Call, fault: Fault, nonce: u8) {
    till.fake.next(call, [fault]);
    tokio::select! {
        biased;
        outcome = till.publish(nonce) => panic!("it stalls: {outcome:?}"),
        stalled = till.fake.stalled() => assert_eq!(stalled, call),
    }
    // The stalled call was dropped.
}

#[tokio::test]
async fn cut_off_while_verifying_nothing_is_left() {
    at_each_till(async |till| {
        cut_off(till, Call::Verify, Fault::Waits, 1).await;
        let after = till.beside().await;
        assert_eq!(after.app.recover_payments().await.unwrap(), 0);
        assert_eq!(after.count("SELECT COUNT(*) FROM payments").await, 0);
        after.check_one_page(&after.publish(1).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn cut_off_before_or_after_the_settlement_it_is_finished_by_whoever_comes_next() {
    at_each_till(async |till| {
        for (fault, asks) in [(Fault::Waits, true), (Fault::DoesAndWaits, false)] {
            let moved = till.fake.moved();
            let nonce = if asks { 1 } else { 2 };
            cut_off(till, Call::Settle, fault, nonce).await;
            assert_eq!(till.states().await.last().unwrap(), "settling");
            let proof = till.sign(Item::Publish, nonce);
            let after = till.beside().await;
            // The dead process may still be working, as far as this one knows.
            let error = failed(after.publish_html(proof.clone(), HTML).await, Code::PaymentInFlight);
            assert!(error.retry_after.is_some_and(|seconds| seconds <= 5));
            assert_eq!(after.app.recover_payments().await.unwrap(), 0);

            till.clock.advance(HOLD);
            if !asks {
                assert_eq!(after.app.recover_payments().await.unwrap(), 1);
                assert_eq!(after.states().await.last().unwrap(), "fulfilled");
            }
            let bought = after.publish_html(proof, HTML).await.unwrap();
            assert_eq!(bought.is_replay, !asks);
            assert_eq!(after.fake.moved() - moved, PRICE);
        }
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_reservation_nobody_asked_to_settle_is_driven_on_or_given_back_when_it_is_too_late() {
    at_each_till(async |till| {
        for nonce in [1, 2] {
            cut_off(till, Call::Settle, Fault::Waits, nonce).await;
        }
        // As a crash between the two commits leaves them.
        till.exec("UPDATE payments SET state = 'verified', attempts = 0").await;
        till.exec("UPDATE payments SET valid_until = valid_until + 600 WHERE payment_key LIKE '%0101'").await;
        till.clock.advance(VALID_SECONDS);
        let after = till.beside().await;
        // The facilitator finds the first one too old and says so.
        assert_eq!(after.app.recover_payments().await.unwrap(), 2);
        assert_eq!(after.states().await, ["refused", "refused"]);
        assert_eq!(after.fake.calls(Call::Settle), 3, "the late one was not asked for");
        assert_eq!(after.count("SELECT COUNT(*) FROM bundles WHERE refs = 0").await, 2);
        assert_eq!(after.fake.moved(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_reservation_in_time_becomes_a_page_though_nobody_asks_again() {
    at_each_till(async |till| {
        cut_off(till, Call::Settle, Fault::Waits, 1).await;
        till.exec("UPDATE payments SET state = 'verified', attempts = 0").await;
        till.clock.advance(HOLD);
        let after = till.beside().await;
        assert_eq!(after.app.recover_payments().await.unwrap(), 1);
        assert_eq!(after.count("SELECT COUNT(*) FROM payments WHERE delivered_at IS NULL").await, 1);
        let bought = after.publish(1).await.unwrap();
        after.check_one_page(&bought).await;
        assert_eq!(after.count("SELECT COUNT(*) FROM payments WHERE delivered_at IS NULL").await, 0);
    })
    .await;
}

#[tokio::test]
async fn unknown_outcomes_are_asked_for_with_growing_pauses() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, vec![Fault::says(500, "{}"); 5]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(till.fake.calls(Call::Settle), 2);
        for (pause, calls) in [(30, 3), (60, 4), (120, 5)] {
            till.clock.advance(pause - 1);
            assert_eq!(till.app.recover_payments().await.unwrap(), 0);
            assert_eq!(till.fake.calls(Call::Settle), calls - 1, "not before {pause} s");
            till.clock.advance(1);
            assert_eq!(till.app.recover_payments().await.unwrap(), 0);
            assert_eq!(till.fake.calls(Call::Settle), calls, "after {pause} s");
            assert_eq!(till.states().await, ["unknown"]);
        }
        till.check_same_bytes();
    })
    .await;
}

#[tokio::test]
async fn an_unknown_outcome_that_turns_out_well_is_a_page() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes]);
        let proof = till.sign(Item::Publish, 1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        till.clock.advance(HOLD);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        assert_eq!(till.app.recover_payments().await.unwrap(), 0);
        let bought = till.publish_html(proof, HTML).await.unwrap();
        assert!(bought.is_replay);
        till.check_one_page(&bought).await;
        till.check_same_bytes();
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_saved_is_saved_when_it_can_be() {
    at_each_till(async |till| {
        till.exec("ALTER TABLE sites RENAME TO sites_away").await;
        failed(till.publish(1).await, Code::PaidNotSaved);
        assert_eq!(till.app.recover_payments().await.unwrap(), 0);
        till.exec("ALTER TABLE sites_away RENAME TO sites").await;
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        till.check_one_page(&till.publish(1).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn a_key_that_was_recovered_waits_for_its_payer_and_nobody_else() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes, Fault::Closes]);
        let proof = till.sign(Item::Provision, 1);
        failed(till.provision(&proof, HOME, None).await, Code::SettlementUnknown);
        // Its signature is on the chain now, and must give others nothing.
        failed(till.provision(&proof, [198, 51, 100, 9], None).await, Code::SettlementUnknown);
        till.clock.advance(HOLD);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        till.clock.advance(DAY / 2);
        till.app.sweep().await.unwrap();
        failed(till.provision(&proof, [198, 51, 100, 9], None).await, Code::PaymentUsed);
        let told = till.provision(&proof, HOME, None).await.unwrap();
        till.clock.advance(599);
        assert_eq!(key(&till.provision(&proof, HOME, None).await.unwrap()), key(&told));
        till.clock.advance(1);
        failed(till.provision(&proof, HOME, None).await, Code::PaymentUsed);
    })
    .await;
}

#[tokio::test]
async fn two_nodes_that_recover_at_once_make_one_page() {
    at_each_till(async |till| {
        cut_off(till, Call::Settle, Fault::DoesAndWaits, 1).await;
        till.clock.advance(HOLD);
        let (one, two) = (till.beside().await, till.beside().await);
        let (a, b) = tokio::join!(one.app.recover_payments(), two.app.recover_payments());
        assert_eq!(a.unwrap() + b.unwrap(), 1);
        let told = [one.publish(1).await.unwrap(), two.publish(1).await.unwrap()];
        assert_eq!(page(&told[0]), page(&told[1]));
        one.check_one_page(&told[0]).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_settlement_stays_in_the_hands_of_who_asked() {
    let till = Till::open(&Database::Sqlite).await;
    let other = till.beside().await;
    till.fake.next(Call::Settle, [Fault::DoesAndWaits]);
    let slow = till.publish(1);
    let meanwhile = async {
        till.fake.stalled().await;
        till.hold_is_renewed(3).await;
        assert_eq!(other.app.recover_payments().await.unwrap(), 0);
        failed(other.publish(1).await, Code::PaymentInFlight);
        till.fake.let_go();
    };
    let (bought, ()) = tokio::join!(slow, meanwhile);
    till.check_one_page(&bought.unwrap()).await;
    assert_eq!(till.fake.calls(Call::Settle), 1);
}

#[tokio::test]
async fn where_the_chain_can_be_seen_it_decides() {
    at_each_till(async |till| {
        till.fake.forgets();
        till.fake.sees_the_chain();
        // The response was lost, and the next only says that it was used.
        till.fake.next(Call::Settle, [Fault::DoesAndCloses]);
        let bought = till.publish(1).await.unwrap();
        assert_eq!(till.fake.moved(), PRICE);
        assert!(!bought.is_replay);

        // Another party submitted it to the chain first.
        till.fake.next(Call::Settle, [Fault::does_and_says(200, USED)]);
        till.publish(2).await.unwrap();
        assert_eq!(till.fake.moved(), 2 * PRICE);
        assert_eq!(till.states().await, ["fulfilled", "fulfilled"]);
    })
    .await;
}

#[tokio::test]
async fn what_the_chain_does_not_show_after_its_end_is_given_back() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.next(Call::Settle, [Fault::Closes, Fault::Closes]);
        let proof = till.sign(Item::Publish, 1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        // While it may still be settled, its absence proves nothing.
        till.clock.advance(VALID_SECONDS);
        failed(till.publish_html(proof, HTML).await, Code::SettlementUnknown);
        till.clock.advance(300);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        assert_eq!(till.states().await, ["refused"]);
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles WHERE refs = 0").await, 1);
        assert_eq!(till.fake.moved(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_settled_and_cannot_be_made_is_tried_more_and_more_rarely() {
    at_each_till(async |till| {
        till.exec("ALTER TABLE sites RENAME TO sites_away").await;
        failed(till.publish(1).await, Code::PaidNotSaved);
        let tried_at = async || till.count("SELECT updated_at - created_at FROM payments").await;
        let again_after = async |seconds| {
            till.clock.advance(seconds);
            assert_eq!(till.app.recover_payments().await.unwrap(), 0);
            tried_at().await
        };
        let mut last = again_after(30).await;
        for next in [60, 120, 240, 480, 960, 1920, 3840, 7440] {
            assert_eq!(again_after(next - last - 1).await, last, "too early");
            assert_eq!(again_after(1).await, next);
            last = next;
        }
        till.exec("ALTER TABLE sites_away RENAME TO sites").await;
        assert_eq!(till.app.recover_payments().await.unwrap(), 0);
        // The payer does not have to wait.
        till.check_one_page(&till.publish(1).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn the_sandbox_sells_without_a_facilitator() {
    for database in [Database::Sqlite, Database::postgres().await] {
        let till = Till::open_in(&database, Mode::Sandbox).await;
        let bought = till.publish(1).await.unwrap();
        assert!(bought.payment.sandbox);
        assert_eq!(page(&till.publish(1).await.unwrap()), page(&bought));
        let proof = till.sign(Item::Provision, 2);
        let told = till.provision(&proof, HOME, None).await.unwrap();
        assert_eq!(key(&till.provision(&proof, HOME, None).await.unwrap()), key(&told));
        assert_eq!(till.count("SELECT CAST(SUM(amount) AS BIGINT) FROM sandbox_transfers").await, 1_500_000);

        // A settled payment that was not saved is saved later, even if the proof is too old by then.
        till.exec("ALTER TABLE sites RENAME TO sites_away").await;
        failed(till.publish(3).await, Code::PaidNotSaved);
        till.exec("UPDATE payments SET state = 'settling' WHERE state = 'settled'").await;
        till.exec("ALTER TABLE sites_away RENAME TO sites").await;
        till.clock.advance(2 * VALID_SECONDS);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 2);
        assert_eq!(till.count("SELECT COUNT(*) FROM sandbox_transfers").await, 3);
        assert_eq!(till.fake.calls(Call::Settle), 0);
        till.app.close().await;
        database.remove().await;
    }
}

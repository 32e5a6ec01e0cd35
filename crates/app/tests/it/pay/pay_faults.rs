//! A facilitator that fails, stalls or lies during a payment: one charge, one page, and the same proof returns it.

use crate::harness::till::{HTML, PRICE, Till, at_each_till, failed, page};
use crate::harness::{Call, Database, Fault, HOUR};
use dropleaf_app::PayError;
use dropleaf_core::Code;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::Item;
use dropleaf_pay::{Outcome, Receipt};
use futures_util::future::join_all;
use tokio::task::JoinSet;

const PENDING: &str =
    r#"{"success":false,"errorReason":"settlement_pending","transaction":"0xabc","network":"eip155:8453"}"#;
const REFUSED: &str = r#"{"success":false,"errorReason":"insufficient_funds","errorMessage":"rpc https://secret","transaction":"","network":"eip155:8453"}"#;

/// Ambiguous responses to a settlement.
fn unclear() -> Vec<Fault> {
    let texts = [
        (500, "{}"),
        (502, "<html>bad gateway</html>"),
        (200, PENDING),
        (200, "garbage"),
        (200, "null"),
        (200, r#"{"success":"true","transaction":"0xabc","network":"eip155:8453"}"#),
        (200, r#"{"success":true,"transaction":"","network":"eip155:8453"}"#),
        (200, r#"{"success":true,"transaction":"0xabc","network":"eip155:1"}"#),
        (200, r#"{"success":false,"errorReason":"unexpected_settle_error","transaction":"","network":""}"#),
    ];
    let said = texts.iter().map(|(status, text)| Fault::says(*status, text));
    let done = texts.iter().map(|(status, text)| Fault::does_and_says(*status, text));
    said.chain(done).chain([Fault::Closes, Fault::DoesAndCloses, Fault::Hangs]).collect()
}

/// Resets a till between two faults.
async fn clear(till: &Till) {
    for sql in [
        "DELETE FROM site_versions",
        "DELETE FROM sites",
        "DELETE FROM bundle_files",
        "DELETE FROM bundles",
        "DELETE FROM payments",
    ] {
        till.exec(sql).await;
    }
}

fn refused(outcome: Result<dropleaf_app::PurchaseResult, PayError>) -> dropleaf_app::PayRefused {
    match outcome {
        Err(PayError::Refused(refused)) => refused,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_facilitator_that_cannot_verify_costs_nothing_and_makes_nothing() {
    at_each_till(async |till| {
        let faults = [
            Fault::says(500, "{}"),
            Fault::says(200, "garbage"),
            Fault::says(200, r#"{"isValid":"true"}"#),
            Fault::says(200, r#"{"isValid":false,"invalidReason":"unexpected_verify_error"}"#),
            Fault::says(302, r#"{"isValid":true}"#),
            Fault::Closes,
            Fault::Hangs,
        ];
        for fault in faults {
            till.fake.next(Call::Verify, [fault]);
            let error = failed(till.publish(1).await, Code::FacilitatorUnavailable);
            assert!(error.retry_after.is_some());
        }
        assert_eq!(till.fake.calls(Call::Settle), 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM payments").await, 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles").await, 0);
        till.check_one_page(&till.publish(1).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn what_verify_refuses_is_never_settled() {
    at_each_till(async |till| {
        till.fake.next(
            Call::Verify,
            [Fault::says(200, r#"{"isValid":false,"invalidReason":"insufficient_funds"}"#)],
        );
        let refusal = refused(till.publish(1).await);
        assert_eq!((refusal.reason.as_str(), refusal.malformed), ("insufficient_funds", false));
        assert!(refusal.receipt.is_none(), "nobody was asked to settle");
        assert_eq!(till.fake.calls(Call::Settle), 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM payments").await, 0);
    })
    .await;
}

#[tokio::test]
async fn one_unclear_answer_is_asked_again_with_the_same_bytes() {
    at_each_till(async |till| {
        for (nonce, fault) in (1..).zip(unclear()) {
            let (calls, moved) = (till.fake.calls(Call::Settle), till.fake.moved());
            till.fake.next(Call::Settle, [fault.clone()]);
            let bought = till.publish(nonce).await.unwrap();
            assert_eq!(till.fake.calls(Call::Settle) - calls, 2, "{fault:?}");
            let bodies = till.fake.bodies(Call::Settle);
            assert_eq!(bodies[calls], bodies[calls + 1]);
            assert_eq!(till.fake.moved() - moved, PRICE, "{fault:?}");
            assert!(!bought.is_replay);
            assert_eq!(till.states().await, ["fulfilled"], "{fault:?}");
            clear(till).await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_outcome_that_stays_unclear_is_unknown_and_the_same_proof_resolves_it() {
    at_each_till(async |till| {
        for (nonce, fault) in (1..).zip(unclear()) {
            let moved = till.fake.moved();
            let proof = till.sign(Item::Publish, nonce);
            till.fake.next(Call::Settle, [fault.clone(), fault.clone()]);
            let error = failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            assert!(error.retry_after.is_some(), "{fault:?}");
            assert!(error.detail.contains("Do not sign a new"), "{fault:?}");
            assert_eq!(till.states().await, ["unknown"], "{fault:?}");
            assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 0);

            till.clock.advance(10);
            let bought = till.publish_html(proof.clone(), HTML).await.unwrap();
            assert_eq!(till.fake.moved() - moved, PRICE, "{fault:?}");
            assert_eq!(till.states().await, ["fulfilled"], "{fault:?}");
            let again = till.publish_html(proof, HTML).await.unwrap();
            assert!(again.is_replay);
            assert_eq!(page(&again), page(&bought));
            clear(till).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_transaction_that_was_named_is_told_with_the_unknown_outcome() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, PENDING), Fault::Closes]);
        let error = failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(error.facts, [("transaction", Fact::Text("0xabc".into()))]);
    })
    .await;
}

#[tokio::test]
async fn a_clear_refusal_gives_everything_back_and_the_proof_can_be_tried_again() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, REFUSED)]);
        let refusal = refused(till.publish(1).await);
        assert_eq!(refusal.reason, "insufficient_funds");
        assert!(!format!("{refusal:?}").contains("secret"), "messages are not passed on");
        let Some(Receipt { outcome: Outcome::Refused { reason }, .. }) = refusal.receipt.as_deref() else {
            panic!("a receipt says how the settlement ended")
        };
        assert_eq!(reason, "insufficient_funds");
        assert_eq!(till.fake.calls(Call::Settle), 1, "a clear no is not asked for twice");
        assert_eq!(till.states().await, ["refused"]);
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles WHERE refs = 0").await, 1);
        assert_eq!(
            till.count(
                "SELECT COUNT(*) FROM payments WHERE ask IS NULL AND draft IS NULL AND bundle_id IS NULL"
            )
            .await,
            1
        );

        let bought = till.publish(1).await.unwrap();
        till.check_one_page(&bought).await;
        assert!(!bought.is_replay);
        till.clock.advance(2 * HOUR);
        till.app.collect_unreferenced_bodies().await.unwrap();
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles").await, 1, "what was refused is collected");
    })
    .await;
}

#[tokio::test]
async fn a_refusal_after_an_unclear_answer_is_no_refusal() {
    at_each_till(async |till| {
        till.fake.forgets();
        till.fake.next(Call::Settle, [Fault::DoesAndCloses]);
        let proof = till.sign(Item::Publish, 1);
        let publish = async || till.publish_html(proof.clone(), HTML).await;
        failed(publish().await, Code::SettlementUnknown);
        till.clock.advance(10);
        failed(publish().await, Code::SettlementUnknown);
        till.clock.advance(10);
        till.fake.next(Call::Settle, [Fault::says(200, REFUSED)]);
        failed(publish().await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"], "it waits for a yes, or for the operator");
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles WHERE refs = 1").await, 1);
        till.fake.remembers();
        till.clock.advance(10);
        till.check_one_page(&publish().await.unwrap()).await;
        till.check_same_bytes();
    })
    .await;
}

#[tokio::test]
async fn a_nonce_that_was_used_before_we_saw_it_is_unknown_and_never_terms() {
    at_each_till(async |till| {
        till.fake.forgets();
        till.publish(1).await.unwrap();
        clear(till).await;
        // The money has moved; without access to the chain, by whom is unknown.
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
        clear(till).await;
        // Even if verification says otherwise.
        till.fake.next(Call::Verify, [Fault::says(200, r#"{"isValid":true}"#)]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 0);
    })
    .await;
}

#[tokio::test]
async fn twenty_copies_at_once_settle_once_and_get_one_answer() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::Waits]);
        let mut copies = JoinSet::new();
        for _ in 0..20 {
            let request = till.page_request(till.sign(Item::Publish, 1), HTML).await;
            let app = till.app.clone();
            copies.spawn(async move { app.execute_purchase(request).await });
        }
        assert_eq!(till.fake.stalled().await, Call::Settle);
        till.fake.let_go();
        let bought: Vec<_> = copies.join_all().await.into_iter().map(Result::unwrap).collect();
        till.check_one_page(&bought[0]).await;
        assert_eq!((till.fake.calls(Call::Verify), till.fake.calls(Call::Settle)), (1, 1));
        assert!(bought.iter().all(|it| page(it) == page(&bought[0]) && it.receipt == bought[0].receipt));
        assert_eq!(bought.iter().filter(|it| !it.is_replay).count(), 1);
    })
    .await;
}

#[tokio::test]
async fn two_nodes_with_the_same_proof_charge_once() {
    at_each_till(async |till| {
        let other = till.beside().await;
        let proof = till.sign(Item::Publish, 1);
        let pays = [till, &other].map(|node| node.publish_html(proof.clone(), HTML));
        let outcomes = join_all(pays).await;
        assert!(outcomes.iter().any(Result::is_ok));
        for outcome in outcomes.into_iter().filter(Result::is_err) {
            assert!(failed(outcome, Code::PaymentInFlight).retry_after.is_some());
        }
        assert_eq!(till.fake.calls(Call::Settle), 1);
        let told = [till.publish(1).await.unwrap(), other.publish(1).await.unwrap()];
        assert_eq!(page(&told[0]), page(&told[1]));
        till.check_one_page(&told[0]).await;
    })
    .await;
}

#[tokio::test]
async fn another_nodes_work_is_waited_for_not_repeated() {
    at_each_till(async |till| {
        let other = till.beside().await;
        till.fake.next(Call::Settle, [Fault::DoesAndWaits]);
        let first = till.publish(1);
        let second = async {
            till.fake.stalled().await;
            failed(other.publish(1).await, Code::PaymentInFlight);
            till.fake.let_go();
        };
        let (bought, ()) = tokio::join!(first, second);
        till.check_one_page(&bought.unwrap()).await;
        assert_eq!(till.fake.calls(Call::Settle), 1);
    })
    .await;
}

#[tokio::test]
async fn a_proof_that_looks_used_because_another_node_settled_it_is_answered_with_its_page() {
    at_each_till(async |till| {
        let other = till.beside().await;
        till.fake.next(Call::Verify, [Fault::Waits]);
        let slow = till.publish(1);
        let fast = async {
            till.fake.stalled().await;
            let bought = other.publish(1).await.unwrap();
            till.fake.let_go();
            bought
        };
        let (slow, fast) = tokio::join!(slow, fast);
        let slow = slow.unwrap();
        assert!(slow.is_replay);
        assert_eq!(page(&slow), page(&fast));
        till.check_one_page(&slow).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_paid_but_cannot_be_saved_says_by_which_transaction_and_is_saved_later() {
    at_each_till(async |till| {
        till.exec("ALTER TABLE sites RENAME TO sites_away").await;
        let error = failed(till.publish(1).await, Code::PaidNotSaved);
        assert_eq!(error.facts, [("transaction", Fact::Text(till.fake.ledger()[0].transaction()))]);
        assert!(error.retry_after.is_some());
        assert_eq!(till.states().await, ["settled"]);
        failed(till.publish(1).await, Code::PaidNotSaved);
        till.exec("ALTER TABLE sites_away RENAME TO sites").await;
        till.check_one_page(&till.publish(1).await.unwrap()).await;
        assert_eq!(till.fake.calls(Call::Settle), 1, "what is settled is not asked for again");
    })
    .await;
}

#[tokio::test]
async fn while_the_facilitator_is_gone_what_was_bought_is_still_told() {
    let till = Till::open(&Database::Sqlite).await;
    let bought = till.publish(1).await.unwrap();
    let proof = till.sign(Item::Publish, 1);
    let new = till.sign(Item::Publish, 2);
    till.fake.next(Call::Supported, [Fault::Closes]);
    assert!(!till.app.refresh_listings().await);
    assert_eq!(page(&till.publish_html(proof, HTML).await.unwrap()), page(&bought));
    till.fake.next(Call::Verify, [Fault::Closes]);
    failed(till.publish_html(new, HTML).await, Code::FacilitatorUnavailable);
}

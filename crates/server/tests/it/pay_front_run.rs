//! Payments that somebody else submits to the chain before our facilitator does, and settlements that a facilitator merely
//! claims. Where the chain can be asked it decides; where it cannot, nobody is told that no money moved. Decisions §5.2.

use crate::harness::till::{HOME, HTML, PRICE, Till, at_each_till, failed, key, page};
use crate::harness::{Call, Fault};
use dropleaf_app::{PayError, PayRefused, PayRequest};
use dropleaf_core::Code;
use dropleaf_core::payment::Item;
use std::net::IpAddr;

/// The facilitator's own transaction failed, because the authorization was used a moment before.
const REVERTED: &str = r#"{"success":false,"errorReason":"invalid_exact_evm_transaction_failed","transaction":"0x00000000000000000000000000000000000000000000000000000000000000ab","network":"eip155:8453"}"#;
const STATE: &str = r#"{"success":false,"errorReason":"invalid_transaction_state","transaction":"0x00000000000000000000000000000000000000000000000000000000000000ab","network":"eip155:8453"}"#;
const SIMULATED: &str = r#"{"success":false,"errorReason":"invalid_exact_evm_transaction_simulation_failed","transaction":"","network":"eip155:8453"}"#;
const USED: &str = r#"{"success":false,"errorReason":"invalid_exact_evm_nonce_already_used","transaction":"","network":"eip155:8453"}"#;
const POOR: &str =
    r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#;
const CLAIMED: &str = r#"{"success":true,"transaction":"0x00000000000000000000000000000000000000000000000000000000000000ab","network":"eip155:8453"}"#;

const VERIFY_REASONS: [&str; 3] = [
    r#"{"isValid":false,"invalidReason":"invalid_exact_evm_transaction_simulation_failed"}"#,
    r#"{"isValid":false,"invalidReason":"invalid_exact_evm_nonce_already_used"}"#,
    r#"{"isValid":false,"invalidReason":"invalid_transaction_state"}"#,
];
const VERIFY_POOR: &str = r#"{"isValid":false,"invalidReason":"insufficient_funds"}"#;

const COME_BACK: i64 = 10;

#[track_caller]
fn refused(outcome: Result<dropleaf_app::Bought, PayError>) -> PayRefused {
    match outcome {
        Err(PayError::Refused(refused)) => refused,
        other => panic!("not refused: {other:?}"),
    }
}

async fn rows(till: &Till) -> i64 {
    till.count("SELECT COUNT(*) FROM payments").await
}

async fn is_booked(till: &Till, times: i64) {
    assert_eq!(till.count("SELECT COUNT(*) FROM ledger_txns WHERE kind = 'income'").await, times);
    let audit = till.app.audit_books().await.unwrap();
    assert!(audit.faults.is_empty(), "{:?}", audit.faults);
}

#[tokio::test]
async fn a_settlement_that_somebody_else_overtook_is_a_page_where_the_chain_can_be_asked() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        for (nonce, said) in (1..).zip([REVERTED, STATE, SIMULATED, USED, POOR]) {
            till.fake.next(Call::Settle, [Fault::overtaken(said)]);
            let bought = till.publish(nonce).await.unwrap();
            assert!(!bought.again, "{said}");
            assert_eq!(till.fake.moved(), u64::from(nonce) * PRICE, "{said}");
        }
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled'").await, 5);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 5);
        is_booked(till, 5).await;
    })
    .await;
}

#[tokio::test]
async fn a_settlement_that_somebody_else_overtook_is_unknown_where_no_chain_can_be_asked() {
    at_each_till(async |till| {
        for (nonce, said) in (1..).zip([REVERTED, STATE, SIMULATED, USED]) {
            till.fake.next(Call::Settle, [Fault::overtaken(said)]);
            let proof = till.sign(Item::Publish, nonce);
            let error = failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            assert!(error.retry_after.is_some() && error.detail.contains("do not sign a new"), "{said}");
            let sql = "SELECT COUNT(*) FROM payments WHERE state = 'unknown' AND bundle_id IS NOT NULL";
            assert_eq!(till.count(sql).await, 1, "{said}");
            // The same proof gets the page once somebody knows.
            till.clock.advance(COME_BACK);
            page(&till.publish_html(proof, HTML).await.unwrap());
            assert_eq!(till.fake.moved(), u64::from(nonce) * PRICE, "{said}");
        }
        is_booked(till, 4).await;
    })
    .await;
}

#[tokio::test]
async fn a_payment_submitted_before_it_came_to_us_is_a_page_where_the_chain_can_be_asked() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        let reasons = VERIFY_REASONS.into_iter().chain([VERIFY_POOR]);
        for (nonce, said) in (1..).zip(reasons) {
            till.fake.next(Call::Verify, [Fault::overtaken(said)]);
            let proof = till.sign(Item::Publish, nonce);
            let bought = till.publish_html(proof.clone(), HTML).await.unwrap();
            assert!(!bought.again, "{said}");
            assert!(till.publish_html(proof, HTML).await.unwrap().again, "{said}");
        }
        assert_eq!(till.fake.calls(Call::Settle), 0, "nobody is asked to settle what is settled");
        assert_eq!(till.fake.moved(), 4 * PRICE);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 4);
        is_booked(till, 4).await;

        till.fake.next(Call::Verify, [Fault::overtaken(VERIFY_REASONS[1])]);
        let proof = till.sign(Item::Provision, 9);
        assert!(key(&till.provision(&proof, HOME, None).await.unwrap()).starts_with("stk_"));
    })
    .await;
}

#[tokio::test]
async fn a_payment_submitted_before_it_came_to_us_is_unknown_where_no_chain_can_be_asked() {
    at_each_till(async |till| {
        for (nonce, said) in (1..).zip(VERIFY_REASONS) {
            till.fake.next(Call::Verify, [Fault::overtaken(said)]);
            let proof = till.sign(Item::Publish, nonce);
            failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            let sql = "SELECT COUNT(*) FROM payments WHERE state = 'unknown' AND bundle_id IS NOT NULL \
                       AND reason LIKE 'not verified: %'";
            assert_eq!(till.count(sql).await, 1, "{said}");
            assert_eq!(till.app.money().await.unwrap().open.len(), 1, "the operator sees it");
            // The content waits with it, so the page is made when it is known.
            till.clock.advance(30);
            assert_eq!(till.app.recover_payments().await.unwrap(), 1, "{said}");
            assert!(till.publish_html(proof, HTML).await.unwrap().again, "{said}");
        }
        assert_eq!(till.fake.moved(), 3 * PRICE);
        is_booked(till, 3).await;
    })
    .await;
}

#[tokio::test]
async fn a_chain_that_does_not_answer_decides_nothing() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.is_blind(true);
        till.fake.next(Call::Verify, [Fault::overtaken(VERIFY_REASONS[0])]);
        let proof = till.sign(Item::Publish, 1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
        till.fake.is_blind(false);
        till.check_one_page(&till.publish_html(proof, HTML).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn where_the_chain_shows_nothing_a_refusal_writes_nothing_and_the_proof_stays_good() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        // A real reason: refused, with terms.
        till.fake.next(Call::Verify, [Fault::says(200, VERIFY_POOR)]);
        assert_eq!(refused(till.publish(1).await).reason, "insufficient_funds");
        assert_eq!(till.fake.calls(Call::Trace), 1, "the chain was asked first");
        // Facilitator and chain disagree: one of them is behind. No terms, and no row.
        for said in VERIFY_REASONS {
            till.fake.next(Call::Verify, [Fault::says(200, said)]);
            let error = failed(till.publish(1).await, Code::FacilitatorUnavailable);
            assert!(error.retry_after.is_some(), "{said}");
        }
        assert_eq!((rows(till).await, till.fake.calls(Call::Settle)), (0, 0));
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles").await, 0);
        till.check_one_page(&till.publish(1).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_authorization_is_refused() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.cancels();
        for said in VERIFY_REASONS {
            till.fake.next(Call::Verify, [Fault::says(200, said)]);
            refused(till.publish(1).await);
        }
        assert_eq!(rows(till).await, 0);
        for (nonce, said) in (1..).zip([REVERTED, SIMULATED, USED]) {
            till.fake.next(Call::Settle, [Fault::says(200, said)]);
            refused(till.publish(nonce).await);
        }
        assert_eq!(till.states().await, ["refused"; 3]);
    })
    .await;
}

#[tokio::test]
async fn a_transaction_that_failed_is_refused_when_the_chain_shows_the_authorization_unused() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.next(Call::Settle, [Fault::says(200, REVERTED)]);
        assert_eq!(refused(till.publish(1).await).reason, "invalid_exact_evm_transaction_failed");
        assert_eq!(till.states().await, ["refused"]);
        // It is still good.
        till.check_one_page(&till.publish(1).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn payments_that_nobody_verified_leave_a_bounded_number_of_rows() {
    at_each_till(async |till| {
        let pay = async |nonce: u8, from: [u8; 4]| {
            till.fake.next(Call::Verify, [Fault::says(200, VERIFY_REASONS[0])]);
            let request = till.page_request(till.sign(Item::Publish, nonce), HTML).await;
            let request = PayRequest { ip: Some(IpAddr::from(from)), ..request };
            // Never terms, however many there are.
            failed(Box::pin(till.app.pay(request)).await, Code::SettlementUnknown);
        };
        for nonce in 1..=12 {
            pay(nonce, HOME).await;
        }
        assert_eq!(rows(till).await, 10, "of one network in an hour");
        pay(13, [198, 51, 100, 9]).await;
        assert_eq!(rows(till).await, 11, "another network has its own share");
        till.clock.advance(3600);
        pay(14, HOME).await;
        assert_eq!(rows(till).await, 12);

        let store = dropleaf::startup::open_store(&till.resolved, crate::harness::NOW).await.unwrap();
        let unknown = dropleaf_core::payment::PaymentState::Unknown;
        let many = (0..500).map(|n| {
            dropleaf_store::payments::insert(&crate::harness::payment(&format!("pay_{n}"), unknown))
        });
        store.commit(many.collect()).await.unwrap();
        pay(15, [198, 51, 100, 10]).await;
        assert_eq!(rows(till).await, 512, "and altogether");
        // What is verified is sold all the same.
        till.publish(16).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_settlement_that_the_facilitator_only_claims_makes_nothing() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.next(Call::Settle, [Fault::says(200, CLAIMED), Fault::says(200, CLAIMED)]);
        let proof = till.sign(Item::Publish, 1);
        let error = failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(error.facts.len(), 1, "the transaction that it claims is told");
        assert_eq!(till.states().await, ["unknown"]);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 0);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 0);
        // When the chain shows it, it is a page.
        till.check_one_page(&till.publish_html(proof, HTML).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn a_settlement_waits_for_a_chain_that_cannot_be_reached_unless_it_need_not_be_confirmed() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.is_blind(true);
        let proof = till.sign(Item::Publish, 1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
        let trusting = till
            .beside_with(|resolved| resolved.settings.payments.as_mut().unwrap().confirm_settlements = false)
            .await;
        till.check_one_page(&trusting.publish_html(proof, HTML).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn payments_that_are_unknown_are_asked_about_as_soon_as_the_chain_is_back() {
    at_each_till(async |till| {
        till.fake.forgets();
        till.fake.next(Call::Settle, [Fault::DoesAndCloses]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        // The pauses have grown.
        for pause in [30, 60, 120, 240, 480] {
            till.clock.advance(pause);
            assert_eq!(till.app.recover_payments().await.unwrap(), 0);
        }
        assert_eq!(till.app.recover_payments().await.unwrap(), 0, "its time has not come");
        till.fake.chain_is_back();
        let calls = till.fake.calls(Call::Settle);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        assert_eq!(till.states().await, ["fulfilled"]);
        assert_eq!(till.fake.calls(Call::Settle), calls, "the chain alone was asked");
        assert_eq!(till.app.recover_payments().await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn networks_whose_chain_cannot_be_asked_are_named() {
    at_each_till(async |till| {
        let names =
            || -> Vec<String> { till.app.unseen_networks().iter().map(ToString::to_string).collect() };
        assert_eq!(names(), ["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]);
        till.fake.sees_the_chain();
        assert!(names().is_empty());
    })
    .await;
}

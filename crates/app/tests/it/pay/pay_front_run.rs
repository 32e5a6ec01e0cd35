//! Payments that another party submits to the chain before our facilitator does, and settlements that a facilitator
//! only claims. If the chain can be queried it decides; if not, no response says that no money moved.

use crate::harness::till::{HOME, HTML, PRICE, Till, at_each_till, failed, key, page, request};
use crate::harness::{Call, Fault, NOW, VALID_SECONDS};
use dropleaf_app::{Order, PayError, PayRefused, PayRequest, Resolution};
use dropleaf_core::Code;
use dropleaf_core::payment::{Item, PaymentState};
use dropleaf_core::unlock::Sku;
use dropleaf_pay::{Generation, Proof, payer};
use serde_json::json;
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
fn refused(outcome: Result<dropleaf_app::PurchaseResult, PayError>) -> PayRefused {
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
    let audit = till.app.audit_ledger().await.unwrap();
    assert!(audit.faults.is_empty(), "{:?}", audit.faults);
}

#[tokio::test]
async fn a_settlement_that_somebody_else_overtook_is_a_page_where_the_chain_can_be_asked() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        for (nonce, said) in (1..).zip([REVERTED, STATE, SIMULATED, USED, POOR]) {
            till.fake.next(Call::Settle, [Fault::overtaken(said)]);
            let bought = till.publish(nonce).await.unwrap();
            assert!(!bought.is_replay, "{said}");
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
            assert!(error.retry_after.is_some() && error.detail.contains("Do not sign a new"), "{said}");
            let sql = "SELECT COUNT(*) FROM payments WHERE state = 'unknown' AND bundle_id IS NOT NULL";
            assert_eq!(till.count(sql).await, 1, "{said}");
            // The same proof gets the page once the outcome is known.
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
            assert!(!bought.is_replay, "{said}");
            assert!(till.publish_html(proof, HTML).await.unwrap().is_replay, "{said}");
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
            assert_eq!(till.app.payment_overview().await.unwrap().open.len(), 1, "the operator sees it");
            // The content is stored with it, so the page is created once the outcome is known.
            till.clock.advance(30);
            assert_eq!(till.app.recover_payments().await.unwrap(), 1, "{said}");
            assert!(till.publish_html(proof, HTML).await.unwrap().is_replay, "{said}");
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
        // A genuine reason: refused, with terms.
        till.fake.next(Call::Verify, [Fault::says(200, VERIFY_POOR)]);
        assert_eq!(refused(till.publish(1).await).reason, "insufficient_funds");
        assert_eq!(till.fake.calls(Call::Trace), 1, "the chain was asked first");
        // Facilitator and chain disagree: one of them is behind. No terms, and no row.
        for said in VERIFY_REASONS {
            till.fake.next(Call::Verify, [Fault::says(200, said)]);
            let error = failed(till.publish(1).await, Code::SettlementUnknown);
            assert!(error.retry_after.is_some() && !error.detail.contains("othing was charged"), "{said}");
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
async fn a_transaction_that_failed_is_refused_only_when_nobody_can_use_the_authorization_any_more() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.next(Call::Settle, [Fault::says(200, REVERTED)]);
        let proof = till.sign(Item::Publish, 1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"], "it is public, and still good");
        till.clock.advance(VALID_SECONDS + 300);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        assert_eq!(till.states().await, ["refused"]);
        assert_eq!(till.fake.moved(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_transaction_that_failed_is_settled_by_the_same_bytes() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        till.fake.next(Call::Settle, [Fault::says(200, REVERTED)]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        till.check_one_page(&till.publish(1).await.unwrap()).await;
        till.check_same_bytes();
    })
    .await;
}

#[tokio::test]
async fn an_unlock_that_is_owned_already_and_was_submitted_elsewhere_waits_to_be_refunded() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        let account = till.app.create_account("a@example.org", Some("free"), false).await.unwrap();
        till.app.credit_account("ada", &account.id, 200, "a gift", None).await.unwrap();
        till.app.unlock_with_balance(&account, Sku::MakePermanent, None, |_| Vec::new()).await.unwrap();
        till.fake.next(Call::Verify, [Fault::overtaken(VERIFY_REASONS[1])]);
        let proof = till.sign(Item::Unlock(Sku::MakePermanent), 1);
        let order = Order::Unlock { account: account.clone(), sku: Sku::MakePermanent };
        let outcome = Box::pin(till.app.execute_purchase(request(order, proof, "for good"))).await;
        let error = failed(outcome, Code::PaidNotSaved);
        assert!(!error.detail.contains("othing was charged"), "{error:?}");
        assert_eq!(till.states().await, ["settled"]);
        till.clock.advance(3600);
        till.app.recover_payments().await.unwrap();
        assert_eq!(till.states().await, ["settled"], "it is not spent on what is there");
        is_booked(till, 0).await;
        till.clock.advance(3600);
        let id = till.app.list_payments(None, 1).await.unwrap().remove(0).id;
        let back = Resolution::Refunded { reason: "owned already".into() };
        let closed = till.app.resolve_payment("ada", &id, back).await.unwrap();
        assert_eq!(closed.state, PaymentState::Refunded);
    })
    .await;
}

#[tokio::test]
async fn a_suspended_account_gets_what_was_submitted_elsewhere() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        let account = till.app.create_account("a@example.org", Some("free"), false).await.unwrap();
        till.app.suspend_account("ada", &account.id, "a test").await.unwrap();
        till.fake.next(Call::Verify, [Fault::overtaken(VERIFY_REASONS[1])]);
        let proof = till.sign(Item::Unlock(Sku::HigherLimits), 1);
        let order = Order::Unlock { account, sku: Sku::HigherLimits };
        Box::pin(till.app.execute_purchase(request(order, proof, "more"))).await.unwrap();
        assert_eq!(till.states().await, ["fulfilled"]);
    })
    .await;
}

#[tokio::test]
async fn where_nothing_is_accepted_from_elsewhere_the_operator_decides() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        let strict = till
            .beside_with(|it| it.settings.payments.as_mut().unwrap().accept_submitted_elsewhere = false)
            .await;
        till.fake.next(Call::Verify, [Fault::overtaken(VERIFY_REASONS[1])]);
        let proof = strict.sign(Item::Publish, 1);
        let error = failed(strict.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(error.facts.len(), 1, "the transaction is told");
        for _ in 0..3 {
            till.clock.advance(3600);
            assert_eq!(strict.app.recover_payments().await.unwrap(), 0);
            failed(strict.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        }
        assert_eq!(till.states().await, ["unknown"]);
        assert_eq!(till.fake.calls(Call::Settle), 0);
        let payment = strict.app.list_payments(None, 1).await.unwrap().remove(0);
        let transaction = till.fake.ledger()[0].transaction();
        strict.app.resolve_payment("ada", &payment.id, Resolution::Settled { transaction }).await.unwrap();
        till.check_one_page(&strict.publish_html(proof, HTML).await.unwrap()).await;
    })
    .await;
}

/// A proof that a contract might have signed.
fn contract_proof(till: &Till, nonce: u8) -> Proof {
    let terms = till.terms(Item::Publish);
    let offer = terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap();
    let mut payload = till.purse.evm.payload(offer, [nonce; 32], 0, NOW + VALID_SECONDS).unwrap();
    payload["signature"] = json!(format!("0x{}", "11".repeat(70)));
    let header = payer::header(&payer::proof(offer, terms.resource(), Generation::V2, &payload));
    Proof::parse(Generation::V2, &header).unwrap()
}

#[tokio::test]
async fn for_a_contract_whose_signature_is_not_verified_nothing_is_made_or_kept() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        for (nonce, is_blind) in [(1, false), (2, true)] {
            // The payer's own proof moves the money; the one sent here only resembles it.
            let fault = Fault::OvertakenAndSays(503, "{}".into());
            till.fake.next(Call::Verify, [fault, Fault::says(200, VERIFY_REASONS[1])]);
            failed(till.publish(nonce).await, Code::FacilitatorUnavailable);
            till.fake.is_blind(is_blind);
            let outcome = till.publish_html(contract_proof(till, nonce), HTML).await;
            let error = failed(outcome, Code::SettlementUnknown);
            assert_eq!(error.facts.is_empty(), is_blind, "the transaction is told if it is seen");
        }
        assert_eq!(till.fake.moved(), 2 * PRICE);
        assert_eq!((rows(till).await, till.count("SELECT COUNT(*) FROM sites").await), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn a_proof_that_expired_before_it_was_kept_buys_if_it_was_used_in_time() {
    at_each_till(async |till| {
        till.fake.sees_the_chain();
        let unused = till.sign(Item::Publish, 2);
        let proof = till.sign(Item::Publish, 1);
        till.fake.next(Call::Verify, [Fault::OvertakenAndSays(503, "{}".into())]);
        failed(till.publish_html(proof.clone(), HTML).await, Code::FacilitatorUnavailable);
        till.clock.advance(VALID_SECONDS + 60);
        let refusal = refused(till.publish_html(unused, HTML).await);
        assert!(
            refusal.reason == "expired" && !refusal.sentence.contains("oney was transferred"),
            "{refusal:?}"
        );
        till.fake.is_blind(true);
        assert_eq!(refused(till.publish_html(proof.clone(), HTML).await).reason, "expired");
        till.fake.is_blind(false);
        let verified = till.fake.calls(Call::Verify);
        till.check_one_page(&till.publish_html(proof, HTML).await.unwrap()).await;
        assert_eq!(till.fake.calls(Call::Verify), verified, "the chain alone was asked");
        is_booked(till, 1).await;

        let old = till.sign(Item::Publish, 3);
        till.fake.next(Call::Verify, [Fault::OvertakenAndSays(503, "{}".into())]);
        failed(till.publish_html(old.clone(), HTML).await, Code::FacilitatorUnavailable);
        till.clock.advance(VALID_SECONDS + 3601);
        assert_eq!(refused(till.publish_html(old, HTML).await).reason, "expired", "anybody can copy it");
    })
    .await;
}

#[tokio::test]
async fn a_lack_of_funds_after_an_earlier_attempt_is_unknown_where_no_chain_can_be_asked() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, POOR)]);
        let refusal = refused(till.publish(1).await);
        assert!(!refusal.sentence.contains("oney was transferred"), "{refusal:?}");
        till.fake.next(Call::Verify, [Fault::overtaken(VERIFY_POOR)]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(till.states().await, ["unknown"]);
    })
    .await;
}

#[tokio::test]
async fn a_payment_that_is_sent_again_after_a_refusal_is_as_old_as_it_was() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, POOR)]);
        let proof = till.sign(Item::Publish, 1);
        refused(till.publish_html(proof.clone(), HTML).await);
        till.clock.advance(60);
        page(&till.publish_html(proof, HTML).await.unwrap());
        assert_eq!(till.count("SELECT created_at FROM payments").await, NOW);
    })
    .await;
}

#[tokio::test]
async fn settled_payments_do_not_count_as_unknown() {
    at_each_till(async |till| {
        let store = till.open_store().await;
        let many = (0..500).map(|n| {
            let settled = crate::harness::payment(&format!("pay_{n}"), PaymentState::Settled);
            dropleaf_store::payments::insert(&settled)
        });
        store.commit(many.collect()).await.unwrap();
        till.fake.next(Call::Verify, [Fault::says(200, VERIFY_REASONS[0])]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        assert_eq!(rows(till).await, 501, "one that was not verified is still kept");
        let crowded = store.commit(vec![dropleaf_store::payments::require_few_unknown(1)]).await.unwrap_err();
        let label = dropleaf_store::payments::TOO_MANY_UNKNOWN;
        assert!(matches!(crowded, dropleaf_store::DbError::Guard(it) if it == label), "{crowded}");
        store.commit(vec![dropleaf_store::payments::require_few_unknown(2)]).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_chain_that_comes_and_goes_wakes_unknown_payments_every_ten_minutes_at_most() {
    at_each_till(async |till| {
        let held = "SELECT held_until FROM payments";
        till.fake.next(Call::Settle, [Fault::Closes, Fault::Closes]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        till.exec("UPDATE payments SET held_until = 9000000000").await;
        let asked = till.count("SELECT attempts FROM payments").await;
        till.fake.next(Call::Settle, [Fault::Closes, Fault::Closes, Fault::Closes]);
        till.fake.chain_is_back();
        till.app.recover_payments().await.unwrap();
        assert_eq!(till.count("SELECT attempts FROM payments").await, asked + 1, "the first time at once");
        till.exec("UPDATE payments SET held_until = 9000000000").await;
        till.fake.chain_is_back();
        till.clock.advance(599);
        till.app.recover_payments().await.unwrap();
        assert_eq!(till.count(held).await, 9_000_000_000);
        till.clock.advance(1);
        till.app.recover_payments().await.unwrap();
        assert!(till.count(held).await < 9_000_000_000, "and it is not forgotten");
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
            failed(Box::pin(till.app.execute_purchase(request)).await, Code::SettlementUnknown);
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

        let store = till.open_store().await;
        let unknown = dropleaf_core::payment::PaymentState::Unknown;
        let many = (0..500).map(|n| {
            dropleaf_store::payments::insert(&crate::harness::payment(&format!("pay_{n}"), unknown))
        });
        store.commit(many.collect()).await.unwrap();
        pay(15, [198, 51, 100, 10]).await;
        assert_eq!(rows(till).await, 512, "and altogether");
        // A verified payment still succeeds.
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
        // Once the chain shows it, the page is created.
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
            .beside_with(|config| config.settings.payments.as_mut().unwrap().confirm_settlements = false)
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
        // The intervals grow.
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
        let names = || -> Vec<String> {
            till.app.networks_without_chain_access().iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(), ["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]);
        till.fake.sees_the_chain();
        assert!(names().is_empty());
    })
    .await;
}

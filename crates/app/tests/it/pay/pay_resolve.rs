//! Payments that an operator decides, and payments that must not be made twice.

use crate::harness::till::{HTML, Till, at_each_till, failed, page, request};
use crate::harness::{Call, DAY, Fault, NOW};
use dropleaf_app::{Order, PayError, Resolution};
use dropleaf_core::Code;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::unlock::Sku;

const HASH: &str = "0x00000000000000000000000000000000000000000000000000000000000000ab";
const FOR_GOOD: Item = Item::Unlock(Sku::MakePermanent);

/// A payment for a page with an unknown outcome.
async fn unknown(till: &Till, fault: Fault) -> Payment {
    till.fake.next(Call::Settle, [fault.clone(), fault]);
    failed(till.publish(1).await, Code::SettlementUnknown);
    till.app.list_payments(Some(PaymentState::Unknown), 9).await.unwrap().remove(0)
}

async fn balanced(till: &Till) {
    let audit = till.app.audit_ledger().await.unwrap();
    assert!(audit.faults.is_empty(), "{:?}", audit.faults);
}

#[tokio::test]
async fn what_was_settled_after_all_is_made_and_told_to_its_payer() {
    at_each_till(async |till| {
        let payment = unknown(till, Fault::DoesAndCloses).await;
        let proof = till.sign(Item::Publish, 1);
        let settled = Resolution::Settled { transaction: HASH.into() };
        let decided = till.app.resolve_payment("ada", &payment.id, settled.clone()).await.unwrap();
        assert_eq!((decided.state, decided.transaction.as_deref()), (PaymentState::Fulfilled, Some(HASH)));
        assert_eq!(decided.delivered_at, None, "nobody was told yet");
        let again = till.app.resolve_payment("ada", &payment.id, settled).await.unwrap_err();
        assert_eq!(again.code, Code::Conflict);
        till.clock.advance(DAY - 60);
        let bought = till.publish_html(proof, HTML).await.unwrap();
        assert!(bought.is_replay);
        assert!(page(&bought).1.starts_with("clm_"));
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM ledger_txns WHERE kind = 'income'").await, 1);
        balanced(till).await;
    })
    .await;
}

#[tokio::test]
async fn what_was_not_settled_is_let_go_and_its_proof_is_fresh_again() {
    at_each_till(async |till| {
        let payment = unknown(till, Fault::Closes).await;
        let no = Resolution::NotSettled { reason: "the nonce is unused".into() };
        let early = till.app.resolve_payment("ada", &payment.id, no.clone()).await.unwrap_err();
        assert_eq!(early.code, Code::Conflict, "the holder of the signature can still settle it");
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles WHERE refs = 1").await, 1);
        till.clock.advance(200);
        let decided = till.app.resolve_payment("ada", &payment.id, no).await.unwrap();
        assert_eq!(decided.state, PaymentState::Refused);
        assert!(decided.ask.is_none() && decided.draft.is_none() && decided.bundle_id.is_none());
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles WHERE refs = 0").await, 1, "for the sweep");
        let late = till.publish_html(till.purse.sign(&till.terms(Item::Publish), 1, NOW), HTML).await;
        assert!(matches!(late, Err(PayError::Refused(_))), "it is no longer valid: {late:?}");
        assert_eq!((till.fake.moved(), till.count("SELECT COUNT(*) FROM sites").await), (0, 0));
        balanced(till).await;
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_made_is_closed_as_refunded_and_buys_nothing_any_more() {
    at_each_till(async |till| {
        let refunded = || Resolution::Refunded { reason: "sent back by 0xab".into() };
        till.exec("ALTER TABLE sites RENAME TO sites_away").await;
        failed(till.publish(1).await, Code::PaidNotSaved);
        let payment = till.app.list_payments(Some(PaymentState::Settled), 9).await.unwrap().remove(0);
        let unsaid = Resolution::Refunded { reason: " ".into() };
        assert!(till.app.resolve_payment("ada", &payment.id, unsaid).await.is_err());
        let not = Resolution::NotSettled { reason: "it was".into() };
        assert_eq!(till.app.resolve_payment("ada", &payment.id, not).await.unwrap_err().code, Code::Conflict);
        let closed = till.app.resolve_payment("ada", &payment.id, refunded()).await.unwrap();
        assert_eq!(closed.state, PaymentState::Refunded);
        assert!(closed.draft.is_none() && closed.bundle_id.is_none() && closed.transaction.is_some());
        let again = till.app.resolve_payment("ada", &payment.id, refunded()).await.unwrap_err();
        assert_eq!(again.code, Code::Conflict);
        till.exec("ALTER TABLE sites_away RENAME TO sites").await;

        assert_eq!(till.app.recover_payments().await.unwrap(), 0);
        let used = failed(till.publish(1).await, Code::PaymentUsed);
        assert_eq!(used.facts, [("reason", dropleaf_core::error::Fact::Text("refunded".into()))]);
        till.clock.advance(60 * DAY);
        till.app.sweep().await.unwrap();
        assert_eq!(till.states().await, ["refunded"], "it is not forgotten");
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM ledger_txns").await, 0);
        assert_eq!(till.fake.calls(Call::Settle), 1);
        let lines = till.app.list_audit(9).await.unwrap();
        assert_eq!(lines[0].reason.as_deref(), Some("refunded: sent back by 0xab"));
        balanced(till).await;
    })
    .await;
}

#[tokio::test]
async fn one_transaction_is_not_taken_for_two_payments() {
    at_each_till(async |till| {
        let first = unknown(till, Fault::DoesAndCloses).await;
        till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::DoesAndCloses]);
        failed(till.publish(2).await, Code::SettlementUnknown);
        let all = till.app.list_payments(Some(PaymentState::Unknown), 9).await.unwrap();
        let second = all.iter().find(|payment| payment.id != first.id).unwrap();
        let settled = |hash: &str| Resolution::Settled { transaction: hash.into() };
        till.app.resolve_payment("ada", &first.id, settled(HASH)).await.unwrap();
        for same in [HASH.to_owned(), format!("0x{}", HASH[2..].to_uppercase())] {
            let refused = till.app.resolve_payment("ada", &second.id, settled(&same)).await.unwrap_err();
            assert_eq!(refused.code, Code::Conflict);
            assert!(format!("{refused:?}").contains(&first.id), "{refused:?}");
        }
        let own = HASH.replace("ab", "cd");
        let decided = till.app.resolve_payment("ada", &second.id, settled(&own)).await.unwrap();
        assert_eq!(decided.state, PaymentState::Fulfilled);
        balanced(till).await;
    })
    .await;
}

#[tokio::test]
async fn the_chain_is_believed_more_than_a_person() {
    at_each_till(async |till| {
        let payment = unknown(till, Fault::DoesAndCloses).await;
        till.fake.sees_the_chain();
        till.clock.advance(200);
        let no = Resolution::NotSettled { reason: "looked at the wrong wallet".into() };
        let refused = till.app.resolve_payment("ada", &payment.id, no).await.unwrap_err();
        assert_eq!(refused.code, Code::Conflict);
        let other = Resolution::Settled { transaction: HASH.into() };
        let refused = till.app.resolve_payment("ada", &payment.id, other).await.unwrap_err();
        assert_eq!(refused.code, Code::Conflict);
        let transaction = till.fake.ledger()[0].transaction();
        let right = Resolution::Settled { transaction };
        let decided = till.app.resolve_payment("ada", &payment.id, right).await.unwrap();
        assert_eq!(decided.state, PaymentState::Fulfilled);
        balanced(till).await;
    })
    .await;
}

#[tokio::test]
async fn only_so_many_copies_wait_for_the_first() {
    at_each_till(async |till| {
        let proof = till.sign(Item::Publish, 1);
        till.fake.next(Call::Settle, [Fault::Waits]);
        let copies = (0..32).map(|_| till.publish_html(proof.clone(), HTML));
        let (all, ()) = tokio::join!(futures_util::future::join_all(copies), async {
            till.fake.stalled().await;
            failed(till.publish_html(proof.clone(), HTML).await, Code::PaymentInFlight);
            till.publish(2).await.unwrap();
            till.fake.let_go();
        });
        assert!(all.iter().all(Result::is_ok));
        assert!(till.publish_html(proof, HTML).await.unwrap().is_replay);
        assert_eq!(till.fake.ledger().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn refused_payments_are_forgotten_after_a_month() {
    at_each_till(async |till| {
        let payment = unknown(till, Fault::Closes).await;
        till.clock.advance(200);
        let no = Resolution::NotSettled { reason: "the nonce is unused".into() };
        till.app.resolve_payment("ada", &payment.id, no).await.unwrap();
        till.publish(2).await.unwrap();
        till.clock.advance(29 * DAY);
        till.app.sweep().await.unwrap();
        assert_eq!(till.count("SELECT COUNT(*) FROM payments").await, 2);
        till.clock.advance(2 * DAY);
        till.app.sweep().await.unwrap();
        assert_eq!(till.states().await, ["fulfilled"]);
        balanced(till).await;
    })
    .await;
}

#[tokio::test]
async fn what_holds_for_good_is_paid_for_once_however_many_pay_at_once() {
    at_each_till(async |till| {
        let account = till.app.create_account("a@example.org", Some("free"), false).await.unwrap();
        till.app.credit_account("ada", &account.id, 200, "a gift", None).await.unwrap();
        let other = till.beside().await;
        let pay = async |node: &Till, nonce: u8| {
            let order = Order::Unlock { account: account.clone(), sku: Sku::MakePermanent };
            node.app.execute_purchase(request(order, till.sign(FOR_GOOD, nonce), "for good")).await
        };
        till.fake.next(Call::Settle, [Fault::Waits]);
        let (first, second, drawn) = tokio::join!(pay(till, 1), pay(&other, 2), async {
            till.fake.stalled().await;
            let third =
                till.app.unlock_with_balance(&account, Sku::MakePermanent, None, |_| Vec::new()).await;
            till.fake.let_go();
            third
        });
        let done = [&first, &second].into_iter().filter(|one| one.is_ok()).count();
        assert_eq!(done, 1, "{first:?} {second:?}");
        let lost = if first.is_ok() { second } else { first };
        failed(lost, Code::Conflict);
        assert_eq!(drawn.unwrap_err().code, Code::Conflict, "a payment for it is under way");
        assert_eq!(till.fake.moved(), 2_000_000);
        assert!(till.app.is_unlocked(&account.id, Sku::MakePermanent).await.unwrap());
        assert_eq!(till.app.get_account(&account.id).await.unwrap().balance_minor, 200);
        balanced(till).await;
        other.app.close().await;
    })
    .await;
}

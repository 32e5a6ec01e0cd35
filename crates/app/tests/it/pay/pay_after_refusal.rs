//! Payments that were refused and later turn out to be paid, and payments that an operator queries.

use crate::harness::till::{HOME, HTML, Till, at_each_till, failed, key, page};
use crate::harness::{Call, DAY, Fault, NOW, VALID_SECONDS};
use dropleaf_app::{PayError, Resolution};
use dropleaf_core::Code;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_pay::{Generation, Proof, payer};
use serde_json::json;

const HASH: &str = "0x00000000000000000000000000000000000000000000000000000000000000ab";
const POOR: &str =
    r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#;

async fn only(till: &Till, state: PaymentState) -> Payment {
    till.app.list_payments(Some(state), 9).await.unwrap().remove(0)
}

/// The same payment, with a signature that a contract might have made.
fn contract_proof(till: &Till) -> Proof {
    let terms = till.terms(Item::Publish);
    let offer = terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap();
    let mut payload = till.purse.evm.payload(offer, [1; 32], 0, NOW + VALID_SECONDS).unwrap();
    payload["signature"] = json!(format!("0x{}", "11".repeat(70)));
    let header = payer::header(&payer::proof(offer, terms.resource(), Generation::V2, &payload));
    Proof::parse(Generation::V2, &header).unwrap()
}

fn settled() -> Resolution {
    Resolution::Settled { transaction: HASH.into() }
}

#[tokio::test]
async fn a_refused_page_that_was_paid_after_all_is_made_when_its_payer_sends_it_again() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, POOR)]);
        assert!(matches!(till.publish(1).await, Err(PayError::Refused(_))));
        let refused = only(till, PaymentState::Refused).await;
        let proof = till.purse.sign(&till.terms(Item::Publish), 1, NOW);
        let decided = till.app.resolve_payment("ada", &refused.id, settled()).await.unwrap();
        assert_eq!((decided.state, decided.transaction.as_deref()), (PaymentState::Settled, Some(HASH)));
        assert!(till.app.payment_overview().await.unwrap().open.iter().any(|open| open.id == refused.id));
        // Its content is gone, so recovery cannot fulfill it.
        till.clock.advance(DAY);
        till.app.collect_unreferenced_bodies().await.unwrap();
        assert_eq!(till.app.recover_payments().await.unwrap(), 0);
        assert_eq!(till.count("SELECT attempts FROM payments").await, 1);
        assert_eq!(till.app.check_payment_now(&refused.id).await.unwrap_err().code, Code::Conflict);
        // The payer sends it again, long after it has expired.
        failed(till.publish_html(proof.clone(), "<p>something else").await, Code::PaymentUsed);
        failed(till.publish_html(contract_proof(till), HTML).await, Code::PaymentUsed);
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE draft IS NOT NULL").await, 0);
        let bought = till.publish_html(proof.clone(), HTML).await.unwrap();
        assert_eq!(till.states().await, ["fulfilled"]);
        assert_eq!(page(&till.publish_html(proof, HTML).await.unwrap()), page(&bought));
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles WHERE refs = 1").await, 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM ledger_txns WHERE kind = 'income'").await, 1);
        assert!(till.app.audit_ledger().await.unwrap().faults.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_refused_key_that_was_paid_after_all_is_made_at_once_and_waits_for_its_payer() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, POOR)]);
        let proof = till.sign(Item::Provision, 1);
        assert!(matches!(till.provision(&proof, HOME, None).await, Err(PayError::Refused(_))));
        let refused = only(till, PaymentState::Refused).await;
        let no = Resolution::NotSettled { reason: "it is refused already".into() };
        let again = till.app.resolve_payment("ada", &refused.id, no).await.unwrap_err();
        assert_eq!(again.code, Code::Conflict);
        let decided = till.app.resolve_payment("ada", &refused.id, settled()).await.unwrap();
        assert_eq!(decided.state, PaymentState::Fulfilled);
        till.clock.advance(DAY);
        assert!(key(&till.provision(&proof, HOME, None).await.unwrap()).starts_with("stk_"));
        assert_eq!(till.count("SELECT COUNT(*) FROM ledger_txns WHERE kind = 'income'").await, 1);
        let lines = till.app.list_audit(9).await.unwrap();
        assert_eq!(lines[0].reason.as_deref(), Some(format!("settled by {HASH}").as_str()));
    })
    .await;
}

#[tokio::test]
async fn the_chain_is_asked_before_a_refused_payment_is_booked() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::says(200, POOR)]);
        assert!(matches!(till.publish(1).await, Err(PayError::Refused(_))));
        let refused = only(till, PaymentState::Refused).await;
        till.fake.sees_the_chain();
        let early = till.app.resolve_payment("ada", &refused.id, settled()).await.unwrap_err();
        assert!(early.code == Code::Conflict && early.detail.contains("does not show"), "{early:?}");
        till.clock.advance(DAY);
        let late = till.app.resolve_payment("ada", &refused.id, settled()).await.unwrap_err();
        assert!(late.code == Code::Conflict && late.detail.contains("can no longer be settled"), "{late:?}");
    })
    .await;
}

#[tokio::test]
async fn an_operator_asks_at_once_whatever_the_pauses_are() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes, Fault::Closes]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        let unknown = only(till, PaymentState::Unknown).await;
        let asked = till.app.check_payment_now(&unknown.id).await.unwrap();
        assert_eq!(asked.state, PaymentState::Unknown, "nobody answers");
        assert!(asked.attempts > unknown.attempts);
        let asked = till.app.check_payment_now(&unknown.id).await.unwrap();
        assert_eq!(asked.state, PaymentState::Fulfilled);
        assert_eq!(asked.delivered_at, None, "its payer was not told yet");
        let again = till.app.check_payment_now(&unknown.id).await.unwrap_err();
        assert_eq!(again.code, Code::Conflict);
        assert_eq!(till.app.check_payment_now("pay_x").await.unwrap_err().code, Code::NotFound);
        till.exec("UPDATE payments SET state = 'unknown', sandbox = 1").await;
        let other = till.app.check_payment_now(&unknown.id).await.unwrap_err();
        assert!(other.code == Code::Conflict && other.detail.contains("payments.mode"), "{other:?}");
    })
    .await;
}

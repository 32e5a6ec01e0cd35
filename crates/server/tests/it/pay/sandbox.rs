//! The sandbox facilitator and its ledger: each key is settled once, permanently, and gets the same response however
//! often and however late.

use crate::harness::{DAY, NOW, Node, Purse, Setup, on_each_database};
use dropleaf_app::{Facilitator, FacilitatorCall, Sandbox};
use dropleaf_core::payment::Item;
use dropleaf_core::{Clock, ManualClock};
use dropleaf_pay::facilitator::{self, ReplyStatus};
use dropleaf_pay::{Amount, Asset, EvmAddress, Network, Offer, Terms};
use dropleaf_store::{Blobs, Db, Store};
use serde_json::Value;
use std::sync::Arc;

async fn sandbox(node: &Node, networks: Vec<Network>) -> (Sandbox, Arc<ManualClock>) {
    let db = Db::open(&node.running.resolved.database_url).await.unwrap();
    let blobs = Blobs::open(&node.running.resolved.blobs_url, 0).unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    (Sandbox::new(Store::new(db, blobs), clock.clone(), networks), clock)
}

fn terms(node: &Node) -> Terms {
    node.app().listing(Item::Publish).unwrap().terms.clone()
}

/// The request body for the facilitator about a payment on the EVM network.
fn body(terms: &Terms, nonce: u8) -> String {
    let checked = Purse::new().sign(terms, nonce, NOW).check(terms, NOW).unwrap();
    facilitator::build_request(&checked, terms)
}

async fn ask(sandbox: &Sandbox, call: FacilitatorCall, body: &str) -> Value {
    let reply = sandbox.send(call, body).await.unwrap();
    assert_eq!(reply.status, ReplyStatus::Success);
    serde_json::from_slice(&reply.body).unwrap()
}

async fn transfers(node: &Node) -> i64 {
    node.count("SELECT COUNT(*) FROM sandbox_transfers").await
}

#[tokio::test]
async fn what_is_settled_stays_settled_also_when_its_time_is_over() {
    on_each_database(Setup::new, async |node| {
        let (sandbox, clock) = sandbox(node, vec![Network::BASE]).await;
        let body = body(&terms(node), 1);
        assert_eq!(ask(&sandbox, FacilitatorCall::Verify, &body).await["isValid"], true);
        assert_eq!(transfers(node).await, 0, "looking moves nothing");
        let first = ask(&sandbox, FacilitatorCall::Settle, &body).await;
        assert_eq!(first["success"], true);
        assert_eq!(ask(&sandbox, FacilitatorCall::Settle, &body).await, first);
        clock.advance(DAY);
        assert_eq!(ask(&sandbox, FacilitatorCall::Settle, &body).await, first);
        assert_eq!(transfers(node).await, 1);
        // Verifying it again is different: on a chain the nonce is used.
        let again = ask(&sandbox, FacilitatorCall::Verify, &body).await;
        assert_eq!(again["invalidReason"], "invalid_exact_evm_nonce_already_used");
    })
    .await;
}

#[tokio::test]
async fn copies_at_the_same_time_are_one_transfer() {
    on_each_database(Setup::new, async |node| {
        let (sandbox, _) = sandbox(node, vec![Network::BASE]).await;
        let body = body(&terms(node), 1);
        let copies = (0..20).map(|_| ask(&sandbox, FacilitatorCall::Settle, &body));
        let answers = futures_util::future::join_all(copies).await;
        assert!(answers.iter().all(|answer| answer["success"] == true && *answer == answers[0]));
        assert_eq!(transfers(node).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_nonce_pays_one_amount_to_one_address() {
    on_each_database(Setup::new, async |node| {
        let (sandbox, clock) = sandbox(node, vec![Network::BASE]).await;
        let ours = terms(node);
        let first = ask(&sandbox, FacilitatorCall::Settle, &body(&ours, 1)).await;
        let bent = |bend: &dyn Fn(&mut Offer)| {
            let mut offer = ours.offers().iter().find(|offer| offer.network().is_evm()).unwrap().clone();
            bend(&mut offer);
            Terms::new(ours.resource().clone(), vec![offer]).unwrap()
        };
        let dearer = bent(&|offer| offer.amount = Amount::new(5_000_000));
        let elsewhere = bent(&|offer| {
            if let Asset::Evm { pay_to, .. } = &mut offer.asset {
                *pay_to = EvmAddress([9; 20]);
            }
        });
        for terms in [&dearer, &elsewhere] {
            let body = body(terms, 1);
            for late in [0, DAY] {
                clock.advance(late);
                let answer = ask(&sandbox, FacilitatorCall::Settle, &body).await;
                assert_eq!(answer["success"], false);
                assert_eq!(answer["errorReason"], "invalid_exact_evm_nonce_already_used");
            }
        }
        assert_eq!(ask(&sandbox, FacilitatorCall::Settle, &body(&ours, 1)).await, first);
        assert_eq!(node.count("SELECT CAST(SUM(amount) AS BIGINT) FROM sandbox_transfers").await, 500_000);
    })
    .await;
}

#[tokio::test]
async fn what_comes_late_or_from_elsewhere_is_refused() {
    let node = Node::start().await;
    let ours = terms(&node);
    let (sandbox, clock) = sandbox(&node, vec![Network::SOLANA]).await;
    let body = body(&ours, 1);
    assert_eq!(ask(&sandbox, FacilitatorCall::Settle, &body).await["errorReason"], "invalid_network");
    assert_eq!(ask(&sandbox, FacilitatorCall::Verify, &body).await["invalidReason"], "invalid_network");
    let checked = Purse::new().sign_solana(&ours, 1).check(&ours, NOW).unwrap();
    let paid = ask(&sandbox, FacilitatorCall::Settle, &facilitator::build_request(&checked, &ours)).await;
    assert_eq!(paid["success"], true);

    let (base, late) = sandbox_of_base(&node).await;
    late.advance(DAY);
    let refused = ask(&base, FacilitatorCall::Settle, &body).await;
    assert_eq!(refused["errorReason"], "invalid_exact_evm_payload_authorization_valid_before");
    for garbage in ["", "null", "{}", "[]"] {
        assert_eq!(ask(&base, FacilitatorCall::Settle, garbage).await["success"], false);
        assert_eq!(ask(&base, FacilitatorCall::Verify, garbage).await["isValid"], false);
    }
    assert_eq!(transfers(&node).await, 1);
    assert_eq!(clock.now(), NOW);
}

async fn sandbox_of_base(node: &Node) -> (Sandbox, Arc<ManualClock>) {
    sandbox(node, vec![Network::BASE]).await
}

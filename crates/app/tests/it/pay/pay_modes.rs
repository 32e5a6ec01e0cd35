//! Payments made under other settings: in the other mode, before payments were disabled, on a network that is no longer
//! offered. None is queried in the wrong place, and none is answered with terms.

use crate::harness::till::{HTML, PRICE, Till, TillConfig, at_each_till, failed, page};
use crate::harness::{Call, Database, Fault};
use dropleaf_app::Mode;
use dropleaf_core::Code;
use dropleaf_core::payment::Item;
use dropleaf_pay::{Cluster, Network, sandbox};

const HOLD: i64 = 30;

fn mode(mode: Mode) -> impl FnOnce(&mut TillConfig) {
    move |config| config.settings.payments.as_mut().unwrap().mode = mode
}

fn off(config: &mut TillConfig) {
    config.settings.payments = None;
}

#[tokio::test]
async fn the_sandbox_is_not_asked_about_money() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes]);
        let proof = till.sign(Item::Publish, 1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        let play = till.beside_with(mode(Mode::Sandbox)).await;
        till.clock.advance(HOLD);
        assert_eq!(play.app.recover_payments().await.unwrap(), 0);
        failed(play.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
        assert_eq!(play.count("SELECT COUNT(*) FROM sandbox_transfers").await, 0);
        assert_eq!(play.states().await, ["unknown"]);
        // The mode in which it was made decides.
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        assert_eq!(page(&play.publish_html(proof.clone(), HTML).await.unwrap()).0, {
            page(&till.publish_html(proof, HTML).await.unwrap()).0
        });
        assert_eq!(till.fake.moved(), PRICE);
    })
    .await;
}

#[tokio::test]
async fn nobody_is_asked_for_money_because_of_the_sandbox() {
    for database in [Database::Sqlite, Database::postgres().await] {
        let play = Till::open_in(&database, Mode::Sandbox).await;
        let told = play.publish(1).await.unwrap();
        let proof = play.sign(Item::Publish, 2);
        play.exec("ALTER TABLE sites RENAME TO sites_away").await;
        failed(play.publish_html(proof.clone(), HTML).await, Code::PaidNotSaved);
        play.exec("ALTER TABLE sites_away RENAME TO sites").await;
        for state in ["unknown", "settling", "verified"] {
            let sql = match state {
                "unknown" => "UPDATE payments SET state = 'unknown' WHERE state <> 'fulfilled'",
                "settling" => "UPDATE payments SET state = 'settling' WHERE state <> 'fulfilled'",
                _ => "UPDATE payments SET state = 'verified', attempts = 0 WHERE state <> 'fulfilled'",
            };
            play.exec(sql).await;
            play.clock.advance(HOLD);
            let live = play.beside_with(mode(Mode::Live)).await;
            assert_eq!(live.app.recover_payments().await.unwrap(), 0, "{state}");
            failed(live.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            assert_eq!((live.fake.calls(Call::Verify), live.fake.calls(Call::Settle)), (0, 0), "{state}");
            // The goods are returned, still marked as sandbox.
            let again = live.publish_html(sign_first(&live), HTML).await.unwrap();
            assert_eq!(page(&again), page(&told));
            assert!(again.payment.sandbox && again.is_replay);
            assert_eq!(live.fake.calls(Call::Verify), 0);
        }
        play.app.close().await;
        database.remove().await;
    }
}

fn sign_first(till: &Till) -> dropleaf_pay::Proof {
    till.purse.sign(&till.terms(Item::Publish), 1, crate::harness::NOW)
}

#[tokio::test]
async fn what_is_settled_is_made_in_every_mode() {
    at_each_till(async |till| {
        for (nonce, after) in [(1, None), (2, Some(Mode::Sandbox))] {
            till.exec("ALTER TABLE sites RENAME TO sites_away").await;
            failed(till.publish(nonce).await, Code::PaidNotSaved);
            till.exec("ALTER TABLE sites_away RENAME TO sites").await;
            let other = match after {
                None => till.beside_with(off).await,
                Some(other) => till.beside_with(mode(other)).await,
            };
            assert_eq!(other.app.recover_payments().await.unwrap(), 1);
            assert_eq!(other.states().await.last().unwrap(), "fulfilled");
        }
        assert_eq!(till.fake.moved(), 2 * PRICE);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 2);
    })
    .await;
}

#[tokio::test]
async fn switched_off_nothing_that_is_open_is_touched() {
    at_each_till(async |till| {
        till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes]);
        failed(till.publish(1).await, Code::SettlementUnknown);
        till.clock.advance(HOLD);
        let closed = till.beside_with(off).await;
        assert_eq!(closed.app.recover_payments().await.unwrap(), 0);
        assert_eq!(closed.fake.calls(Call::Settle), 2);
        assert_eq!(closed.states().await, ["unknown"]);
    })
    .await;
}

#[tokio::test]
async fn a_known_payment_is_finished_though_its_network_is_no_longer_offered() {
    at_each_till(async |till| {
        let mut nonce = 0;
        let mut open = async || {
            nonce += 1;
            till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes]);
            let proof = till.sign(Item::Publish, nonce);
            failed(till.publish_html(proof.clone(), HTML).await, Code::SettlementUnknown);
            till.clock.advance(HOLD);
            proof
        };
        let proof = open().await;
        // The operator has removed the network.
        let other = till.beside_with(|it| it.settings.payments.as_mut().unwrap().evm = None).await;
        page(&other.publish_html(proof, HTML).await.unwrap());

        // The operator has removed all networks; a new payment is refused, a known one is not.
        let proof = open().await;
        let bare = |it: &mut TillConfig| {
            let payments = it.settings.payments.as_mut().unwrap();
            (payments.evm, payments.solana) = (None, None);
        };
        let other = till.beside_with(bare).await;
        page(&other.publish_html(proof, HTML).await.unwrap());
        failed(other.publish_html(till.sign(Item::Publish, 99), HTML).await, Code::RailNotLive);

        // The operator now accepts another token.
        let proof = open().await;
        let change = |it: &mut TillConfig| {
            let way = it.settings.payments.as_mut().unwrap().evm.as_mut().unwrap();
            way.token.address = way.pay_to;
        };
        page(&till.beside_with(change).await.publish_html(proof, HTML).await.unwrap());

        // The facilitator no longer supports it.
        let proof = open().await;
        let solana = sandbox::supported_json(&[Network::SOLANA], sandbox::fee_payer(Cluster::Mainnet));
        till.fake.next(Call::Supported, [Fault::says(200, &solana.to_string())]);
        assert!(till.app.refresh_listings().await);
        page(&till.publish_html(proof, HTML).await.unwrap());
        assert_eq!(till.fake.moved(), 4 * PRICE);
    })
    .await;
}

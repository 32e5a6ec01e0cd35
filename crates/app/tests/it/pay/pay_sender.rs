//! Who gets the goods of a payment: its proof is public once it is settled, so secrets are returned only to its sender,
//! for a limited time from the first response. x402 §8.4.

use crate::harness::till::{HOME, HTML, PRICE, Till, TillConfig, at_each_till, bare_page, failed, key, page};
use crate::harness::{Call, DAY, Fault, Purse, VALID_SECONDS};
use dropleaf_core::Code;
use dropleaf_core::host::Origin;
use dropleaf_core::payment::Item;
use dropleaf_pay::payer;
use dropleaf_pay::{Generation, Proof};
use serde_json::json;

const ELSEWHERE: [u8; 4] = [198, 51, 100, 9];
const NAME: &str = "a name nobody guesses";
const COME_BACK: i64 = 10;
const HOLD: i64 = 30;

async fn leave_unknown(till: &Till, item: Item) -> Proof {
    till.fake.next(Call::Settle, [Fault::DoesAndCloses, Fault::Closes]);
    let proof = till.sign(item, 1);
    let outcome = match item {
        Item::Provision => till.provision(&proof, HOME, Some(NAME)).await,
        _ => till.publish_from(&proof, HOME, Some(NAME)).await,
    };
    failed(outcome, Code::SettlementUnknown);
    proof
}

#[tokio::test]
async fn what_changes_a_page_is_told_again_to_its_sender_alone() {
    at_each_till(async |till| {
        let proof = till.sign(Item::Publish, 1);
        let first = till.publish_from(&proof, HOME, Some(NAME)).await.unwrap();
        let stranger = till.publish_from(&proof, ELSEWHERE, None).await.unwrap();
        assert_eq!(bare_page(&stranger), page(&first).0);
        assert_eq!(page(&till.publish_from(&proof, HOME, None).await.unwrap()), page(&first));
        assert_eq!(page(&till.publish_from(&proof, ELSEWHERE, Some(NAME)).await.unwrap()), page(&first));
        assert_eq!(till.fake.calls(Call::Settle), 1);
    })
    .await;
}

#[tokio::test]
async fn a_page_that_nobody_was_told_of_waits_for_its_sender() {
    at_each_till(async |till| {
        let proof = leave_unknown(till, Item::Publish).await;
        till.clock.advance(HOLD);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        till.clock.advance(30 * DAY);
        till.app.sweep().await.unwrap();
        // A request from elsewhere does not start that time.
        bare_page(&till.publish_from(&proof, ELSEWHERE, None).await.unwrap());
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE delivered_at IS NULL").await, 1);
        let told = till.publish_from(&proof, HOME, None).await.unwrap();
        till.clock.advance(DAY - 1);
        till.app.sweep().await.unwrap();
        assert_eq!(page(&till.publish_from(&proof, HOME, None).await.unwrap()), page(&told));
        till.clock.advance(1);
        failed(till.publish_from(&proof, HOME, None).await, Code::PaymentUsed);
        till.app.sweep().await.unwrap();
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE draft IS NOT NULL").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_key_that_nobody_was_told_of_waits_for_ninety_days() {
    at_each_till(async |till| {
        let proof = leave_unknown(till, Item::Provision).await;
        till.clock.advance(HOLD);
        assert_eq!(till.app.recover_payments().await.unwrap(), 1);
        till.clock.advance(90 * DAY - 1);
        till.app.sweep().await.unwrap();
        key(&till.provision(&proof, ELSEWHERE, Some(NAME)).await.unwrap());
        till.exec("UPDATE payments SET delivered_at = NULL").await;
        till.clock.advance(1);
        failed(till.provision(&proof, HOME, None).await, Code::PaymentUsed);
        till.app.sweep().await.unwrap();
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE draft IS NOT NULL").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_stranger_drives_a_payment_on_and_learns_nothing() {
    at_each_till(async |till| {
        let proof = leave_unknown(till, Item::Provision).await;
        failed(till.provision(&proof, ELSEWHERE, None).await, Code::PaymentInFlight);
        assert_eq!(till.states().await, ["fulfilled"]);
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE delivered_at IS NULL").await, 1);
        failed(till.provision(&proof, ELSEWHERE, None).await, Code::PaymentUsed);
        key(&till.provision(&proof, HOME, None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn an_address_from_inside_shows_nobody_unless_the_server_is_at_home() {
    at_each_till(async |till| {
        let public = |it: &mut TillConfig| {
            it.hosts.base = Origin::parse("https://pages.example.com").unwrap();
        };
        let public = till.beside_with(public).await;
        for (nonce, inside) in (1..).zip([[10, 0, 0, 1], [127, 0, 0, 1], [192, 168, 1, 1]]) {
            let proof = public.sign(Item::Provision, nonce);
            key(&public.provision(&proof, inside, None).await.unwrap());
            failed(public.provision(&proof, inside, None).await, Code::PaymentUsed);
        }
        let proof = public.sign(Item::Provision, 8);
        key(&public.provision(&proof, HOME, None).await.unwrap());
        key(&public.provision(&proof, HOME, None).await.unwrap());
        let proof = till.sign(Item::Provision, 9);
        key(&till.provision(&proof, [127, 0, 0, 1], None).await.unwrap());
        key(&till.provision(&proof, [127, 0, 0, 1], None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn names_show_a_sender_when_they_are_long_and_either_of_two_does() {
    at_each_till(async |till| {
        let proof = till.sign(Item::Provision, 1);
        key(&till.provision(&proof, HOME, Some("fifteen letters")).await.unwrap());
        failed(till.provision(&proof, ELSEWHERE, Some("fifteen letters")).await, Code::PaymentUsed);

        let purse = Purse::new().identified("payment-0123456789");
        let proof = purse.sign(&till.terms(Item::Provision), 2, till.app.now());
        let first = till.provision(&proof, HOME, Some(NAME)).await.unwrap();
        let plain = till.sign(Item::Provision, 2);
        assert_eq!(key(&till.provision(&proof, ELSEWHERE, None).await.unwrap()), key(&first));
        assert_eq!(key(&till.provision(&plain, ELSEWHERE, Some(NAME)).await.unwrap()), key(&first));
        failed(till.provision(&plain, ELSEWHERE, None).await, Code::PaymentUsed);
    })
    .await;
}

#[tokio::test]
async fn a_payment_signed_by_a_key_is_not_taken_up_by_what_a_contract_might_have_signed() {
    at_each_till(async |till| {
        leave_unknown(till, Item::Publish).await;
        till.clock.advance(COME_BACK);
        let terms = till.terms(Item::Publish);
        let offer = terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap();
        let until = crate::harness::NOW + VALID_SECONDS;
        let mut payload = till.purse.evm.payload(offer, [1; 32], 0, until).unwrap();
        payload["signature"] = json!(format!("0x{}", "11".repeat(70)));
        let header = payer::header(&payer::proof(offer, terms.resource(), Generation::V2, &payload));
        let forged = Proof::parse(Generation::V2, &header).unwrap();
        let calls = till.fake.calls(Call::Settle);
        failed(till.publish_html(forged.clone(), HTML).await, Code::PaymentUsed);
        assert_eq!(till.fake.calls(Call::Settle), calls);
        till.app.recover_payments().await.unwrap();
        failed(till.publish_html(forged, HTML).await, Code::PaymentUsed);
    })
    .await;
}

#[tokio::test]
async fn the_name_of_a_payment_that_is_not_decided_does_not_lapse() {
    at_each_till(async |till| {
        leave_unknown(till, Item::Publish).await;
        till.clock.advance(3 * DAY);
        till.app.sweep().await.unwrap();
        // Signed again despite the warnings; with the same idempotency key it is the same purchase.
        till.fake.next(Call::Settle, [Fault::Closes]);
        let payment = till.sign(Item::Publish, 2);
        failed(till.publish_from(&payment, HOME, Some(NAME)).await, Code::SettlementUnknown);
        // By now only the chain can decide.
        till.fake.sees_the_chain();
        till.clock.advance(COME_BACK);
        let payment = till.sign(Item::Publish, 3);
        page(&till.publish_from(&payment, HOME, Some(NAME)).await.unwrap());
        assert_eq!(till.fake.moved(), PRICE);

        // Once it is decided, the key does lapse.
        till.clock.advance(3 * DAY);
        let payment = till.sign(Item::Publish, 4);
        assert!(!till.publish_from(&payment, HOME, Some(NAME)).await.unwrap().is_replay);
        assert_eq!(till.fake.moved(), 2 * PRICE);
    })
    .await;
}

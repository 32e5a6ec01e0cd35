//! The same payment repeated, in other encodings, with other bodies, from elsewhere, later, and other payments with the
//! same idempotency key: what is returned, what is not, and that nothing is charged twice. x402 §8.4, §8.5.

use crate::harness::till::{HOME, HTML, PRICE, Till, at_each_till, failed, key, page, request};
use crate::harness::{Call, DAY, Database, Fault, Purse, VALID_SECONDS};
use dropleaf_app::{Order, PayError, PayRequest, PurchaseResult, PurchasedItem};
use dropleaf_core::Code;
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::Proof;
use dropleaf_pay::payer::EvmPayer;

const ELSEWHERE: [u8; 4] = [198, 51, 100, 9];

async fn publish_named(
    till: &Till,
    proof: Proof,
    html: &str,
    once: &str,
) -> Result<PurchaseResult, PayError> {
    let request = till.page_request(proof, html).await;
    Box::pin(till.app.execute_purchase(PayRequest { idempotency_key: Some(once.to_owned()), ..request }))
        .await
}

#[tokio::test]
async fn the_same_proof_again_is_answered_with_the_same_page_and_charged_once() {
    at_each_till(async |till| {
        let first = till.publish(1).await.unwrap();
        let again = till.publish(1).await.unwrap();
        assert_eq!((first.is_replay, again.is_replay), (false, true));
        assert_eq!(page(&first), page(&again));
        assert_eq!(first.receipt, again.receipt);
        assert_eq!((till.fake.calls(Call::Verify), till.fake.calls(Call::Settle)), (1, 1));
        till.check_one_page(&again).await;
    })
    .await;
}

#[tokio::test]
async fn a_paid_page_knows_its_payment_and_its_wallet() {
    at_each_till(async |till| {
        let bought = till.publish(1).await.unwrap();
        let PurchasedItem::Page { site, .. } = &bought.item else { panic!("a page") };
        assert_eq!(site.payment_id.as_deref(), Some(bought.payment.id.as_str()));
        assert_eq!(site.wallet.as_deref(), Some("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"));
        assert_eq!((site.expires_at, site.account_id.as_deref(), site.counted), (None, None, false));
        let sql = "SELECT COUNT(*) FROM sites s JOIN payments p ON p.id = s.payment_id AND p.site_id = s.id \
                   WHERE s.wallet = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' AND p.ask IS NULL";
        assert_eq!(till.count(sql).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_solana_payer_buys_a_page_without_a_wallet_credential() {
    at_each_till(async |till| {
        let proof = till.purse.sign_solana(&till.terms(Item::Publish), 9);
        let bought = till.publish_html(proof.clone(), HTML).await.unwrap();
        let PurchasedItem::Page { site, .. } = &bought.item else { panic!("a page") };
        assert_eq!(site.wallet, None);
        till.check_one_page(&bought).await;
        assert!(till.publish_html(proof, HTML).await.unwrap().is_replay);
    })
    .await;
}

#[tokio::test]
async fn a_v1_proof_wrapped_as_v2_is_the_same_payment() {
    at_each_till(async |till| {
        let terms = till.terms(Item::Publish);
        let now = till.app.now();
        let v1 = Purse::new().v1().sign(&terms, 1, now);
        let first = till.publish_html(v1, HTML).await.unwrap();
        let again = till.publish_html(Purse::new().sign(&terms, 1, now), HTML).await.unwrap();
        assert!(again.is_replay);
        assert_eq!(page(&first), page(&again));
        till.check_one_page(&again).await;
    })
    .await;
}

#[tokio::test]
async fn the_same_proof_buys_nothing_else() {
    at_each_till(async |till| {
        till.publish(1).await.unwrap();
        failed(till.publish_html(till.sign(Item::Publish, 1), "<p>another").await, Code::PaymentUsed);
        assert_eq!(till.fake.calls(Call::Settle), 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 1);

        // Nor while its outcome is unknown.
        till.fake.next(Call::Settle, [Fault::Closes, Fault::Closes]);
        failed(till.publish(2).await, Code::SettlementUnknown);
        failed(till.publish_html(till.sign(Item::Publish, 2), "<p>another").await, Code::PaymentUsed);
        assert_eq!(till.fake.moved(), PRICE);
    })
    .await;
}

#[tokio::test]
async fn an_expired_proof_of_what_was_bought_is_still_answered_for_a_day() {
    at_each_till(async |till| {
        let proof = till.sign(Item::Publish, 1);
        let first = till.publish_html(proof.clone(), HTML).await.unwrap();
        till.clock.advance(VALID_SECONDS + 60);
        assert_eq!(page(&till.publish_html(proof.clone(), HTML).await.unwrap()), page(&first));
        till.app.sweep().await.unwrap();
        till.clock.advance(DAY - VALID_SECONDS - 61);
        assert_eq!(page(&till.publish_html(proof.clone(), HTML).await.unwrap()), page(&first));

        // Then its claim token is gone, whether or not the sweep has run.
        till.clock.advance(1);
        failed(till.publish_html(proof.clone(), HTML).await, Code::PaymentUsed);
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE draft IS NOT NULL").await, 1);
        till.app.sweep().await.unwrap();
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE draft IS NOT NULL").await, 0);
        failed(till.publish_html(proof, HTML).await, Code::PaymentUsed);
        assert_eq!(till.fake.moved(), PRICE);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 1);
    })
    .await;
}

#[tokio::test]
async fn an_expired_proof_that_bought_nothing_is_refused() {
    let till = Till::open(&Database::Sqlite).await;
    let proof = till.sign(Item::Publish, 1);
    till.clock.advance(VALID_SECONDS);
    let Err(PayError::Refused(refused)) = till.publish_html(proof, HTML).await else { panic!("refused") };
    assert_eq!(refused.reason, "expired");
    assert_eq!(till.fake.calls(Call::Verify), 0);
}

#[tokio::test]
async fn a_key_is_shown_again_for_ten_minutes_to_who_asked_first() {
    at_each_till(async |till| {
        let proof = till.sign(Item::Provision, 1);
        let first = till.provision(&proof, HOME, None).await.unwrap();
        assert!(key(&first).starts_with("stk_live_"));
        assert_eq!(till.fake.moved(), 1_000_000);
        let PurchasedItem::Key { account, new } = &first.item else { panic!("a key") };
        assert_eq!((account.plan.as_str(), account.email.as_deref()), ("free", None));
        assert_eq!(new.key.name, "provisioned");
        assert_eq!(first.payment.account_id.as_deref(), Some(account.id.as_str()));

        // Anyone who reads the chain knows the proof, but is not in its sender's network.
        failed(till.provision(&proof, ELSEWHERE, None).await, Code::PaymentUsed);
        till.clock.advance(599);
        assert_eq!(key(&till.provision(&proof, HOME, None).await.unwrap()), key(&first));
        till.clock.advance(1);
        failed(till.provision(&proof, HOME, None).await, Code::PaymentUsed);
        till.app.sweep().await.unwrap();
        assert_eq!(till.count("SELECT COUNT(*) FROM payments WHERE draft IS NOT NULL").await, 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM api_keys").await, 1);
        assert_eq!(till.count("SELECT COUNT(*) FROM accounts WHERE plan = 'free'").await, 1);
    })
    .await;
}

#[tokio::test]
async fn who_knows_the_name_of_the_request_may_ask_for_the_key_from_elsewhere() {
    at_each_till(async |till| {
        let proof = till.sign(Item::Provision, 1);
        let first = till.provision(&proof, HOME, Some("my own request 1")).await.unwrap();
        failed(till.provision(&proof, ELSEWHERE, Some("another")).await, Code::PaymentUsed);
        assert_eq!(
            key(&till.provision(&proof, ELSEWHERE, Some("my own request 1")).await.unwrap()),
            key(&first)
        );

        till.clock.advance(60);
        let purse = Purse::new().identified("payment-0123456789");
        let proof = purse.sign(&till.terms(Item::Provision), 2, till.app.now());
        let second = till.provision(&proof, HOME, None).await.unwrap();
        assert_ne!(key(&second), key(&first));
        assert_eq!(key(&till.provision(&proof, ELSEWHERE, None).await.unwrap()), key(&second));
        assert_eq!(till.count("SELECT COUNT(*) FROM api_keys").await, 2);
    })
    .await;
}

#[tokio::test]
async fn an_idempotency_key_with_a_second_proof_gets_the_first_answer_and_is_not_charged() {
    at_each_till(async |till| {
        let first = publish_named(till, till.sign(Item::Publish, 1), HTML, "k").await.unwrap();
        let again = publish_named(till, till.sign(Item::Publish, 2), HTML, "k").await.unwrap();
        assert!(again.is_replay);
        assert_eq!(page(&first), page(&again));
        assert_eq!(first.receipt, again.receipt);
        till.check_one_page(&again).await;
        let other = publish_named(till, till.sign(Item::Publish, 3), "<p>another", "k").await;
        failed(other, Code::IdempotencyMismatch);

        // The unused proof can still pay for something else.
        publish_named(till, till.sign(Item::Publish, 2), "<p>another", "l").await.unwrap();
        assert_eq!(till.fake.moved(), 2 * PRICE);
    })
    .await;
}

#[tokio::test]
async fn two_proofs_under_one_name_at_once_charge_one() {
    at_each_till(async |till| {
        let other = till.beside().await;
        // In one process the second waits; on another node it is told to retry.
        let two = [till, till]
            .into_iter()
            .zip([1, 2])
            .map(|(node, nonce)| publish_named(node, node.sign(Item::Publish, nonce), HTML, "k"));
        let told = futures_util::future::try_join_all(two).await.unwrap();
        assert_eq!(page(&told[0]), page(&told[1]));
        till.fake.next(Call::Settle, [Fault::Waits]);
        let slow = publish_named(till, till.sign(Item::Publish, 3), HTML, "m");
        let fast = async {
            till.fake.stalled().await;
            failed(
                publish_named(&other, other.sign(Item::Publish, 4), HTML, "m").await,
                Code::PaymentInFlight,
            );
            till.fake.let_go();
        };
        let (slow, ()) = tokio::join!(slow, fast);
        slow.unwrap();
        assert_eq!(till.fake.moved(), 2 * PRICE);
        assert_eq!(till.count("SELECT COUNT(*) FROM sites").await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_name_is_the_payers_own() {
    at_each_till(async |till| {
        let first = publish_named(till, till.sign(Item::Publish, 1), HTML, "k").await.unwrap();
        let stranger = Purse { evm: EvmPayer::new(&[2; 32]).unwrap(), ..Purse::new() };
        let proof = stranger.sign(&till.terms(Item::Publish), 1, till.app.now());
        let second = publish_named(till, proof, HTML, "k").await.unwrap();
        assert!(!second.is_replay);
        assert_ne!(page(&first), page(&second));
        assert_eq!(till.fake.moved(), 2 * PRICE);
    })
    .await;
}

#[tokio::test]
async fn a_payment_identifier_names_a_request_too() {
    at_each_till(async |till| {
        let purse = Purse::new().identified("payment-0123456789");
        let sign = |nonce| purse.sign(&till.terms(Item::Publish), nonce, till.app.now());
        let first = till.publish_html(sign(1), HTML).await.unwrap();
        assert_eq!(page(&till.publish_html(sign(2), HTML).await.unwrap()), page(&first));
        failed(till.publish_html(sign(3), "<p>another").await, Code::Conflict);
        assert_eq!(till.fake.calls(Call::Settle), 1);
    })
    .await;
}

#[tokio::test]
async fn the_name_of_a_refused_payment_is_free_again() {
    at_each_till(async |till| {
        let no = r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":""}"#;
        till.fake.next(Call::Settle, [Fault::says(200, no)]);
        let outcome = publish_named(till, till.sign(Item::Publish, 1), HTML, "k").await;
        assert!(matches!(outcome, Err(PayError::Refused(_))));
        assert_eq!(till.count("SELECT COUNT(*) FROM idempotency").await, 0);
        let bought = publish_named(till, till.sign(Item::Publish, 2), HTML, "k").await.unwrap();
        assert!(!bought.is_replay);
        assert_eq!(till.fake.moved(), PRICE);
    })
    .await;
}

#[tokio::test]
async fn an_unlock_is_bought_for_the_account_that_asked_and_told_again_for_good() {
    at_each_till(async |till| {
        let account = till.app.create_account("a@example.org", Some("free"), false).await.unwrap();
        let stranger = till.app.create_account("b@example.org", Some("free"), false).await.unwrap();
        let item = Item::Unlock(Sku::HigherLimits);
        let proof = till.sign(item, 1);
        let buy = async |account: &dropleaf_core::account::Account| {
            let order = Order::Unlock { account: account.clone(), sku: Sku::HigherLimits };
            Box::pin(till.app.execute_purchase(request(order, proof.clone(), "higher limits"))).await
        };
        let first = buy(&account).await.unwrap();
        let PurchasedItem::Unlock { account: told, sku, .. } = &first.item else { panic!("an unlock") };
        assert_eq!((told.id.as_str(), *sku), (account.id.as_str(), Sku::HigherLimits));
        assert_eq!(till.fake.moved(), 25_000_000);
        failed(buy(&stranger).await, Code::PaymentUsed);
        till.clock.advance(3 * DAY);
        till.app.sweep().await.unwrap();
        assert!(buy(&account).await.unwrap().is_replay);
        assert_eq!(till.fake.calls(Call::Settle), 1);
    })
    .await;
}

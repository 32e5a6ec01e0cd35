//! Mandates (AP2): a mandate, its transaction and its token buy one key, on any node, however often they are sent.

use crate::harness::card_till::{CardTill, at_each_card_till};
use crate::harness::mandate_signer::{
    DECLINED_TOKEN, VISA_TOKEN, chain, contents, mandate, pay, pay_from, pay_token, refused,
};
use crate::harness::till::{failed, key};
use dropleaf_app::{MandateSettings, PayError};
use dropleaf_core::Code;
use dropleaf_core::error::Fact;
use dropleaf_core::rail::Rail;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};

type Attempt<'a> = BoxFuture<'a, Result<dropleaf_app::PurchaseResult, PayError>>;

const AWAY: [u8; 4] = [198, 51, 100, 4];

/// Whether the payment is refused as one that bought something else.
#[track_caller]
fn used(outcome: Result<dropleaf_app::PurchaseResult, PayError>) -> String {
    let error = failed(outcome, Code::PaymentUsed);
    match error.facts.iter().find(|(name, _)| *name == "reason") {
        Some((_, Fact::Text(reason))) => reason.clone(),
        other => panic!("no reason: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mandates_of_both_versions_buy_a_key_and_the_same_one_again() {
    at_each_card_till(async |till| {
        let app = till.app();
        let sign: [fn(&CardTill, &str) -> Value; 3] = [
            |till, token| mandate(till.app(), token),
            |till, token| contents(&till.app().mandate_terms().unwrap(), token, till.app().now()).sign(),
            |till, token| {
                // v0.1 leaves the nonce open; the transaction is ours.
                let terms = till.app().mandate_terms().unwrap();
                let mut draft = contents(&terms, token, till.app().now());
                draft.claims["nonce"] = json!(terms.transaction_id);
                draft.sign()
            },
        ];
        for (at, sign) in sign.into_iter().enumerate() {
            let body = sign(till, &format!("spt_test_visa_v{at}"));
            let first = pay(app, &body).await.unwrap();
            assert_eq!((first.payment.rail, first.is_replay), (Rail::Ap2, false));
            assert!(first.payment.transaction.as_deref().unwrap().starts_with("pi_"));
            let again = pay(app, &body).await.unwrap();
            assert!(again.is_replay && key(&again) == key(&first));
            till.check_keys_sold(i64::try_from(at).unwrap() + 1).await;
        }
        assert_eq!(till.till.count("SELECT COUNT(*) FROM payments WHERE ask IS NOT NULL").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_shown_again_to_its_sender_for_ten_minutes() {
    at_each_card_till(async |till| {
        let app = till.app();
        let body = mandate(app, VISA_TOKEN);
        let once = Some("an identifier of its sender");
        let first = key(&pay_from(app, &body, crate::harness::till::HOME, once).await.unwrap());
        // The transaction and the mandate expire meanwhile.
        till.till.clock.advance(599);
        assert_eq!(key(&pay(app, &body).await.unwrap()), first);
        assert_eq!(key(&pay_from(app, &body, AWAY, once).await.unwrap()), first);
        assert_eq!(used(pay_from(app, &body, AWAY, None).await), "no_longer_shown");
        till.till.clock.advance(1);
        assert_eq!(used(pay(app, &body).await), "no_longer_shown");
        till.till.clock.advance(90 * 86_400);
        assert_eq!(used(pay(app, &body).await), "no_longer_shown", "never 402: the money moved");
        till.check_keys_sold(1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_is_paid_once_and_in_time() {
    at_each_card_till(async |till| {
        let app = till.app();
        let terms = app.mandate_terms().unwrap();
        let now = app.now();
        pay(app, &chain(&terms, "spt_test_visa_a", now).sign()).await.unwrap();
        for token in ["spt_test_visa_a", "spt_test_visa_b"] {
            let mut other = chain(&terms, token, now);
            other.links[1].mandate["iat"] = json!(now - 1);
            assert_eq!(used(pay(app, &other.sign()).await), "other_request", "{token}");
            assert_eq!(
                used(pay(app, &contents(&terms, token, now).sign()).await),
                "other_request",
                "{token}"
            );
        }
        let terms = app.mandate_terms().unwrap();
        till.till.clock.advance(600);
        let mut late = chain(&terms, "spt_test_visa_c", now);
        for link in &mut late.links {
            link.mandate["exp"] = json!(now + 3600);
        }
        assert_eq!(refused(pay(app, &late.sign()).await), "transaction_expired");
        // One that is not ours, in our form.
        let mut foreign = app.mandate_terms().unwrap();
        let last = if foreign.transaction_id.ends_with('A') { "Q" } else { "A" };
        foreign.transaction_id.replace_range(foreign.transaction_id.len() - 1.., last);
        let body = chain(&foreign, "spt_test_visa_c", app.now()).sign();
        assert_eq!(refused(pay(app, &body).await), "transaction_mismatch");
        till.check_keys_sold(1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_a_mandate_is_used_once() {
    at_each_card_till(async |till| {
        let app = till.app();
        let mut first = contents(&app.mandate_terms().unwrap(), "spt_test_visa_a", app.now());
        first.contents["payment_mandate_id"] = json!("pm-1");
        pay(app, &first.sign()).await.unwrap();
        let mut second = contents(&app.mandate_terms().unwrap(), "spt_test_visa_b", app.now());
        second.contents["payment_mandate_id"] = json!("pm-1");
        assert_eq!(used(pay(app, &second.sign()).await), "other_request");
        till.check_keys_sold(1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_charged_by_one_protocol_alone() {
    at_each_card_till(async |till| {
        let app = till.app();
        let bought = pay(app, &mandate(app, "spt_test_visa_a")).await.unwrap();
        assert_eq!(used(pay_token(app, "spt_test_visa_a").await), "other_request");
        let first = pay_token(app, "spt_test_visa_b").await.unwrap();
        assert_eq!(used(pay(app, &mandate(app, "spt_test_visa_b")).await), "other_request");
        assert_eq!((bought.payment.rail, first.payment.rail), (Rail::Ap2, Rail::Acp));
        // A refusal of the processor is final for the token.
        let declined = mandate(app, DECLINED_TOKEN);
        for _ in 0..2 {
            assert_eq!(refused(pay(app, &declined).await), "generic_decline");
        }
        assert_eq!(refused(pay(app, &mandate(app, DECLINED_TOKEN)).await), "generic_decline");
        assert_eq!(refused(pay_token(app, DECLINED_TOKEN).await), "generic_decline");
        till.check_keys_sold(2).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_paid_is_delivered_after_its_issuer_was_removed() {
    at_each_card_till(async |till| {
        let body = mandate(till.app(), VISA_TOKEN);
        let other = mandate(till.app(), "spt_test_visa_2");
        let bought = key(&pay(till.app(), &body).await.unwrap());
        let without = till.till.beside_with(|config| {
            config.settings.payments.as_mut().unwrap().mandates = MandateSettings::default();
        });
        let without = without.await;
        assert!(without.app.mandate_terms().is_none());
        assert_eq!(key(&pay(&without.app, &body).await.unwrap()), bought);
        let error = failed(pay(&without.app, &other).await, Code::RailNotLive);
        assert!(error.to_string().contains("No issuer of mandates is trusted."), "{error}");
        without.app.close().await;
        till.check_keys_sold(1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_on_two_nodes_at_once_are_one_charge_and_one_key() {
    at_each_card_till(async |till| {
        let other = till.beside().await;
        for round in 1..=3 {
            let body = mandate(till.app(), &format!("spt_test_visa_r{round}"));
            let nodes = [till, &other].repeat(10);
            let outcomes = join_all(nodes.into_iter().map(|node| pay(node.app(), &body))).await;
            let mut keys: Vec<String> = Vec::new();
            for outcome in outcomes {
                match outcome {
                    Ok(bought) => keys.push(key(&bought)),
                    Err(PayError::Failed(error)) => assert_eq!(error.code, Code::PaymentInFlight),
                    Err(refused) => panic!("{refused:?}"),
                }
            }
            keys.dedup();
            assert_eq!(keys.len(), 1, "one key");
            till.check_keys_sold(round).await;
        }
        other.till.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mandates_for_one_transaction_on_two_nodes_at_once_are_one_charge() {
    at_each_card_till(async |till| {
        let other = till.beside().await;
        let terms = till.app().mandate_terms().unwrap();
        let now = till.app().now();
        let bodies: Vec<_> =
            (0..10).map(|at| chain(&terms, &format!("spt_test_visa_{at}"), now).sign()).collect();
        let outcomes = join_all(bodies.iter().enumerate().map(|(at, body)| {
            let node = if at % 2 == 0 { till } else { &other };
            pay(node.app(), body)
        }));
        let outcomes = outcomes.await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        for outcome in outcomes.into_iter().filter(Result::is_err) {
            assert_eq!(used(outcome), "other_request");
        }
        till.check_keys_sold(1).await;
        other.till.app.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_alone_and_in_mandates_at_once_is_one_charge() {
    at_each_card_till(async |till| {
        let other = till.beside().await;
        let bodies: Vec<_> = (0..4).map(|_| mandate(till.app(), VISA_TOKEN)).collect();
        let mut attempts: Vec<Attempt<'_>> = Vec::new();
        for (at, body) in bodies.iter().enumerate() {
            let node = if at % 2 == 0 { till } else { &other };
            attempts.push(Box::pin(pay(node.app(), body)));
            attempts.push(Box::pin(pay_token(node.app(), VISA_TOKEN)));
        }
        let mut keys: Vec<String> = Vec::new();
        for outcome in join_all(attempts).await {
            match outcome {
                Ok(bought) => keys.push(key(&bought)),
                Err(PayError::Failed(error)) => {
                    assert!(matches!(error.code, Code::PaymentInFlight | Code::PaymentUsed), "{error}");
                }
                Err(refused) => panic!("{refused:?}"),
            }
        }
        keys.dedup();
        assert_eq!(keys.len(), 1, "one key");
        till.check_keys_sold(1).await;
        other.till.app.close().await;
    })
    .await;
}

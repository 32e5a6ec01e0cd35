//! A refused page costs nothing: 422 before terms are sent or the facilitator is called. Spec §7.

use crate::harness::till::{at_each_till, failed, page as page_of};
use crate::harness::{Call, HARVEST, Purse, Setup, on_each_database, page};
use dropleaf_app::Upload;
use dropleaf_core::Code;
use dropleaf_core::error::Fact;
use dropleaf_core::payment::Item;
use serde_json::json;

#[tokio::test]
async fn refused_page_is_422_before_terms_and_with_a_good_proof() {
    on_each_database(Setup::new, async |node| {
        let bare = node.post("/publish").json(&json!({"html": HARVEST})).send().await;
        let said = bare.refused(422, "phishing_blocked");
        assert!(!said.has("payment-required") && !said.has("www-authenticate"));
        assert!(!said.json()["reasons"].as_array().unwrap().is_empty());
        node.post("/publish").body("text/html", HARVEST).send().await.refused(422, "phishing_blocked");
        let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
        for (nonce, purse) in [(1, Purse::new()), (2, Purse::new().v1())] {
            let proof = purse.header(&terms, nonce, node.app().now());
            let pay = || node.post("/publish").header(purse.generation.proof_header(), &proof);
            pay().json(&json!({"html": HARVEST})).send().await.refused(422, "phishing_blocked");
            assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, i64::from(nonce) - 1);
            // No money was taken: the same proof pays for the corrected page.
            pay().json(&json!({"html": page("Mended")})).send().await.expect(201);
        }
        // An invalid proof does not turn the refusal into terms.
        let broken = node.post("/publish").header("payment-signature", "!").json(&json!({"html": HARVEST}));
        broken.send().await.refused(422, "phishing_blocked");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 2);
    })
    .await;
}

#[tokio::test]
async fn nobody_is_asked_to_verify_or_settle_a_refused_page() {
    at_each_till(async |till| {
        let error =
            failed(till.publish_html(till.sign(Item::Publish, 1), HARVEST).await, Code::PhishingBlocked);
        assert!(
            error.facts.iter().any(|(name, fact)| *name == "reasons" && matches!(fact, Fact::Findings(_)))
        );
        assert_eq!((till.fake.calls(Call::Verify), till.fake.calls(Call::Settle)), (0, 0));
        assert_eq!(till.count("SELECT COUNT(*) FROM payments").await, 0);
        assert_eq!(till.count("SELECT COUNT(*) FROM bundles").await, 0);
        let bought = till.publish(1).await.unwrap();
        till.check_one_page(&bought).await;
    })
    .await;
}

#[tokio::test]
async fn paid_answer_is_told_again_though_the_page_would_be_refused_now() {
    at_each_till(async |till| {
        // The check was disabled when it was bought.
        let before = till.beside_with(|config| config.settings.safety.phishing_check = false).await;
        let proof = till.sign(Item::Publish, 1);
        let bought = before.publish_html(proof.clone(), HARVEST).await.unwrap();
        let told = till.publish_html(proof, HARVEST).await.unwrap();
        assert_eq!(page_of(&told), page_of(&bought));
        till.check_one_page(&told).await;
        // A new payment for the same page is refused, and no money moves.
        failed(till.publish_html(till.sign(Item::Publish, 2), HARVEST).await, Code::PhishingBlocked);
        let bare = till.app.check_page(Upload::html(HARVEST.to_owned()), None, false).await;
        assert_eq!(bare.unwrap_err().code, Code::PhishingBlocked);
        assert_eq!(till.fake.ledger().len(), 1);
        before.app.close().await;
    })
    .await;
}

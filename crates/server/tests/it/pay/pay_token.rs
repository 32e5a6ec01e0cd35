//! Shared payment tokens in the body of `/provision`: charged once, one key for each, and nothing for those that are refused.

use crate::harness::{Answer, Node, Setup, on_each_database};
use dropleaf_pay::stripe::sandbox::Request;
use futures_util::future::join_all;
use serde_json::{Value, json};

/// A request to the sandbox's own API.
async fn processor(node: &Node, path: &str, parameters: &str) -> Value {
    let request = Request {
        method: "POST",
        path,
        authorization: Some("Bearer sk_test_agent"),
        idempotency_key: None,
        parameters: parameters.as_bytes(),
    };
    let reply = node.app().sandbox_processor().unwrap().call(&request).await.unwrap();
    assert_eq!(reply.status, 200, "{}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

/// A token that the agent grants us, with these further parameters.
async fn granted(node: &Node, method: &str, limits: &str) -> String {
    let parameters = format!("payment_method={method}&{limits}");
    let path = "/v1/test_helpers/shared_payment/granted_tokens";
    processor(node, path, &parameters).await["id"].as_str().unwrap().to_owned()
}

async fn token_for(node: &Node, method: &str) -> String {
    granted(node, method, "usage_limits[currency]=usd&usage_limits[max_amount]=100").await
}

async fn provision(node: &Node, token: &str) -> Answer {
    node.post("/provision").json(&json!({"acp_shared_payment_token": token})).send().await
}

async fn accounts(node: &Node) -> i64 {
    node.count("SELECT COUNT(*) FROM accounts").await
}

async fn is_audited(node: &Node) {
    let audit = node.app().audit_ledger().await.unwrap();
    assert!(audit.faults.is_empty(), "{:?}", audit.faults);
}

#[tokio::test]
async fn token_buys_one_key_however_often_it_is_sent() {
    on_each_database(Setup::new, async |node| {
        let before = accounts(node).await;
        let token = token_for(node, "pm_card_visa").await;
        let sent = join_all((0..10).map(|_| provision(node, &token))).await;
        let keys: Vec<_> = sent.iter().filter(|answer| answer.status == 200).map(Answer::json).collect();
        assert!(!keys.is_empty());
        for answer in &sent {
            assert!(matches!(answer.status, 200 | 409), "{} {}", answer.status, answer.text());
        }
        let first = &keys[0];
        assert_eq!((&first["protocol"], &first["sandbox"]), (&json!("acp"), &json!(true)));
        assert!(keys.iter().all(|key| key["api_key"] == first["api_key"]));
        assert!(first["transaction"].as_str().unwrap().starts_with("pi_"));
        assert_eq!(accounts(node).await, before + 1);
        let key = first["api_key"].as_str().unwrap();
        let me = node.get("/me").key(key).send().await.expect(200).json();
        assert_eq!((&me["plan"], &me["balance_minor"]), (&json!("free"), &json!(0)));
        assert_eq!(node.count("SELECT COUNT(*) FROM payments WHERE ask IS NOT NULL").await, 0, "erased");
        let stored = node.app().list_payments(None, 10).await.unwrap();
        assert!(stored.iter().all(|payment| !payment.key.contains(&token)), "only its hash is stored");
        is_audited(node).await;
    })
    .await;
}

#[tokio::test]
async fn refused_tokens_cost_nothing_and_stay_refused() {
    on_each_database(Setup::new, async |node| {
        let before = accounts(node).await;
        let mut refused = Vec::new();
        for (method, reason) in [
            ("pm_card_visa_chargeDeclined", "generic_decline"),
            ("pm_card_chargeDeclinedInsufficientFunds", "insufficient_funds"),
            ("pm_card_chargeDeclinedExpiredCard", "expired_card"),
            ("pm_card_chargeDeclinedIncorrectCvc", "incorrect_cvc"),
            ("pm_card_chargeDeclinedProcessingError", "processing_error"),
            ("pm_card_authenticationRequired", "payment_action_required"),
        ] {
            refused.push((token_for(node, method).await, Some(reason)));
        }
        let revoked = token_for(node, "pm_card_visa").await;
        let path = format!("/v1/test_helpers/shared_payment/granted_tokens/{revoked}/revoke");
        processor(node, &path, "").await;
        let soon = node.app().now() + 60;
        let expired = format!(
            "usage_limits[currency]=usd&usage_limits[max_amount]=100&usage_limits[expires_at]={soon}"
        );
        let expired = granted(node, "pm_card_visa", &expired).await;
        let other_currency = "usage_limits[currency]=eur&usage_limits[max_amount]=100";
        let too_small = "usage_limits[currency]=usd&usage_limits[max_amount]=99";
        let (euro, small) = (
            granted(node, "pm_card_visa", other_currency).await,
            granted(node, "pm_card_visa", too_small).await,
        );
        node.clock.advance(120);
        for token in [revoked, expired, euro, small, "spt_unknown".to_owned()] {
            refused.push((token, None));
        }
        for (token, reason) in &refused {
            for _ in 0..2 {
                let answer = provision(node, token).await.expect(402);
                let body = answer.json();
                assert_eq!(body["error"], "payment_refused", "{token}: {body}");
                assert!(reason.is_none_or(|reason| body["reason"] == reason), "{reason:?}: {body}");
                let text = body["error_description"].as_str().unwrap();
                assert!(text.contains("Nothing was charged"), "{text}");
                assert!(body["accepts"].is_array() && answer.has("payment-required"));
                assert!(!answer.text().contains(token.as_str()));
            }
        }
        assert_eq!(accounts(node).await, before);
        assert_eq!(node.count("SELECT COUNT(*) FROM ledger_txns").await, 0);
        is_audited(node).await;
    })
    .await;
}

#[tokio::test]
async fn malformed_tokens_are_400_and_reach_no_one() {
    let node = Node::start().await;
    let long = format!("spt_{}", "a".repeat(256));
    let texts = [
        "",
        "spt_",
        "spt",
        "SPT_1",
        "pm_card_visa",
        "spt_a-b",
        "spt_a b",
        "spt_é",
        " spt_1",
        "spt_1\n",
        "spt_a/b",
        &long,
    ];
    for text in texts {
        provision(&node, text).await.refused(400, "invalid_field");
    }
    for value in [json!(null), json!(7), json!(true), json!(["spt_1"]), json!({"id": "spt_1"})] {
        let ask = node.post("/provision").json(&json!({"acp_shared_payment_token": value}));
        ask.send().await.refused(400, "invalid_field");
    }
    let both = json!({"acp_shared_payment_token": "spt_1", "ap2_mandate": {}});
    node.post("/provision").json(&both).send().await.refused(400, "invalid_field");
    for header in ["PAYMENT-SIGNATURE", "X-PAYMENT"] {
        let ask =
            node.post("/provision").header(header, "x").json(&json!({"acp_shared_payment_token": "spt_1"}));
        ask.send().await.refused(400, "invalid_field");
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_objects").await, 0);
}

#[tokio::test]
async fn payment_that_takes_time_is_unknown_and_never_refused() {
    on_each_database(Setup::new, async |node| {
        let token = token_for(node, "pm_card_stalled").await;
        let answer = provision(node, &token).await;
        answer.refused(502, "settlement_unknown");
        assert_eq!(node.count("SELECT COUNT(*) FROM payments WHERE state = 'unknown'").await, 1);
        assert!(!node.app().list_payments(None, 10).await.unwrap().is_empty(), "the operator sees it");
        is_audited(node).await;
    })
    .await;
}

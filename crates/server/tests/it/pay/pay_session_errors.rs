//! `POST /pay/sessions` and pay pages: what is refused, and that nothing happens then.

use crate::harness::oauth::let_in;
use crate::harness::{Answer, Node, ReservedPort, Setup, VISA, on_each_database};
use serde_json::{Value, json};

async fn create(node: &Node, body: &Value, key: Option<&str>) -> Answer {
    let ask = node.post("/pay/sessions").json(body);
    match key {
        Some(key) => ask.key(key).send().await,
        None => ask.send().await,
    }
}

#[tokio::test]
async fn wrong_amounts_features_and_types_are_400() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        for body in [
            json!({"amount_minor": 0}),
            json!({"amount_minor": -600}),
            json!({"amount_minor": 99}),
            json!({"amount_minor": 2001}),
            json!({"amount_minor": i64::MAX}),
            json!({"amount_minor": 1e30}),
            json!({"amount_minor": 100.5}),
            json!({"amount_minor": "600"}),
            json!({"amount_minor": true}),
            json!({"amount_minor": [600]}),
            json!({"feature": "topup", "amount_minor": 49}),
            json!({"feature": "topup", "amount_minor": 100_001}),
            json!({"feature": "make_permanent", "amount_minor": 199}),
            json!({"feature": "make_permanent", "amount_minor": 100_001}),
            json!({"feature": "publish"}),
            json!({"feature": "Provision"}),
            json!({"feature": ""}),
            json!({"feature": 1}),
            json!({"feature": ["topup"]}),
            json!({"feature": null}),
            json!({"amount_minor": null}),
        ] {
            let answer = create(node, &body, Some(&key)).await;
            assert!(answer.status == 400, "{body}: {} {}", answer.status, answer.text());
            assert_eq!(answer.json()["error"], "invalid_field", "{body}");
        }
        for body in ["[]", "null", "{", "\"provision\"", "{\"feature\":\"topup\"}x"] {
            let ask = node.post("/pay/sessions").key(&key).body("application/json", body);
            assert_eq!(ask.send().await.status, 400, "{body}");
        }
        let long = json!({"feature": "x".repeat(5000)});
        create(node, &long, Some(&key)).await.refused(413, "too_large");
        assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 0);
    })
    .await;
}

#[tokio::test]
async fn limits_defaults_and_unknown_fields() {
    let node = Node::start().await;
    let key = node.account("free").await;
    for (body, amount) in [
        (json!({}), "1.00"),
        (json!({"feature": "provision", "amount_minor": 100}), "1.00"),
        (json!({"amount_minor": 2000}), "20.00"),
        (json!({"feature": "topup", "amount_minor": 50}), "0.50"),
        (json!({"feature": "topup", "amount_minor": 100_000}), "1000.00"),
        (json!({"feature": "higher_limits"}), "25.00"),
    ] {
        assert_eq!(create(&node, &body, Some(&key)).await.expect(201).json()["amount"], amount, "{body}");
    }
    let warned = create(&node, &json!({"amount": 600}), None).await.expect(201).json();
    assert_eq!((warned["amount"].as_str(), warned["warnings"].as_array().unwrap().len()), (Some("1.00"), 1));
    let bare = node.post("/pay/sessions").send().await.expect(201).json();
    assert_eq!(bare["feature"], "provision");
}

#[tokio::test]
async fn what_is_bought_for_an_account_needs_its_key() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer("ada@example.org").await;
        let (read, write) = (let_in(&person, "sites:read").await, let_in(&person, "sites:write").await);
        for feature in ["topup", "make_permanent", "higher_limits"] {
            let body = json!({"feature": feature});
            create(node, &body, None).await.refused(401, "auth required");
            create(node, &body, Some("stk_live_wrong")).await.refused(401, "invalid_credential");
            create(node, &body, Some(&read.access)).await.refused(403, "insufficient_scope");
            create(node, &body, Some(&write.access)).await.expect(201);
        }
        // A wrong key is not ignored where none is needed.
        create(node, &json!({}), Some("stk_live_wrong")).await.refused(401, "invalid_credential");
        assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 3);
        // A new account has nothing to do with the one that asks.
        create(node, &json!({}), Some(&write.access)).await.expect(201);
        let without = "SELECT COUNT(*) FROM pay_sessions WHERE account_id IS NULL";
        assert_eq!(node.count(without).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_suspended_account_buys_nothing() {
    on_each_database(Setup::new, async |node| {
        let key = node.account("free").await;
        let account = node.account_of(&key).await;
        node.app().suspend_account("ada", &account.id, "phishing").await.unwrap();
        let refused = create(node, &json!({"feature": "topup"}), Some(&key)).await;
        assert_eq!(refused.status, 403, "{}", refused.text());
        assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 0);
    })
    .await;
}

#[tokio::test]
async fn without_payments_nothing_is_there() {
    let node = Setup::new().set("payments.mode", "off").start().await;
    create(&node, &json!({}), None).await.refused(404, "not_found");
    node.get("/pay/sessions/x/poll").send().await.refused(404, "not_found");
    node.post("/webhooks/stripe").send().await.refused(404, "not_found");
    node.get("/pay/abcdefghijklmno").send().await.expect(404);
    node.get("/pay/sandbox/cs_test_1").send().await.expect(404);
}

#[tokio::test]
async fn a_live_server_without_a_card_processor_says_so() {
    let nowhere = ReservedPort::new();
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("payments.facilitator_url", nowhere.url())
        .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .start()
        .await;
    let refused = create(&node, &json!({}), None).await.refused(402, "rail_not_live");
    assert!(!refused.has("payment-required"), "there is nothing to pay");
    node.get("/pay/sandbox/cs_test_1").send().await.expect(404);
    node.post("/webhooks/stripe")
        .header("stripe-signature", "t=1,v1=00")
        .send()
        .await
        .refused(404, "not_found");
    assert_eq!(node.count("SELECT COUNT(*) FROM pay_sessions").await, 0);
}

#[tokio::test]
async fn a_live_server_whose_card_processor_is_away_says_so_on_the_page() {
    let nowhere = ReservedPort::new();
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("stripe.secret_key", "sk_test_1")
        .set("stripe.api_url", nowhere.url())
        .start()
        .await;
    let link = node.key_link().await;
    assert_eq!(link.made["sandbox"], false);
    let page = link.begin().await.expect(502);
    assert!(page.text().contains("<form"), "it can be tried again: {}", page.text());
    assert_eq!(link.poll().await["status"], "pending");
    link.page().await.expect(200);
}

#[tokio::test]
async fn links_are_limited_per_network() {
    let setup = || Setup::new().with_rates().set("limits.paid_attempts_per_minute", "3");
    on_each_database(setup, async |node| {
        for _ in 0..3 {
            create(node, &json!({}), None).await.expect(201);
        }
        let refused = create(node, &json!({}), None).await.refused(429, "rate_limited");
        assert!(refused.has("retry-after"));
        node.clock.advance(60);
        let link = node.key_link().await;
        for _ in 0..2 {
            link.begin().await.expect(303);
        }
        link.begin().await.expect(429);
        assert_eq!(link.poll().await["status"], "pending", "polling goes on");
    })
    .await;
}

#[tokio::test]
async fn sandbox_keys_of_a_public_server_are_limited_like_anonymous_pages() {
    let setup = || {
        Setup::new()
            .with_rates()
            .set("base_url", "http://drop.example.org")
            .set("limits.anonymous_per_hour", "2")
    };
    on_each_database(setup, async |node| {
        let url = format!("{}/pay/sessions", node.base_url());
        for _ in 0..2 {
            node.post(&url).json(&json!({})).send().await.expect(201);
        }
        node.post(&url).json(&json!({})).send().await.refused(429, "rate_limited");
    })
    .await;
}

#[tokio::test]
async fn forms_are_accepted_only_from_our_pages() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let form = link.open_form().await;
        let card = [("number", VISA), ("expiry", "12/34"), ("cvc", "123")];
        let own = node.base_url();
        for url in [&link.url, &form] {
            let ask = || node.post(url).fields(&card);
            for foreign in
                ["https://evil.example", "null", "", "http://s-aaaaaaaaaaaaaaaaaaaaaaaaaa.localhost"]
            {
                ask().header("origin", foreign).send().await.expect(403);
            }
            ask().send().await.expect(403);
            let site = ask().header("origin", &own).header("sec-fetch-site", "cross-site");
            site.send().await.expect(403);
        }
        assert_eq!(link.poll().await["status"], "pending");
        let long = "4".repeat(70_000);
        link.submit(&form, &long, &[]).await.expect(413);
        link.submit(&form, VISA, &[]).await.expect(303);
    })
    .await;
}

#[tokio::test]
async fn unknown_codes_and_links_are_404() {
    on_each_database(Setup::new, async |node| {
        for code in ["x", "0Qm1Yv2nT3uW4xZ5aB6cD7", "%00", "%F0%9F%92%B3", &"a".repeat(2000)] {
            node.get(&format!("/pay/sessions/{code}/poll")).send().await.refused(404, "not_found");
            node.get(&format!("/pay/{code}")).browser().send().await.expect(404);
            let post = node.post(&format!("/pay/{code}")).header("origin", &node.base_url());
            post.fields(&[]).send().await.expect(404);
            node.get(&format!("/pay/sandbox/{code}")).browser().send().await.expect(404);
        }
    })
    .await;
}

#[tokio::test]
async fn returning_from_a_form_that_was_not_paid_shows_the_way_to_pay() {
    on_each_database(Setup::new, async |node| {
        let link = node.key_link().await;
        let returned = async || node.get(&format!("{}?done=1", link.url)).browser().send().await.expect(200);
        let ready = async || {
            let answer = returned().await;
            assert!(!answer.has("refresh") && answer.text().contains("<form"), "{}", answer.text());
        };
        ready().await;
        let form = link.open_form().await;
        node.clock.advance(3);
        ready().await;
        link.submit(&form, "4000000000000002", &[]).await.expect(422);
        node.clock.advance(3);
        ready().await;
        // Asked a moment ago: the payment may not be known yet, so nobody is asked to pay again.
        let answer = returned().await;
        assert!(answer.has("refresh") && !answer.text().contains("<form"), "{}", answer.text());
        node.clock.advance(3);
        ready().await;
        link.pay().await;
        assert!(returned().await.text().contains("Paid"));
    })
    .await;
}

#[tokio::test]
async fn returning_while_the_card_processor_is_away_asks_nobody_to_pay_again() {
    let nowhere = ReservedPort::new();
    let node = Setup::new()
        .set("payments.mode", "live")
        .set("stripe.secret_key", "sk_test_1")
        .set("stripe.api_url", nowhere.url())
        .start()
        .await;
    let link = node.key_link().await;
    node.exec("UPDATE pay_sessions SET checkout_id = 'cs_test_1'", vec![]).await;
    let answer = node.get(&format!("{}?done=1", link.url)).browser().send().await.expect(200);
    assert!(answer.has("refresh") && !answer.text().contains("<form"), "{}", answer.text());
}

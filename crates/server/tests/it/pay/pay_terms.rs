//! The terms before anything is paid: the 402 in both x402 versions, and what is refused before it.
//! Spec §4 Payment 1, §7.

use crate::harness::{Answer, Node, Setup, json_schema, page};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const EVM_TOKEN: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const SOLANA_MINT: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const SOLANA: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

fn decoded(answer: &Answer) -> Value {
    let header = answer.header("payment-required");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/' || b == b'=';
    assert!(!header.is_empty() && header.bytes().all(plain), "standard base64: {header}");
    assert!(header.len() < 8192, "{} bytes are too many for proxies", header.len());
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}

fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[track_caller]
fn owed(answer: Answer) -> Answer {
    let answer = answer.refused(402, "payment_required");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(answer.has("payment-required"));
    answer
}

#[track_caller]
fn not_owed(answer: Answer, status: u16, code: &str) -> Answer {
    let answer = answer.refused(status, code);
    assert!(!answer.has("payment-required"), "no terms for what cannot be bought");
    answer
}

#[tokio::test]
async fn terms_for_v2_are_in_the_header() {
    let node = Node::start().await;
    let answer = owed(node.post("/publish").send().await);
    let terms = decoded(&answer);
    assert_eq!(names(&terms), ["accepts", "error", "extensions", "resource", "x402Version"]);
    assert_eq!(terms["x402Version"], 2);
    assert_eq!(terms["error"], "payment_required");
    let resource = json!({
        "url": format!("{}/publish", node.base_url()),
        "description": "Publish one permanent private HTML page", "mimeType": "application/json",
    });
    assert_eq!(terms["resource"], resource);
    let [evm, solana] = terms["accepts"].as_array().unwrap().as_slice() else { panic!("two offers") };
    let pay_to = evm["payTo"].as_str().unwrap();
    assert!(pay_to.starts_with("0x") && pay_to.len() == 42);
    let expected = json!({
        "scheme": "exact", "network": "eip155:8453", "amount": "500000", "asset": EVM_TOKEN, "payTo": pay_to,
        "maxTimeoutSeconds": 180, "extra": {"name": "USD Coin", "version": "2"},
    });
    assert_eq!(*evm, expected);
    let expected = json!({
        "scheme": "exact", "network": SOLANA, "amount": "500000", "asset": SOLANA_MINT, "payTo": solana["payTo"],
        "maxTimeoutSeconds": 180, "extra": {"feePayer": solana["extra"]["feePayer"]},
    });
    assert_eq!(*solana, expected);
    assert!(solana["extra"]["feePayer"].is_string());
    assert_eq!(terms["extensions"]["payment-identifier"]["info"], json!({"required": false}));
    assert_eq!(terms["extensions"]["sandbox"]["info"]["sandbox"], true, "nobody takes it for real money");
}

#[tokio::test]
async fn terms_for_v1_are_the_body_and_pass_its_strict_schema() {
    let node = Node::start().await;
    let answer = owed(node.post("/provision").send().await);
    let body = answer.json();
    assert_eq!(
        names(&body),
        ["accepts", "ap2", "error", "error_description", "rails", "sandbox", "x402Version"]
    );
    assert_eq!(body["x402Version"], 1);
    let offers = body["accepts"].as_array().unwrap();
    let networks: Vec<_> = offers.iter().map(|offer| offer["network"].as_str().unwrap()).collect();
    assert_eq!(networks, ["base", "solana"]);
    for offer in offers {
        let known = [
            "asset",
            "description",
            "extra",
            "maxAmountRequired",
            "maxTimeoutSeconds",
            "mimeType",
            "network",
            "outputSchema",
            "payTo",
            "resource",
            "scheme",
        ];
        assert_eq!(names(offer), known);
        assert_eq!(offer["scheme"], "exact");
        assert_eq!(offer["maxAmountRequired"], "1000000");
        assert_eq!(offer["resource"], format!("{}/provision", node.base_url()));
        assert!(offer["description"].is_string() && offer["mimeType"].is_string());
        assert_eq!(offer["maxTimeoutSeconds"], 180);
        assert!(offer["outputSchema"].is_object() && offer["extra"].is_object(), "null fails the schema");
    }
    assert_eq!(decoded(&answer)["accepts"][0]["amount"], "1000000");
}

#[tokio::test]
async fn bazaar_descriptions_satisfy_their_own_schemas() {
    let node = Node::start().await;
    for path in ["/publish", "/provision", "/unlock?feature=make_permanent"] {
        let answer = owed(node.post(path).key(&node.key).send().await);
        let bazaar = &decoded(&answer)["extensions"]["bazaar"];
        json_schema::check(&bazaar["schema"], &bazaar["info"]).unwrap();
        assert_eq!(bazaar["info"]["input"]["method"], "POST");
    }
}

#[tokio::test]
async fn get_and_head_of_publish_tell_the_same_terms() {
    let node = Node::start().await;
    let post = owed(node.post("/publish").send().await);
    let get = owed(node.get("/publish").send().await);
    assert_eq!(get.header("payment-required"), post.header("payment-required"));
    assert_eq!(get.body, post.body);
    let head = node.head("/publish").send().await.expect(402);
    assert_eq!(head.header("payment-required"), post.header("payment-required"));
    assert!(head.body.is_empty());
}

#[tokio::test]
async fn page_that_could_be_published_and_no_page_at_all_are_both_told_the_terms() {
    let node = Node::start().await;
    let html = page("To be paid");
    for ask in [
        node.post("/publish"),
        node.post("/publish").json(&json!({"html": html})),
        node.post("/publish").json(&json!({"html": html, "filename": "report.html", "beside": 1})),
        node.post("/publish").body("text/html; charset=utf-8", html.clone()),
        node.post("/publish").body("Text/HTML", html.clone()),
        node.post("/publish").body("Application/JSON ; charset=utf-8", json!({"html": html}).to_string()),
        node.post("/provision").json(&json!({})),
    ] {
        owed(ask.send().await);
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    assert_eq!(
        node.count("SELECT COUNT(*) FROM bundles").await,
        0,
        "nothing is stored for those who only ask"
    );
}

#[tokio::test]
async fn refused_page_gets_no_terms_so_that_nothing_is_signed_for_it() {
    let node = Setup::new().set("limits.publish_bytes", "1000").start().await;
    let json = |body: Value| node.post("/publish").json(&body);
    for (ask, status, code) in [
        (json(json!({})), 400, "empty_file"),
        (node.post("/publish").body("application/json", ""), 400, "empty_file"),
        (node.post("/publish").body("text/html", ""), 400, "empty_file"),
        (node.post("/publish").body("text/html", " \n"), 400, "empty_file"),
        (json(json!({"html": ""})), 400, "empty_file"),
        (json(json!({"html": "  \n "})), 400, "empty_file"),
        (json(json!({"filename": "a.html"})), 400, "invalid_field"),
        (json(json!({"html": 7})), 400, "invalid_field"),
        (json(json!({"html": "<p>", "filename": "a/b.html"})), 400, "invalid_field"),
        (json(json!(["<p>"])), 400, "invalid_request"),
        (node.post("/publish").body("application/json", "{"), 400, "invalid_request"),
        (node.post("/publish").body("text/html", b"<p>\0".to_vec()), 400, "not_text"),
        (node.post("/publish").body("application/pdf", "%PDF-1.7"), 400, "invalid_request"),
        (node.post("/publish").body("text/html", "x".repeat(1001)), 413, "too_large"),
        (json(json!({"html": "x".repeat(1001)})), 413, "too_large"),
        (json(json!({"html": "x".repeat(200_000)})), 413, "too_large"),
    ] {
        not_owed(ask.send().await, status, code);
    }
    owed(node.post("/publish").body("text/html", "x".repeat(1000)).send().await);
    owed(json(json!({"html": "\n".repeat(998) + "<p"})).send().await);
    let escaped = format!("{{\"html\": \"{}\"}}", "\\u0078".repeat(1000));
    owed(node.post("/publish").body("application/json", escaped).send().await);
    let over = format!("{{\"html\": \"{}\"}}", "\\u0078".repeat(1001));
    not_owed(node.post("/publish").body("application/json", over).send().await, 413, "too_large");
}

#[tokio::test]
async fn ten_mebibytes_can_be_published_and_a_byte_more_cannot() {
    let node = Node::start().await;
    let html = |size: usize| format!("<!doctype html><title>Large</title>{}", "x".repeat(size - 35));
    assert_eq!(html(100).len(), 100);
    owed(node.post("/publish").body("text/html", html(10_485_760)).send().await);
    let over = node.post("/publish").body("text/html", html(10_485_761)).send().await;
    assert!(not_owed(over, 413, "too_large").text().contains("Nothing was charged"));
    not_owed(node.post("/publish").json(&json!({"html": html(10_485_761)})).send().await, 413, "too_large");
}

#[tokio::test]
async fn page_is_looked_at_before_the_proof() {
    let node = Node::start().await;
    let paid = |ask: crate::harness::Ask| ask.header("payment-signature", "not a proof");
    not_owed(paid(node.post("/publish")).send().await, 400, "empty_file");
    not_owed(paid(node.post("/publish").json(&json!({"html": ""}))).send().await, 400, "empty_file");
    not_owed(paid(node.post("/publish").json(&json!({"html": "<p>"}))).send().await, 400, "invalid_payment");
}

#[tokio::test]
async fn header_that_cannot_be_read_is_400_and_says_why() {
    let node = Node::start().await;
    let encoded = |text: &str| STANDARD.encode(text);
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(20), "]".repeat(20));
    let long = "A".repeat(16 * 1024 + 4);
    for (value, reason) in [
        ("%%%", "not_base64"),
        ("e30", "not_base64"),
        ("_-8=", "not_base64"),
        (&*STANDARD.encode([0xff, 0xfe]), "not_utf8"),
        (&*encoded("{"), "not_json"),
        (&*encoded("null"), "not_an_object"),
        (&*encoded("[]"), "not_an_object"),
        (&*encoded(&deep), "too_deep"),
        (&*encoded(r#"{"x402Version":2,"x402Version":2}"#), "duplicate_member"),
        (&*long, "header_too_large"),
    ] {
        for (path, header) in
            [("/publish", "payment-signature"), ("/publish", "x-payment"), ("/provision", "x-payment")]
        {
            let ask = node.post(path).header(header, value);
            let ask = if path == "/publish" { ask.json(&json!({"html": "<p>"})) } else { ask };
            let answer = not_owed(ask.send().await, 400, "invalid_payment");
            assert_eq!(answer.json()["reason"], reason, "{path} {header}");
        }
    }
    let two = node.post("/provision").header("x-payment", "e30=").header("payment-signature", "e30=");
    assert_eq!(not_owed(two.send().await, 400, "invalid_payment").json()["reason"], "two_proofs");
    let twice = node.post("/provision").header("x-payment", "e30=").header("x-payment", "e30=");
    assert_eq!(not_owed(twice.send().await, 400, "invalid_payment").json()["reason"], "two_proofs");
}

#[tokio::test]
async fn payment_in_the_body_is_refused_aloud() {
    let node = Node::start().await;
    let mandate = include_str!("../../../../pay/tests/vectors/ap2_chain.txt").trim_end();
    for (body, error) in [
        (json!({"acp_shared_payment_token": "spt_x"}), "payment_refused"),
        (json!({"ap2_mandate": {"payment_mandate": mandate}}), "payment_refused"),
    ] {
        let answer = node.post("/provision").json(&body).send().await.expect(402);
        assert_eq!(answer.json()["error"], error);
        let text = answer.json()["error_description"].as_str().unwrap().to_owned();
        assert!(text.contains("Nothing was charged"), "{text}");
        assert!(answer.has("payment-required") && answer.has("www-authenticate"));
        assert!(answer.json()["accepts"].is_array());
    }
    let menu = node.get("/provision").send().await.expect(200).json();
    assert_eq!((&menu["price"], &menu["amount"]), (&json!("1.00"), &json!("1000000")));
    let rails: Vec<_> = menu["rails"].as_array().unwrap().iter().collect();
    let live = |rail: &&&Value| rail["live"] == true;
    let lively: Vec<_> = rails.iter().filter(live).map(|rail| &rail["protocol"]).collect();
    assert_eq!(lively, ["x402", "mpp", "acp", "ap2", "card", "balance"]);
    assert_eq!(rails[0]["versions"], json!([1, 2]));
    assert_eq!(rails[0]["networks"], json!(["eip155:8453", SOLANA]));
    for rail in rails {
        assert_eq!(rail["why"].is_string(), rail["live"] == false, "{rail}");
        assert!(rail["how"].is_string() && rail["versions"].is_array() && rail["networks"].is_array());
    }
}

#[tokio::test]
async fn bad_mpp_credential_is_refused_aloud_wherever_payment_is_one() {
    let node = Node::start().await;
    let html = json!({"html": page("Paid by MPP")});
    for credential in ["Payment eyJjaGFsbGVuZ2UiOnt9fQ", "payment x", "PAYMENT"] {
        for path in ["/publish", "/provision"] {
            let ask = node.post(path).header("authorization", credential);
            let ask = if path == "/publish" { ask.json(&html) } else { ask };
            let answer = ask.send().await.expect(402);
            assert_eq!(answer.json()["error"], "payment_refused", "{path}");
            assert!(answer.has("payment-required") && answer.has("www-authenticate"), "{path}");
        }
        // It stands where the API key belongs.
        node.post("/unlock?feature=make_permanent")
            .header("authorization", credential)
            .send()
            .await
            .expect(401);
    }
    // An x402 proof in the same request takes precedence.
    for header in ["PAYMENT-SIGNATURE", "X-PAYMENT"] {
        let both = node.post("/publish").header("authorization", "Payment x").header(header, "!");
        not_owed(both.json(&html).send().await, 400, "invalid_payment");
    }
    // Other schemes are not affected.
    owed(node.post("/publish").header("authorization", "Payments x").json(&html).send().await);
}

#[tokio::test]
async fn browsers_may_pay_too() {
    let node = Node::start().await;
    let preflight = node.ask(reqwest::Method::OPTIONS, "/publish").send().await.expect(204);
    for name in ["PAYMENT-SIGNATURE", "X-PAYMENT", "Payment-Authorization", "Accept-Payment"] {
        assert!(preflight.header("access-control-allow-headers").contains(name), "{name}");
    }
    let answer = owed(node.post("/publish").send().await);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    for name in
        ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "WWW-Authenticate", "Payment-Receipt"]
    {
        assert!(answer.header("access-control-expose-headers").contains(name), "{name}");
    }
}

#[tokio::test]
async fn probes_are_free_and_attempts_are_counted() {
    let node = Setup::new().with_rates().set("limits.paid_attempts_per_minute", "3").start().await;
    for _ in 0..10 {
        owed(node.post("/publish").send().await);
        owed(node.post("/provision").send().await);
    }
    for _ in 0..3 {
        owed(node.post("/publish").json(&json!({"html": "<p>"})).send().await);
    }
    let answer =
        node.post("/publish").json(&json!({"html": "<p>"})).send().await.refused(429, "rate_limited");
    assert!(answer.has("retry-after"));
    node.post("/provision").header("x-payment", "e30=").send().await.refused(429, "rate_limited");
    owed(node.post("/publish").send().await);
}

#[tokio::test]
async fn prices_and_addresses_come_from_the_settings() {
    let node = Setup::new()
        .set("payments.prices.publish", "0.123456")
        .set("payments.evm_network", "eip155:84532")
        .set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        .set("payments.timeout_seconds", "60")
        .start()
        .await;
    let terms = decoded(&owed(node.post("/publish").send().await));
    let evm = &terms["accepts"][0];
    assert_eq!(evm["amount"], "123456");
    assert_eq!(evm["network"], "eip155:84532");
    assert_eq!(evm["payTo"], "0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
    assert_eq!(evm["extra"]["name"], "USDC", "its domain has another name there");
    assert_eq!(evm["maxTimeoutSeconds"], 60);
}

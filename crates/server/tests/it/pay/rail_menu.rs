//! The menu of payment rails: every place that shows it shows the same, and a rail that is not live refuses politely.

use crate::harness::{Ask, FacilitatorServer, Node, Purse, ReservedPort, Setup, page};
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use serde_json::{Value, json};

const EVM: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const MANDATE: &str = "ap2_mandate";
const TOKEN: &str = "acp_shared_payment_token";

fn live() -> Setup {
    Setup::new().set("payments.mode", "live")
}

fn with_x402(facilitator: &FacilitatorServer) -> Setup {
    live().set("payments.facilitator_url", facilitator.url()).set("payments.evm_pay_to", EVM)
}

fn with_cards() -> Setup {
    live().set("stripe.secret_key", "sk_test_1").set("stripe.api_url", ReservedPort::new().url())
}

async fn menu(node: &Node) -> Value {
    node.get("/provision").send().await.expect(200).json()["rails"].clone()
}

/// The live rails of a menu. Each of the others says why it is not.
fn live_rails(menu: &Value) -> Vec<&str> {
    let rails = menu.as_array().unwrap();
    let names: Vec<_> = rails.iter().map(|rail| rail["protocol"].as_str().unwrap()).collect();
    assert_eq!(names, ["x402", "mpp", "acp", "ap2", "card", "balance"]);
    for rail in rails {
        assert_eq!(rail["why"].is_string(), rail["live"] == false, "{rail}");
        assert_eq!(rail["pays_for"].as_array().unwrap().is_empty(), rail["live"] == false, "{rail}");
        assert!(rail["how"].is_string() && rail["versions"].is_array() && rail["networks"].is_array());
    }
    let live = rails.iter().zip(names).filter(|(rail, _)| rail["live"] == true);
    live.map(|(_, name)| name).collect()
}

/// Requests that are answered with 402 where their rails are offered.
fn unpaid(node: &Node) -> Vec<(&'static str, Ask)> {
    let html = json!({"html": page("Unpaid")});
    let bad = |ask: Ask| ask.header("authorization", "Payment x");
    vec![
        ("GET /publish", node.get("/publish")),
        ("POST /publish", node.post("/publish")),
        ("POST /publish with a page", node.post("/publish").json(&html)),
        ("POST /publish with a key", node.post("/publish").key(&node.key).json(&html)),
        ("POST /publish with a bad credential", bad(node.post("/publish").json(&html))),
        ("POST /provision", node.post("/provision")),
        ("POST /provision for MPP", node.post("/provision").header("accept-payment", "evm/charge")),
        ("POST /provision with a key", node.post("/provision").key(&node.key)),
        ("POST /provision with a bad credential", bad(node.post("/provision"))),
        ("POST /provision with a bad token", node.post("/provision").json(&json!({TOKEN: "spt_unknown"}))),
        ("POST /unlock", node.post("/unlock?feature=make_permanent").key(&node.key)),
    ]
}

/// Compares every place that shows the menu with `GET /provision`. Returns the requests that were answered with 402.
async fn compare(node: &Node) -> Vec<&'static str> {
    let menu = menu(node).await;
    let mut owed = Vec::new();
    for (name, ask) in unpaid(node) {
        let answer = ask.send().await;
        assert!(answer.status < 500 || answer.status == 502, "{name}: {}", answer.text());
        if answer.status == 402 {
            assert_eq!(answer.json()["rails"], menu, "{name}");
            owed.push(name);
        }
    }
    let record = node.get("/.well-known/x402-service").send().await.expect(200).json();
    assert_eq!(record["rails"], menu, "the service record");
    let text = node.get("/llms.txt").send().await.expect(200).text();
    let documents = include_str!("../../../../../docs/payments.md");
    for rail in menu.as_array().unwrap() {
        let name = rail["protocol"].as_str().unwrap();
        let status = match rail["why"].as_str() {
            None => "live".to_owned(),
            Some(why) => format!("not live: {}", why.trim_end_matches('.')),
        };
        let how = rail["how"].as_str().unwrap();
        let line = format!("- [{name}]({}/provision): {status}. {how}\n", node.base_url());
        assert!(text.contains(&line), "{line}{text}");
        assert!(documents.contains(&format!("\n| `{name}` |")), "docs/payments.md has a row for {name}");
    }
    let document = node.get("/openapi.json").send().await.expect(200).json();
    let schemas = &document["components"]["schemas"];
    let of_rail = json!("#/components/schemas/RailJson");
    for name in ["RailsJson", "TermsJson", "ServiceRecord"] {
        assert_eq!(schemas[name]["properties"]["rails"]["items"]["$ref"], of_rail, "{name}");
        assert_eq!(live_rails(&schemas[name]["example"]["rails"]).len(), live_rails_of_a_sandbox().len());
    }
    owed
}

fn live_rails_of_a_sandbox() -> Vec<&'static str> {
    vec!["x402", "mpp", "acp", "ap2", "card", "balance"]
}

#[tokio::test]
async fn sandbox_shows_one_menu_everywhere() {
    let node = Node::start().await;
    let shown = menu(&node).await;
    assert_eq!(live_rails(&shown), live_rails_of_a_sandbox());
    assert_eq!(shown[0]["pays_for"], json!(["publish", "provision", "unlock"]));
    assert_eq!(shown[2]["pays_for"], json!(["provision"]));
    assert_eq!(shown[4]["pays_for"], json!(["provision", "topup", "unlock"]));
    assert_eq!(compare(&node).await.len(), unpaid(&node).len(), "all of them are 402");
    let document = node.get("/openapi.json").send().await.expect(200).json();
    for name in ["RailsJson", "TermsJson", "ServiceRecord"] {
        assert_eq!(document["components"]["schemas"][name]["example"]["rails"], shown, "{name}");
    }
}

#[tokio::test]
async fn live_server_with_x402_alone_shows_one_menu_everywhere() {
    let facilitator = FacilitatorServer::start().await;
    let node = with_x402(&facilitator).start().await;
    let shown = menu(&node).await;
    assert_eq!(live_rails(&shown), ["x402", "mpp", "balance"]);
    assert_eq!(shown[0]["networks"], json!(["eip155:8453"]));
    assert_eq!(shown[4]["why"], "No card processor is configured.");
    assert_eq!(compare(&node).await.len(), unpaid(&node).len(), "all of them are 402");
    // Without the facilitator, the terms of the EVM network are still offered.
    let away =
        with_x402(&facilitator).set("payments.facilitator_url", ReservedPort::new().url()).start().await;
    assert_eq!(live_rails(&menu(&away).await), ["x402", "mpp", "balance"]);
    compare(&away).await;
}

#[tokio::test]
async fn live_server_with_cards_alone_shows_one_menu_everywhere() {
    let node = with_cards().start().await;
    let shown = menu(&node).await;
    assert_eq!(live_rails(&shown), ["acp", "card", "balance"]);
    assert_eq!(shown[0]["why"], "No network is configured to receive payments.");
    assert_eq!(shown[1]["why"], "No EVM network is configured to receive payments.");
    let owed = compare(&node).await;
    assert!(owed.contains(&"POST /publish with a bad credential"), "{owed:?}");
}

#[tokio::test]
async fn server_that_sells_nothing_shows_no_menu() {
    let node = Setup::new().set("payments.mode", "off").start().await;
    for (name, ask) in unpaid(&node) {
        assert_eq!(ask.send().await.refused(404, "not_found").json().get("rails"), None, "{name}");
    }
    node.get("/provision").send().await.refused(404, "not_found");
    node.get("/.well-known/x402-service").send().await.refused(404, "not_found");
    assert!(!node.get("/llms.txt").send().await.expect(200).text().contains("Ways to pay"));
    assert!(!node.get("/openapi.json").send().await.expect(200).text().contains("RailJson"));
}

/// A payment for a key with each rail, with a proof that another server would accept.
fn payments(node: &Node, proof: &str) -> Vec<(&'static str, Ask)> {
    vec![
        ("x402", node.post("/provision").header("payment-signature", proof)),
        ("mpp", node.post("/provision").header("authorization", "Payment eyJjaGFsbGVuZ2UiOnt9fQ")),
        ("acp", node.post("/provision").json(&json!({TOKEN: "spt_1"}))),
        ("ap2", node.post("/provision").json(&json!({MANDATE: {"id": "x"}}))),
        ("card", node.post("/pay/sessions").json(&json!({}))),
    ]
}

#[tokio::test]
async fn payments_by_rails_that_are_not_live_are_402_and_charge_nothing() {
    let sandbox = Node::start().await;
    let proof = |item| {
        let terms = sandbox.app().listing(item).unwrap().terms.clone();
        Purse::new().header(&terms, 1, sandbox.app().now())
    };
    let facilitator = FacilitatorServer::start().await;
    let solana = live().set("payments.solana_pay_to", "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin");
    let solana = solana.set("payments.facilitator_url", facilitator.url());
    for setup in [Setup::new(), with_x402(&facilitator), with_cards(), solana] {
        let node = setup.start().await;
        let menu = menu(&node).await;
        let live = live_rails(&menu);
        let before = node.count("SELECT COUNT(*) FROM payments").await;
        let mut refused = 0;
        for (rail, ask) in payments(&node, &proof(Item::Provision)) {
            if live.contains(&rail) {
                continue;
            }
            refused += 1;
            let answer = ask.send().await.refused(402, "rail_not_live");
            if rail != "card" {
                let text = answer.json()["error_description"].to_string();
                assert!(text.contains("charged"), "{rail}: {text}");
                assert_eq!(answer.json()["rails"], menu, "{rail}");
            }
        }
        assert_eq!(refused + live.len(), menu.as_array().unwrap().len(), "{live:?}");
        if !live.contains(&"x402") {
            let html = json!({"html": page("Paid elsewhere")});
            let ask = node.post("/publish").header("payment-signature", &proof(Item::Publish)).json(&html);
            ask.send().await.refused(402, "rail_not_live");
        }
        if !menu[0]["pays_for"].as_array().unwrap().contains(&json!("unlock")) {
            let signed = proof(Item::Unlock(Sku::MakePermanent));
            let ask = node.post("/unlock?feature=make_permanent").key(&node.key);
            let answer = ask.header("payment-signature", &signed).send().await.refused(402, "rail_not_live");
            assert_eq!(answer.json()["rails"], menu, "{live:?}");
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, before, "{live:?}");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    }
}

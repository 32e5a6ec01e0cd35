//! `payments.mode = "off"`: nothing is sold, and nothing says otherwise.

use crate::harness::{Form, Node, Setup, page};
use serde_json::json;

async fn off() -> Node {
    Setup::new().set("payments.mode", "off").start().await
}

#[tokio::test]
async fn paid_routes_are_404() {
    let node = off().await;
    for path in ["/publish", "/provision", "/unlock", "/unlock?feature=make_permanent"] {
        node.get(path).send().await.refused(404, "not_found");
        node.post(path).send().await.refused(404, "not_found");
        let answer = node.post(path).key(&node.key).json(&json!({"html": "<p>"})).send().await;
        assert!(!answer.refused(404, "not_found").has("payment-required"), "{path}");
        node.post(path).header("x-payment", "e30=").send().await.refused(404, "not_found");
    }
    for path in ["/.well-known/x402-service", "/.well-known/x402", "/discovery/resources"] {
        node.get(path).send().await.refused(404, "not_found");
    }
    // A wallet can still update a page it paid for earlier.
    let wallet = json!({"wallet": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"});
    node.post("/wallet-auth/challenge").json(&wallet).send().await.refused(404, "unknown_wallet");
}

#[tokio::test]
async fn openapi_and_the_guides_do_not_speak_of_paying() {
    let node = off().await;
    let answer = node.get("/openapi.json").send().await.expect(200);
    let document = answer.json();
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(!["/publish", "/provision", "/unlock"].contains(&path.as_str()), "{path}");
    }
    let text = answer.text().to_lowercase();
    for word in ["payment", "x402", "facilitator", "\"/unlock", "termsjson", "publishbody"] {
        let at = text.find(word).map(|at| &text[at.saturating_sub(80)..(at + 80).min(text.len())]);
        assert_eq!(at, None, "{word}");
    }
    // Pages that were paid for earlier can still be updated by the payer.
    assert!(document["paths"]["/wallet-auth/challenge"]["post"].is_object());
    assert!(document["components"]["securitySchemes"]["wallet_signature"].is_object());
    assert!(document["components"]["schemas"]["SiteJson"].is_object(), "what is used stays");
    assert!(document["paths"]["/wallet-auth/challenge"]["post"].is_object());
    assert!(document["components"]["securitySchemes"]["wallet_signature"].is_object());
    assert!(document["components"]["schemas"]["Error"].is_object());
    for path in ["/", "/auth.md", "/llms.txt", "/design-guide"] {
        let text = node.get(path).send().await.expect(200).text();
        for word in ["x402", "/publish", "/provision", "PAYMENT-SIGNATURE", "wallet"] {
            assert!(!text.contains(word), "{path}: {word}");
        }
        assert!(!text.contains("{%"), "{path}");
    }
    assert!(!node.get("/docs").browser().send().await.expect(200).text().contains("x402"));
}

#[tokio::test]
async fn limits_of_a_plan_name_no_unlock() {
    let node = off().await;
    let key = node.account("free").await;
    let form = || Form::file("a.html", page("Free"));
    let long = node.post("/sites").key(&key).form(form().field("expires_in_hours", "never")).send().await;
    let long = long.refused(402, "plan_lifetime_limit");
    for _ in 0..3 {
        node.publish_as(&key, form()).await;
    }
    let many = node.post("/sites").key(&key).form(form()).send().await.refused(402, "plan_page_limit");
    for refused in [long, many] {
        let told = refused.json();
        assert!(told.get("unlock").is_none() && told.get("unlock_url").is_none(), "{told}");
        assert!(!refused.text().contains("unlock"), "{told}");
    }
}

#[tokio::test]
async fn everything_else_goes_on() {
    let node = off().await;
    let site = node.publish(Form::file("a.html", page("Free"))).await;
    node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    node.get("/me").key(&node.key).send().await.expect(200);
}

//! The documents in which clients and catalogues find what is sold. Spec §4 discovery, §9 rules 2 and 3.

use crate::harness::{Node, Setup};
use serde_json::{Value, json};

#[tokio::test]
async fn service_record_tells_protocol_offers_update_credential_limits_and_counts() {
    let node = Node::start().await;
    let answer = node.get("/.well-known/x402-service").send().await.expect(200);
    assert_eq!(answer.header("cache-control"), "public, max-age=60");
    let record = answer.json();
    let base = node.base_url();
    assert_eq!(record["record_version"], 1);
    assert_eq!(record["protocol"]["name"], "x402");
    assert_eq!(record["protocol"]["versions"], json!([1, 2]));
    assert_eq!(record["protocol"]["proof_headers"], json!({"1": "X-PAYMENT", "2": "PAYMENT-SIGNATURE"}));
    assert_eq!((&record["mode"], &record["sandbox"]), (&json!("sandbox"), &json!(true)));
    let offers = record["offers"].as_array().unwrap();
    let prices: Vec<_> = offers
        .iter()
        .map(|offer| (offer["item"].as_str().unwrap(), offer["price"].as_str().unwrap()))
        .collect();
    let expected = [
        ("publish", "0.50"),
        ("provision", "1.00"),
        ("make_permanent", "2.00"),
        ("custom_domain", "5.00"),
        ("higher_limits", "25.00"),
    ];
    assert_eq!(prices, expected);
    for offer in offers {
        let networks = offer["accepts"].as_array().unwrap().len();
        let unlock = offer["url"].as_str().unwrap().contains("/unlock?feature=");
        assert_eq!(
            networks,
            if unlock { 1 } else { 2 },
            "unlocks are paid on the EVM network alone: {offer}"
        );
        assert_eq!(offer["credential"].is_string(), unlock);
    }
    let update = &record["update_credential"];
    assert_eq!(update["method"], "PUT");
    assert_eq!(update["credentials"][0]["scheme"], "Claim");
    assert_eq!(update["credentials"][1]["scheme"], "Wallet");
    assert_eq!(update["credentials"][1]["challenge_url"], format!("{base}/wallet-auth/challenge"));
    assert_eq!(update["credentials"][1]["challenge_seconds"], 300);
    assert_eq!(record["limits"]["publish_bytes"], 10_485_760);
    assert_eq!(record["limits"]["provisioned_plan"]["active_pages"], 3);
    assert_eq!(record["limits"]["provisioned_plan"]["longest_life_seconds"], 7 * 86_400);
    assert_eq!(record["settlements"], json!({"total": 0, "by_network": {}, "by_item": {}}));
}

#[tokio::test]
async fn every_resource_that_catalogues_find_answers_402_with_terms() {
    let node = Node::start().await;
    let found = node.get("/.well-known/x402").send().await.expect(200).json();
    assert_eq!((&found["version"], &found["x402Version"]), (&json!(1), &json!(2)));
    let urls: Vec<_> =
        found["resources"].as_array().unwrap().iter().map(|url| url.as_str().unwrap()).collect();
    assert_eq!(urls, ["/publish", "/provision"].map(|path| format!("{}{path}", node.base_url())));
    let list = node.get("/discovery/resources").send().await.expect(200).json();
    assert_eq!(list["x402Version"], 2);
    assert_eq!(list["pagination"], json!({"limit": 20, "offset": 0, "total": 2}));
    for ((url, item), listed) in
        urls.iter().zip(found["items"].as_array().unwrap()).zip(list["items"].as_array().unwrap())
    {
        assert_eq!(item["resource"]["url"], *url);
        assert_eq!(listed["resource"], *url);
        assert_eq!((&listed["type"], &listed["x402Version"]), (&json!("http"), &json!(2)));
        assert!(listed["lastUpdated"].is_i64() && listed["extensions"]["bazaar"].is_object());
        let probe = node.post(url).send().await.refused(402, "payment_required");
        assert!(!probe.json()["accepts"].as_array().unwrap().is_empty());
        assert_eq!(item["accepts"], listed["accepts"]);
    }
}

#[tokio::test]
async fn resources_are_filtered_and_paged_and_odd_questions_are_400() {
    let node = Node::start().await;
    let total = async |query: &str| {
        let found = node.get(&format!("/discovery/resources?{query}")).send().await.expect(200).json();
        (found["pagination"]["total"].as_i64().unwrap(), found["items"].as_array().unwrap().len())
    };
    for (query, expected) in [
        ("type=http", (2, 2)),
        ("type=mcp", (0, 0)),
        ("network=eip155:8453", (2, 2)),
        ("network=base", (2, 2)),
        ("network=eip155:1", (0, 0)),
        ("scheme=exact", (2, 2)),
        ("scheme=upto", (0, 0)),
        ("payTo=0x0000000000000000000000000000000000000000", (0, 0)),
        ("extensions=bazaar", (2, 2)),
        ("extensions=bazaar,unheard-of", (0, 0)),
        ("limit=1", (2, 1)),
        ("limit=1&offset=1", (2, 1)),
        ("offset=2", (2, 0)),
        ("unknown=1", (2, 2)),
    ] {
        assert_eq!(total(query).await, expected, "{query}");
    }
    for query in ["limit=0", "limit=101", "limit=x", "offset=-1", "type=ftp", "network=nowhere", "limit="] {
        node.get(&format!("/discovery/resources?{query}")).send().await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn openapi_tells_prices_and_declares_402() {
    let node = Setup::new().set("payments.prices.provision", "3").start().await;
    let document = node.get("/openapi.json").send().await.expect(200).json();
    let info = |path: &str| document["paths"][path]["post"]["x-payment-info"].clone();
    assert_eq!(info("/publish")["price"], "0.50");
    assert_eq!(info("/publish")["protocols"], json!(["x402", "mpp"]));
    assert_eq!(info("/publish")["pricingMode"], "fixed");
    assert_eq!(info("/provision")["price"], "3.00");
    assert_eq!(
        (&info("/unlock")["minPrice"], &info("/unlock")["maxPrice"]),
        (&json!("2.00"), &json!("25.00"))
    );
    for path in ["/publish", "/provision", "/unlock"] {
        let post = &document["paths"][path]["post"];
        assert_eq!(post["tags"], json!(["Payments"]));
        let owed = &post["responses"]["402"];
        assert!(owed["headers"]["PAYMENT-REQUIRED"].is_object(), "{path}");
        assert!(
            owed["content"]["application/json"]["schema"]["$ref"].as_str().unwrap().ends_with("/TermsJson")
        );
        assert!(post["responses"]["502"].is_object(), "{path}");
    }
    let ways: Vec<_> = document["paths"]["/sites/{idOrSlug}"]["put"]["security"].as_array().unwrap().clone();
    assert!(ways.contains(&json!({"wallet_signature": []})));
    assert!(document["components"]["securitySchemes"]["wallet_signature"].is_object());
    let schemas = &document["components"]["schemas"];
    let sold = schemas["UnlocksJson"]["properties"]["unlocks"]["items"]["$ref"].as_str().unwrap();
    let had = schemas["MeJson"]["properties"]["unlocks"]["items"]["$ref"].as_str().unwrap();
    let has =
        |found: &str, name: &str| schemas[found.rsplit('/').next().unwrap()]["properties"][name].is_object();
    assert!(has(sold, "price") && has(had, "until"), "two schemas with two names: {sold} {had}");
    let catalogue: Value = node.get("/unlock").send().await.expect(200).json();
    assert_eq!(catalogue["unlocks"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn guides_tell_how_to_pay() {
    let node = Node::start().await;
    let base = node.base_url();
    for path in ["/auth.md", "/llms.txt", "/design-guide"] {
        let text = node.get(path).send().await.expect(200).text();
        assert!(text.contains(&format!("{base}/publish")) && text.contains("$0.50"), "{path}");
        assert!(!text.contains("{{") && !text.contains("{%"), "{path}");
    }
    let auth = node.get("/auth.md").send().await.expect(200).text();
    for words in
        ["PAYMENT-SIGNATURE", "X-PAYMENT", "never sign a new one", "wallet-auth/challenge", "sandbox"]
    {
        assert!(auth.contains(words), "{words}");
    }
    assert!(node.get("/").send().await.expect(200).text().contains("/.well-known/x402-service"));
}

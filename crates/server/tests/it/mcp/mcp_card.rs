//! The server card and the catalogue that lists it agree with `/mcp`. Spec §4 MCP.

use crate::harness::{Node, Setup};
use serde_json::{Value, json};

const CARDS: [(&str, &str); 2] = [
    ("/.well-known/mcp/server-card.json", "application/json"),
    ("/mcp/server-card", "application/mcp-server-card+json"),
];
const CATALOG: &str = "/.well-known/ai-catalog.json";

async fn card(node: &Node) -> Value {
    node.get(CARDS[0].0).send().await.expect(200).json()
}

/// The result of one message to the endpoint, as JSON or as an event.
async fn result(node: &Node, message: &Value, headers: &[(&str, &str)]) -> Value {
    let ask = node.post("/mcp").key(&node.key).header("accept", "application/json, text/event-stream");
    let ask = headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value));
    let answer = ask.json(message).send().await.expect(200);
    let text = answer.text();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let written = data.rfind(|data| data.contains("\"result\"")).unwrap_or(&text);
    serde_json::from_str::<Value>(written).unwrap()["result"].clone()
}

#[tokio::test]
async fn card_needs_no_credential_and_is_the_same_in_both_places() {
    let node = Node::start().await;
    let mut texts = Vec::new();
    for (path, kind) in CARDS {
        let answer = node.get(path).send().await.expect(200);
        assert_eq!(answer.header("content-type"), kind);
        assert_eq!(answer.header("cache-control"), "public, max-age=3600");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.header("access-control-allow-methods"), "GET");
        assert_eq!(answer.header("access-control-allow-headers"), "Content-Type, If-None-Match");
        assert_eq!(answer.header("access-control-expose-headers"), "ETag");
        texts.push(answer.text());
        node.post(path).send().await.refused(405, "method_not_allowed");
    }
    assert_eq!(texts[0], texts[1]);
}

#[tokio::test]
async fn card_has_the_members_of_both_proposals() {
    let node = Setup::new().set("base_url", "https://drop.example.org").start().await;
    let answer = node.get(CARDS[0].0).host("drop.example.org").header("x-forwarded-host", "evil.example");
    let card = answer.send().await.expect(200).json();
    assert_eq!(card["$schema"], "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json");
    assert_eq!(card["name"], "org.example.drop/dropleaf", "the host from its widest part to its narrowest");
    assert_eq!(card["version"], env!("CARGO_PKG_VERSION"));
    for (member, longest) in [("title", 100), ("description", 100)] {
        let length = card[member].as_str().unwrap().chars().count();
        assert!((1..=longest).contains(&length), "{member}: {length} characters");
    }
    assert_eq!(card["websiteUrl"], "https://drop.example.org");
    let remote = &card["remotes"][0];
    assert_eq!(remote["type"], "streamable-http");
    assert_eq!(remote["url"], "https://drop.example.org/mcp");
    let header = &remote["headers"][0];
    assert_eq!((&header["name"], &header["isRequired"]), (&json!("Authorization"), &json!(true)));
    assert_eq!(header["isSecret"], true);
    assert!(header.get("value").is_none(), "no secret of anybody");

    assert_eq!(card["transport"], json!({"type": "streamable-http", "endpoint": remote["url"]}));
    assert_eq!(card["authentication"], json!({"required": true, "schemes": ["bearer", "oauth2"]}));
    assert_eq!(card["documentationUrl"], "https://drop.example.org/auth.md");
    assert_eq!(card["protocolVersion"], remote["supportedProtocolVersions"][0]);
    assert!(!card.to_string().contains("evil"));
}

#[tokio::test]
async fn addresses_in_the_card_lead_somewhere() {
    let node = Node::start().await;
    let card = card(&node).await;
    let mut addresses = vec![&card["websiteUrl"], &card["documentationUrl"], &card["iconUrl"]];
    addresses.push(&card["icons"][0]["src"]);
    for address in addresses {
        node.get(address.as_str().unwrap()).send().await.expect(200);
    }
    let endpoint = card["remotes"][0]["url"].as_str().unwrap();
    node.post(endpoint).send().await.refused(401, "auth required");
}

#[tokio::test]
async fn card_says_what_discover_and_initialize_say() {
    let node = Node::start().await;
    let card = card(&node).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    let found = result(&node, &ask, &headers).await;
    assert_eq!(card["capabilities"], found["capabilities"]);
    assert_eq!(card["instructions"], found["instructions"]);
    assert_eq!(card["serverInfo"], found["_meta"]["io.modelcontextprotocol/serverInfo"]);
    let sorted = |versions: &Value| {
        let mut versions: Vec<_> = versions.as_array().unwrap().clone();
        versions.sort_by_key(ToString::to_string);
        versions
    };
    let listed = sorted(&card["remotes"][0]["supportedProtocolVersions"]);
    assert_eq!(listed, sorted(&found["supportedVersions"]));

    for version in listed.iter().filter(|version| **version != "2026-07-28") {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let begun = result(&node, &ask, &[]).await;
        assert_eq!(begun["protocolVersion"], *version, "the card promises it");
        assert_eq!(card["capabilities"], begun["capabilities"]);
        assert_eq!(card["instructions"], begun["instructions"]);
        assert_eq!(card["serverInfo"], begun["serverInfo"]);
    }
}

#[tokio::test]
async fn unchanged_card_is_not_sent_again() {
    let node = Node::start().await;
    for path in [CARDS[0].0, CARDS[1].0, CATALOG] {
        let etag = node.get(path).send().await.expect(200).header("etag").to_owned();
        assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
        for known in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            let again = node.get(path).header("if-none-match", &known).send().await.expect(304);
            assert_eq!(again.header("etag"), etag);
            assert_eq!(again.header("cache-control"), "public, max-age=3600");
            assert!(again.body.is_empty());
        }
        node.get(path).header("if-none-match", "\"other\"").send().await.expect(200);
        let ask = node.ask(reqwest::Method::OPTIONS, path).header("origin", "https://app.example");
        let preflight = ask.header("access-control-request-headers", "if-none-match").send().await;
        assert!(preflight.header("access-control-allow-headers").contains("If-None-Match"));
    }
}

#[tokio::test]
async fn catalog_leads_to_the_card() {
    let node = Node::start().await;
    let answer = node.get(CATALOG).send().await.expect(200);
    assert_eq!(answer.header("content-type"), "application/ai-catalog+json");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let catalog = answer.json();
    assert_eq!(catalog["specVersion"], "1.0");
    let entries = catalog["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["identifier"], "urn:air:localhost:mcp:dropleaf");
    let found = node.get(entries[0]["url"].as_str().unwrap()).send().await.expect(200);
    assert_eq!(entries[0]["type"], found.header("content-type"));
    assert_eq!(found.json(), card(&node).await);
}

//! The plugin, the skill and the registry entry that a server writes for itself.

use crate::harness::{Node, Setup};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

const BASE: &str = "https://drop.example.org";

async fn node() -> Node {
    Setup::new().set("base_url", BASE).start().await
}

async fn text(node: &Node, path: &str) -> String {
    node.get(path).host("drop.example.org").send().await.expect(200).text()
}

async fn json(node: &Node, path: &str) -> Value {
    serde_json::from_str(&text(node, path).await).unwrap()
}

/// The front matter of a skill: the names at its top level with their values.
fn front_matter(skill: &str) -> BTreeMap<String, String> {
    let (matter, _) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let top = matter.lines().filter(|line| !line.starts_with(' '));
    top.map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_owned(), value.trim().trim_matches('"').to_owned()))
        .collect()
}

#[tokio::test]
async fn index_leads_to_the_skill_with_its_digest() {
    let node = node().await;
    let index = json(&node, "/.well-known/agent-skills/index.json").await;
    assert_eq!(index["$schema"], "https://schemas.agentskills.io/discovery/0.2.0/schema.json");
    let entry = &index["skills"][0];
    let skill = text(&node, entry["url"].as_str().unwrap()).await;
    let digest = Sha256::digest(&skill).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    assert_eq!(entry["digest"], format!("sha256:{digest}"));
    let matter = front_matter(&skill);
    let known = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
    assert!(matter.keys().all(|key| known.contains(&key.as_str())), "{matter:?}");
    assert_eq!((entry["name"].as_str(), entry["type"].as_str()), (Some("dropleaf"), Some("skill-md")));
    assert_eq!(matter["name"], "dropleaf");
    assert_eq!(entry["description"], matter["description"]);
    assert!(matter["description"].len() <= 1024 && matter["compatibility"].len() <= 500);
    assert!(skill.contains(&format!("{BASE}/mcp")) && !skill.contains("localhost"));
    assert!(skill.len() < 20_000, "short enough to be read whole");
    assert_eq!(text(&node, "/skills/dropleaf/SKILL.md").await, skill);
}

#[tokio::test]
async fn plugin_names_this_server_and_no_secret() {
    let node = node().await;
    let plugin = json(&node, "/plugin.json").await;
    assert_eq!(plugin["$schema"], "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json");
    assert_eq!((plugin["name"].as_str(), plugin["homepage"].as_str()), (Some("dropleaf"), Some(BASE)));
    let mcp = json(&node, "/mcp.json").await;
    let server = serde_json::json!({"type": "streamable-http", "url": format!("{BASE}/mcp")});
    assert_eq!(mcp["mcpServers"], serde_json::json!({ "dropleaf": server }));
}

#[tokio::test]
async fn archive_has_the_files_that_are_served() {
    let node = node().await;
    let answer = node.get("/plugin.zip").host("drop.example.org").send().await.expect(200);
    assert_eq!(answer.header("content-type"), "application/zip");
    let mut zip = zip::ZipArchive::new(Cursor::new(answer.body)).unwrap();
    let mut files = BTreeMap::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).unwrap();
        let mut content = String::new();
        file.read_to_string(&mut content).unwrap();
        files.insert(file.name().unwrap().into_owned(), content);
    }
    assert_eq!(files["skills/dropleaf/SKILL.md"], text(&node, "/skills/dropleaf/SKILL.md").await);
    for name in ["plugin.json", "mcp.json", ".claude-plugin/plugin.json"] {
        let packed: Value = serde_json::from_str(&files[name]).unwrap();
        assert_eq!(packed, json(&node, &format!("/{name}")).await, "{name}");
    }
    let own: Value = serde_json::from_str(&files[".mcp.json"]).unwrap();
    assert_eq!(own["mcpServers"]["dropleaf"]["url"], format!("{BASE}/mcp"));
    assert!(files["README.md"].contains(BASE));
    assert_eq!(files.len(), 6);
}

#[tokio::test]
async fn privacy_policy_is_named_if_there_is_one() {
    let node = node().await;
    assert!(json(&node, "/.claude-plugin/plugin.json").await["privacyPolicyUrl"].is_null());
    let policy = "https://example.org/privacy";
    let node = Setup::new().set("base_url", BASE).set("operator.privacy_policy_url", policy).start().await;
    assert_eq!(json(&node, "/.claude-plugin/plugin.json").await["privacyPolicyUrl"], policy);
}

#[tokio::test]
async fn registry_entry_and_catalog_agree_with_the_card() {
    let node = node().await;
    let entry = json(&node, "/server.json").await;
    let card = json(&node, "/.well-known/mcp/server-card.json").await;
    for member in ["name", "title", "description", "version", "websiteUrl"] {
        assert_eq!(entry[member], card[member], "{member}");
    }
    assert_eq!(entry["remotes"][0]["url"], card["remotes"][0]["url"]);
    assert_eq!(entry["remotes"][0]["type"], "streamable-http");
    let catalog = text(&node, "/.well-known/mcp/catalog.json").await;
    assert_eq!(catalog, text(&node, "/.well-known/ai-catalog.json").await);
}

#[tokio::test]
async fn unchanged_file_is_not_sent_again() {
    let node = node().await;
    for path in ["/plugin.json", "/server.json", "/.well-known/agent-skills/dropleaf/SKILL.md"] {
        let first = node.get(path).host("drop.example.org").send().await.expect(200);
        let again = node.get(path).host("drop.example.org").header("if-none-match", first.header("etag"));
        assert_eq!(again.send().await.expect(304).body.len(), 0, "{path}");
    }
}

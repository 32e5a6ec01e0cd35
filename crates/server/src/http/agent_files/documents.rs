//! The documents themselves, as pure functions of the server's address and settings. Their schemas are closed: a member that
//! is not defined makes some clients refuse the whole.

use crate::http::mcp::{DESCRIPTION, NAME, TITLE};
use dropleaf_core::origin::Origin;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The name of the skill, and of the folder it is in.
pub(super) const SKILL_NAME: &str = "dropleaf";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const LICENSE: &str = "Apache-2.0 OR MIT";
const PLUGIN_SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const MCP_SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";
const SKILLS_SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const REGISTRY_SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const KEYWORDS: [&str; 5] = ["publish", "html", "share", "preview", "feedback"];

/// What the documents say about this server.
#[derive(Debug)]
pub(super) struct ServerFacts<'a> {
    pub origin: &'a Origin,
    pub skill: String,
    pub privacy_policy_url: Option<&'a str>,
}

impl ServerFacts<'_> {
    fn endpoint(&self) -> String {
        format!("{}/mcp", self.origin.url())
    }

    /// Agent Plugins 1.0.0 §5.
    pub(super) fn plugin(&self) -> Value {
        json!({
            "$schema": PLUGIN_SCHEMA,
            "name": NAME,
            "version": VERSION,
            "description": DESCRIPTION,
            "homepage": self.origin.url(),
            "license": LICENSE,
            "keywords": KEYWORDS,
        })
    }

    /// Agent Plugins 1.0.0 §7.2. Plain HTTP is allowed only on this machine; elsewhere the plugin has only its skill.
    pub(super) fn plugin_mcp(&self) -> Value {
        let servers = if self.origin.scheme == "https" || self.origin.is_loopback() {
            json!({NAME: {"type": "streamable-http", "url": self.endpoint()}})
        } else {
            json!({})
        };
        json!({"$schema": MCP_SCHEMA, "mcpServers": servers})
    }

    pub(super) fn claude_plugin(&self) -> Value {
        let mut manifest = json!({
            "name": NAME,
            "version": VERSION,
            "description": DESCRIPTION,
            "author": {"name": self.origin.host, "url": self.origin.url()},
            "homepage": self.origin.url(),
            "license": LICENSE,
            "keywords": KEYWORDS,
        });
        if let Some(url) = self.privacy_policy_url {
            manifest["privacyPolicyUrl"] = url.into();
        }
        manifest
    }

    /// The MCP configuration as Claude reads it.
    fn claude_mcp(&self) -> Value {
        json!({"mcpServers": {NAME: {"type": "http", "url": self.endpoint()}}})
    }

    /// Agent Skills Discovery 0.2.0.
    pub(super) fn skills_index(&self) -> Value {
        let digest = Sha256::digest(&self.skill);
        let digest = digest.iter().fold(String::from("sha256:"), |text, byte| format!("{text}{byte:02x}"));
        json!({
            "$schema": SKILLS_SCHEMA,
            "skills": [{
                "name": SKILL_NAME,
                "type": "skill-md",
                "description": self.skill_description(),
                "url": format!("/.well-known/agent-skills/{SKILL_NAME}/SKILL.md"),
                "digest": digest,
            }],
        })
    }

    /// The description in the front matter, so that the index says the same as the skill.
    fn skill_description(&self) -> &str {
        let line = self.skill.lines().find_map(|line| line.strip_prefix("description: "));
        line.unwrap_or_default().trim_matches('"')
    }

    /// An entry of the MCP registry, schema 2025-12-11.
    pub(super) fn registry_entry(&self) -> Value {
        let mut entry = json!({
            "$schema": REGISTRY_SCHEMA,
            "name": format!("{}/{NAME}", self.origin.namespace()),
            "title": TITLE,
            "description": DESCRIPTION,
            "version": VERSION,
            "websiteUrl": self.origin.url(),
            "remotes": [{
                "type": "streamable-http",
                "url": self.endpoint(),
                "headers": [{
                    "name": "Authorization",
                    "description": "Bearer and an API key. Not needed by clients that sign in with OAuth.",
                    "isRequired": false,
                    "isSecret": true,
                }],
            }],
        });
        // The registry accepts icons only over HTTPS.
        if self.origin.scheme == "https" {
            let icon = format!("{}/favicon.svg", self.origin.url());
            entry["icons"] = json!([{"src": icon, "mimeType": "image/svg+xml", "sizes": ["any"]}]);
        }
        entry
    }

    /// What a person who finds the plugin should know first.
    fn readme(&self) -> String {
        let base = self.origin.url();
        let privacy_policy =
            self.privacy_policy_url.map(|url| format!("\nPrivacy policy: {url}\n")).unwrap_or_default();
        format!(
            "# dropleaf\n\n{DESCRIPTION}\n\nThis plugin belongs to the server {base}. It has one skill, which tells an agent when and \
             how to publish a page, change it at the same link and work off viewers' comments, and the MCP endpoint {base}/mcp \
             with the same operations as tools.\n\nThe client signs in with OAuth in your browser the first time. Pages can \
             also be published without an account. How to get access: {base}/auth.md\n{privacy_policy}"
        )
    }

    /// The files of the plugin, for both kinds of clients.
    pub(super) fn files(&self) -> [(String, String); 6] {
        let pretty = |value: &Value| format!("{value:#}\n");
        [
            ("README.md".to_owned(), self.readme()),
            ("plugin.json".to_owned(), pretty(&self.plugin())),
            ("mcp.json".to_owned(), pretty(&self.plugin_mcp())),
            (format!("skills/{SKILL_NAME}/SKILL.md"), self.skill.clone()),
            (".claude-plugin/plugin.json".to_owned(), pretty(&self.claude_plugin())),
            (".mcp.json".to_owned(), pretty(&self.claude_mcp())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKILL: &str = "---\nname: dropleaf\ndescription: \"Publish a page.\"\n---\n\n# Publish\n";

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    fn at(url: &str, test: impl Fn(&ServerFacts<'_>)) {
        let origin = Origin::parse(url).unwrap();
        test(&ServerFacts { origin: &origin, skill: SKILL.to_owned(), privacy_policy_url: None });
    }

    #[test]
    fn manifest_has_only_members_of_its_closed_schema() {
        at("https://leaf.example", |facts| {
            let known = [
                "$schema",
                "name",
                "version",
                "description",
                "author",
                "homepage",
                "repository",
                "license",
                "keywords",
                "extensions",
            ];
            let plugin = facts.plugin();
            assert!(keys(&plugin).iter().all(|key| known.contains(key)), "{plugin}");
            assert_eq!(keys(&facts.plugin_mcp()).len(), 2);
        });
    }

    #[test]
    fn plain_http_is_offered_only_on_this_machine() {
        let servers = |url: &str, count: usize| {
            at(url, |facts| assert_eq!(keys(&facts.plugin_mcp()["mcpServers"]).len(), count, "{url}"));
        };
        servers("https://leaf.example", 1);
        servers("http://localhost:8080", 1);
        servers("http://127.0.0.1:8080", 1);
        servers("http://leaf.example", 0);
    }

    #[test]
    fn index_describes_the_skill_it_names() {
        at("https://leaf.example", |facts| {
            let skill = facts.skills_index()["skills"][0].clone();
            assert_eq!(skill["description"], "Publish a page.");
            assert_eq!(skill["digest"].as_str().unwrap().len(), "sha256:".len() + 64);
        });
    }

    #[test]
    fn registry_entry_names_the_domain_and_shows_icons_only_over_https() {
        at("https://drop.leaf.example", |facts| {
            let entry = facts.registry_entry();
            assert_eq!(entry["name"], "example.leaf.drop/dropleaf");
            assert!(entry["icons"].is_array());
            assert!(entry["description"].as_str().unwrap().len() <= 100);
        });
        at("http://localhost:8080", |facts| assert!(facts.registry_entry()["icons"].is_null()));
    }
}

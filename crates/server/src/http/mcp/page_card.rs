//! An MCP App (2026-01-26): a card with the link, the state and the unread comments of a page, for clients that negotiate
//! `io.modelcontextprotocol/ui`. The card is one fixed document of ours. It shows what a tool returned, and never the page
//! itself: a published page must not run in the client's window. Other clients see no trace of it, and lose nothing: the
//! text of the result is complete.

use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, ClientCapabilities, JsonObject, MetaObject, ReadResourceResult, ResourceContents, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

pub(super) const EXTENSION: &str = "io.modelcontextprotocol/ui";
pub(super) const URI: &str = "ui://dropleaf/page-card.html";
const MIME: &str = "text/html;profile=mcp-app";
const DOCUMENT: &str = include_str!("../../../assets/page_card.html");
/// The tools whose result is a page.
const TOOLS: [&str; 4] = ["publish_html", "update_site", "edit_site", "get_site"];

/// Whether the client of this message shows such cards.
pub(super) fn is_shown(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| accepts(&capabilities))
}

fn accepts(capabilities: &ClientCapabilities) -> bool {
    let settings = capabilities.extensions.as_ref().and_then(|extensions| extensions.get(EXTENSION));
    let kinds = settings.and_then(|settings| settings.get("mimeTypes")).and_then(Value::as_array);
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == MIME))
}

/// Links the card to the tools whose result it shows.
pub(super) fn link(tools: &mut [Tool]) {
    for tool in tools.iter_mut().filter(|tool| TOOLS.contains(&tool.name.as_ref())) {
        tool.meta = Some(meta(json!({"resourceUri": URI})));
    }
}

/// The card. It loads nothing and connects to nothing, so its policy names no domain.
pub(super) fn read(fixed_ms: u64) -> ReadResourceResult {
    let contents = ResourceContents::text(DOCUMENT, URI).with_mime_type(MIME);
    let contents = contents.with_meta(meta(json!({"csp": {}, "prefersBorder": true})));
    let mut result = ReadResourceResult::new(vec![contents]);
    result.ttl_ms = Some(fixed_ms);
    result.cache_scope = Some(CacheScope::Public);
    result
}

fn meta(ui: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([("ui".to_owned(), ui)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_that_names_the_media_type_gets_the_card() {
        let capable = |extensions: Value| {
            accepts(&serde_json::from_value(json!({ "extensions": extensions })).unwrap())
        };
        assert!(capable(json!({EXTENSION: {"mimeTypes": [MIME]}})));
        assert!(!capable(json!({EXTENSION: {"mimeTypes": ["text/html"]}})));
        assert!(!capable(json!({EXTENSION: {}})));
        assert!(!capable(json!({"com.example/other": {"mimeTypes": [MIME]}})));
    }

    #[test]
    fn card_loads_nothing_and_holds_no_page() {
        for word in ["<iframe", "http://", "https://", "src=", "@import", "url(", "fetch(", "innerHTML"] {
            assert!(!DOCUMENT.contains(word), "{word}");
        }
    }
}

//! Trims the parameters of `initialize` to what a session needs: the protocol version, the client's name and the names
//! of its capabilities. The library keeps them in memory and in the session's row for as long as the session lives.

use super::page_card;
use bytes::Bytes;
use serde_json::{Map, Value, json};

/// Maximum length of a client's name, title or version, in bytes.
const TEXT_BYTES: usize = 200;
/// Maximum length of the protocol version; every known one is a date.
const VERSION_BYTES: usize = 32;
/// A capability with longer settings is kept without them.
const SETTINGS_BYTES: usize = 200;
/// The capabilities that the protocol defines and the library reads.
const CAPABILITIES: [&str; 3] = ["roots", "sampling", "elicitation"];

/// The same `initialize` message with short parameters. A message of another shape is passed on, and the library
/// refuses it.
pub(super) fn trim(body: Bytes) -> Bytes {
    let Ok(Value::Object(mut message)) = serde_json::from_slice(&body) else { return body };
    let Some(Value::Object(params)) = message.get("params") else { return body };
    let Some(kept) = kept(params) else { return body };
    message.retain(|name, _| matches!(name.as_str(), "jsonrpc" | "id" | "method"));
    message.insert("params".to_owned(), kept);
    Value::Object(message).to_string().into()
}

/// None if a required member is missing or of another type.
fn kept(params: &Map<String, Value>) -> Option<Value> {
    let client = params.get("clientInfo")?.as_object()?;
    let text = |name: &str| client.get(name).and_then(Value::as_str).map(|text| cut(text, TEXT_BYTES));
    let mut info = json!({"name": text("name")?, "version": text("version")?});
    if let Some(title) = text("title") {
        info["title"] = title.into();
    }
    let offered = params.get("capabilities")?.as_object()?;
    let capabilities: Map<String, Value> = CAPABILITIES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), settings(offered.get(*name)?))))
        .collect();
    let mut capabilities = capabilities;
    // Of the extensions only one changes what is sent.
    if let Some(card) = offered.get("extensions").and_then(|extensions| extensions.get(page_card::EXTENSION))
    {
        capabilities.insert("extensions".to_owned(), json!({page_card::EXTENSION: settings(card)}));
    }
    Some(json!({
        "protocolVersion": cut(params.get("protocolVersion")?.as_str()?, VERSION_BYTES),
        "capabilities": capabilities,
        "clientInfo": info,
    }))
}

fn settings(value: &Value) -> Value {
    if value.to_string().len() <= SETTINGS_BYTES { value.clone() } else { json!({}) }
}

fn cut(text: &str, bytes: usize) -> &str {
    text.split_at(text.floor_char_boundary(bytes)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(message: &Value) -> Value {
        serde_json::from_slice(&trim(message.to_string().into())).unwrap()
    }

    #[test]
    fn long_parameters_become_short_and_stay_an_initialize_message() {
        let long = "ä".repeat(20_000);
        let message = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "more": long, "params": {
            "protocolVersion": "2025-06-18",
            "_meta": {"note": long},
            "capabilities": {"roots": {"listChanged": true}, "sampling": {"note": long}, "experimental": {"x": {"note": long}}},
            "clientInfo": {"name": long, "version": long, "title": long, "description": long, "icons": [{"src": long}]},
        }});
        let small = trimmed(&message);
        assert!(small.to_string().len() < 1024, "{small}");
        assert_eq!((&small["id"], &small["method"]), (&json!("a"), &json!("initialize")));
        assert_eq!(small["params"]["protocolVersion"], "2025-06-18");
        assert_eq!(small["params"]["capabilities"], json!({"roots": {"listChanged": true}, "sampling": {}}));
        let params = serde_json::from_value::<rmcp::model::InitializeRequestParams>(small["params"].clone());
        assert!(long.starts_with(&params.unwrap().client_info.name));
    }

    #[test]
    fn only_the_extension_that_matters_here_is_kept() {
        let card = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "clientInfo": {"name": "an agent", "version": "1"},
            "capabilities": {"extensions": {page_card::EXTENSION: card, "com.example/other": {}}},
        }});
        let kept = json!({"extensions": {page_card::EXTENSION: card}});
        assert_eq!(trimmed(&message)["params"]["capabilities"], kept);
    }

    #[test]
    fn ordinary_parameters_stay_as_they_are() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}},
            "clientInfo": {"name": "an agent", "version": "1.2.3", "title": "An agent"},
        }});
        assert_eq!(trimmed(&message), message);
    }

    #[test]
    fn what_is_no_initialize_message_is_left_to_the_library() {
        for params in [json!(null), json!([]), json!({}), json!({"protocolVersion": 1, "clientInfo": {}})] {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            assert_eq!(trimmed(&message), message);
        }
    }
}

//! An MCP client, with or without a session.

use super::pipe::Pipe;
use super::{Answer, Ask, Node};
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// The newest revision with sessions, and the first without.
pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

#[derive(Debug)]
pub(crate) struct Mcp<'a> {
    node: &'a Node,
    credential: String,
    /// None: every message is self-contained.
    pub(crate) session: Option<String>,
    /// The same requests through `dropleaf mcp`.
    pipe: Option<Mutex<Pipe>>,
}

impl Node {
    /// A client with a new session.
    pub(crate) async fn mcp(&self, credential: &str) -> Mcp<'_> {
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
        });
        let mut client =
            Mcp { node: self, credential: credential.to_owned(), session: Some(String::new()), pipe: None };
        let begun = client.send("initialize", params).await.expect(200);
        assert_eq!(result(&begun)["protocolVersion"], LEGACY);
        client.session = Some(begun.header("mcp-session-id").to_owned());
        client.notify("notifications/initialized").await;
        client
    }

    /// A client that continues a session, or has none yet.
    pub(crate) fn mcp_in(&self, credential: &str, session: &str) -> Mcp<'_> {
        Mcp { node: self, credential: credential.to_owned(), session: Some(session.to_owned()), pipe: None }
    }

    /// A client of the stateless revision.
    pub(crate) fn mcp_modern(&self, credential: &str) -> Mcp<'_> {
        Mcp { node: self, credential: credential.to_owned(), session: None, pipe: None }
    }

    /// A client that uses `dropleaf mcp` instead, with or without a session.
    pub(crate) async fn mcp_by_pipe(&self, credential: &str, is_modern: bool) -> Mcp<'_> {
        let pipe = self.pipe(credential);
        let pipe = if is_modern { pipe.modern() } else { pipe.begun().await };
        Mcp { pipe: Some(Mutex::new(pipe)), ..self.mcp_modern(credential) }
    }
}

impl Mcp<'_> {
    /// A message that is not sent yet, for tests that check the HTTP response.
    pub(crate) fn message(&self, method: &str, mut params: Value) -> Ask {
        let ask = self.node.post("/mcp").key(&self.credential);
        let mut ask = ask.header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            ask = ask.header("mcp-protocol-version", LEGACY);
            if !session.is_empty() {
                ask = ask.header("mcp-session-id", session);
            }
        } else {
            ask = ask.header("mcp-protocol-version", MODERN).header("mcp-method", method);
            if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
                ask = ask.header("mcp-name", name);
            }
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            });
        }
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if !method.starts_with("notifications/") {
            message["id"] = json!(1);
        }
        ask.json(&message)
    }

    pub(crate) async fn send(&self, method: &str, params: Value) -> Answer {
        self.message(method, params).send().await
    }

    pub(crate) async fn notify(&self, method: &str) {
        self.send(method, json!({})).await.expect(202);
    }

    /// The result of a request that succeeds.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Value {
        if let Some(pipe) = &self.pipe {
            return pipe.lock().await.request(method, params).await;
        }
        result(&self.send(method, params).await.expect(200))
    }

    /// The whole result of a tool, success or error.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// The structured result of a tool that succeeds.
    pub(crate) async fn give(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The text of a tool's error, which begins with this code.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value, code: &str) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result.get("structuredContent").is_none(), "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let error: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(error["error"], code, "{tool}: {text}");
        assert!(error["error_description"].is_string(), "{tool}: {text}");
        text
    }

    pub(crate) async fn tools(&self) -> Vec<Value> {
        self.request("tools/list", json!({})).await["tools"].as_array().unwrap().clone()
    }
}

/// The message in a response, as JSON or as an event.
#[track_caller]
pub(crate) fn message_in(answer: &Answer) -> Value {
    if answer.header("content-type").starts_with("application/json") {
        return answer.json();
    }
    let text = answer.text();
    let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = messages.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
    messages.find(|message| message.get("id").is_some()).unwrap_or_else(|| panic!("no answer in: {text}"))
}

#[track_caller]
pub(crate) fn result(answer: &Answer) -> Value {
    let message = message_in(answer);
    assert!(message.get("error").is_none(), "{message}");
    message["result"].clone()
}

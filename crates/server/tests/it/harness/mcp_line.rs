//! Open MCP event streams, and messages sent while they are open.

use super::mcp::{LEGACY, message_in};
use super::{Ask, Form, Node, in_time, page};
use reqwest::Response;
use serde_json::{Value, json};

pub(crate) const BOTH: &str = "application/json, text/event-stream";

/// A message of a client of the older revisions.
pub(crate) fn say(node: &Node, key: &str, session: &str, method: &str, params: &Value) -> Ask {
    node.mcp_in(key, session).message(method, params.clone())
}

/// A message of the newest revision.
pub(crate) fn ask_now(node: &Node, key: &str, method: &str, params: &Value) -> Ask {
    node.mcp_modern(key).message(method, params.clone())
}

/// Begins a session and returns its id.
pub(crate) async fn begin(node: &Node, key: &str) -> String {
    node.mcp(key).await.session.unwrap()
}

/// The result of a message in a session.
pub(crate) async fn result(node: &Node, key: &str, session: &str, method: &str, params: Value) -> Value {
    node.mcp_in(key, session).request(method, params).await
}

/// The error of a message in a session.
pub(crate) async fn error(node: &Node, key: &str, session: &str, method: &str, params: Value) -> Value {
    let answer = node.mcp_in(key, session).send(method, params).await.expect(200);
    message_in(&answer)["error"].clone()
}

/// The result of a message of the newest revision.
pub(crate) async fn result_now(node: &Node, key: &str, method: &str, params: Value) -> Value {
    node.mcp_modern(key).request(method, params).await
}

/// A page with feedback enabled.
pub(crate) async fn open_page(node: &Node, key: &str, title: &str) -> Value {
    node.publish_as(key, Form::file("page.html", page(title)).field("agentation", "true")).await
}

/// Posts a viewer's comment.
pub(crate) async fn comment(node: &Node, site: &Value, text: &str) {
    let path = format!("{}_dropleaf/feedback", site["url"].as_str().unwrap());
    node.post(&path).json(&json!({"comment": text})).send().await.expect(201);
}

pub(crate) fn uri_of(site: &Value) -> String {
    format!("dropleaf://sites/{}", site["id"].as_str().unwrap())
}

/// An open event stream.
#[derive(Debug)]
pub(crate) struct Line {
    response: Response,
    text: String,
}

impl Line {
    /// Opens it like a client of the older revisions.
    pub(crate) async fn open(node: &Node, key: &str, session: &str) -> Self {
        let ask = node.get("/mcp").key(key).header("accept", "text/event-stream");
        let response =
            ask.header("mcp-session-id", session).header("mcp-protocol-version", LEGACY).begin().await;
        Self::new(response)
    }

    /// An acknowledged subscription of the newest revision, and the accepted resources.
    pub(crate) async fn listen(node: &Node, key: &str, uris: &[String]) -> (Self, Value) {
        let params = json!({"notifications": {"resourceSubscriptions": uris}});
        let response = ask_now(node, key, "subscriptions/listen", &params).begin().await;
        let mut line = Self::new(response);
        let first = line.next().await.unwrap();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        (line, first["params"]["notifications"].clone())
    }

    pub(crate) fn new(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Self { response, text: String::new() }
    }

    /// The next block of lines, whatever it contains. None at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        in_time("the next lines of the stream", self.read_block()).await
    }

    async fn read_block(&mut self) -> Option<String> {
        loop {
            if let Some((block, _)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text.drain(..block.len() + 2);
                return Some(block);
            }
            // A server that stops may cut a connection; that is an end too.
            let piece = self.response.chunk().await.ok().flatten()?;
            self.text.push_str(str::from_utf8(&piece).unwrap());
        }
    }

    /// The next message. None at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        in_time("the next message of the stream", self.read_message()).await
    }

    async fn read_message(&mut self) -> Option<Value> {
        loop {
            let block = self.read_block().await?;
            let data = block.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
            let data: String = data.collect();
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).unwrap());
            }
        }
    }

    /// The URI in the next message, which must be a notification.
    pub(crate) async fn news(&mut self) -> String {
        let message = self.next().await.expect("the stream ended");
        assert_eq!(message["method"], "notifications/resources/updated", "{message}");
        message["params"]["uri"].as_str().unwrap().to_owned()
    }

    /// All notifications up to the end of the stream.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        in_time("the end of the stream", self.read_rest()).await
    }

    async fn read_rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(message) = self.read_message().await {
            if message["method"].is_string() {
                rest.push(message);
            }
        }
        rest
    }
}

//! Parses the parts of a JSON-RPC message that the bridge needs: its kind, the request it answers, and its headers.
//! The message itself is forwarded byte for byte.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MessageKind {
    Request {
        id: Value,
        method: String,
    },
    Notification {
        method: String,
    },
    /// A response; without an id it refers to a message that could not be parsed.
    Answer {
        id: Option<Value>,
        is_error: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub kind: MessageKind,
    /// The protocol version in the message, as every request has it since 2026-07-28.
    pub version: Option<String>,
    /// The name of the tool or prompt, the URI of the resource or the id of the task, for the header `Mcp-Name`.
    name: Option<String>,
    pub uri: Option<String>,
    /// The request that a cancellation refers to.
    pub request_id: Option<Value>,
}

/// Why a line is not a valid message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    NotJson(String),
    Batch,
    NotAMessage,
}

#[derive(Debug, Deserialize)]
struct Shape {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Params>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    #[serde(rename = "taskId")]
    task_id: Option<String>,
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Debug, Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

impl Message {
    pub(super) fn read(line: &[u8]) -> Result<Self, Broken> {
        let not_json = |error: serde_json::Error| Broken::NotJson(error.to_string());
        let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
        if first != Some(&b'{') {
            serde_json::from_slice::<IgnoredAny>(line).map_err(not_json)?;
            return Err(if first == Some(&b'[') { Broken::Batch } else { Broken::NotAMessage });
        }
        let shape = match serde_json::from_slice(line) {
            Ok(shape) => shape,
            // Unexpected types: leave it to the server to reject them.
            Err(error) if error.is_data() => Shape::lenient(&serde_json::from_slice(line).map_err(not_json)?),
            Err(error) => return Err(not_json(error)),
        };
        Self::of(shape)
    }

    fn of(shape: Shape) -> Result<Self, Broken> {
        let params = shape.params.unwrap_or_default();
        let (name, uri) = match shape.method.as_deref() {
            Some("tools/call" | "prompts/get") => (params.name, None),
            Some("resources/read" | "resources/subscribe" | "resources/unsubscribe") => {
                (params.uri.clone(), params.uri)
            }
            Some("tasks/get" | "tasks/update" | "tasks/cancel") => (params.task_id, None),
            _ => (None, None),
        };
        let is_error = shape.error.is_some();
        let kind = match (shape.method, shape.id) {
            (Some(method), Some(id)) => MessageKind::Request { id, method },
            (Some(method), None) => MessageKind::Notification { method },
            (None, id) if is_error || shape.result.is_some() => MessageKind::Answer { id, is_error },
            (None, _) => return Err(Broken::NotAMessage),
        };
        let version = params.meta.and_then(|meta| meta.version);
        Ok(Self { kind, version, name, uri, request_id: params.request_id })
    }

    pub(super) fn method(&self) -> &str {
        match &self.kind {
            MessageKind::Request { method, .. } | MessageKind::Notification { method } => method,
            MessageKind::Answer { .. } => "",
        }
    }

    /// The value of the header `Mcp-Name`.
    pub(super) fn name_header(&self) -> Option<String> {
        self.name.as_deref().map(header_value)
    }

    /// Whether the message may be sent again when the outcome of the first attempt is unknown. A tool call may already have run.
    pub(super) fn may_be_repeated(&self) -> bool {
        self.method() != "tools/call"
    }

    pub(super) fn answers(&self, asked: &Value) -> bool {
        matches!(&self.kind, MessageKind::Answer { id: Some(id), .. } if id == asked)
    }
}

impl Shape {
    fn lenient(json: &Value) -> Self {
        let text = |json: Option<&Value>| json.and_then(Value::as_str).map(str::to_owned);
        let params = json.get("params").map(|params| Params {
            name: text(params.get("name")),
            uri: text(params.get("uri")),
            task_id: text(params.get("taskId")),
            request_id: params.get("requestId").cloned(),
            meta: params.get("_meta").map(|meta| Meta { version: text(meta.get(VERSION_KEY)) }),
        });
        Self {
            id: json.get("id").filter(|id| !id.is_null()).cloned(),
            method: text(json.get("method")),
            params,
            result: json.get("result").map(|_| IgnoredAny),
            error: json.get("error").map(|_| IgnoredAny),
        }
    }
}

/// The text as it is, or base64-encoded if a header cannot carry it.
fn header_value(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: &Value) -> Message {
        Message::read(json.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn messages_are_told_apart() {
        let request = read(&json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}));
        assert_eq!(request.kind, MessageKind::Request { id: json!("a"), method: "ping".into() });
        let notification = read(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 7}}));
        assert_eq!(notification.method(), "notifications/cancelled");
        assert_eq!(notification.request_id, Some(json!(7)));
        let answer = read(&json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
        assert!(answer.answers(&json!(7)) && !answer.answers(&json!("7")));
        let error = read(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": ""}}));
        assert_eq!(error.kind, MessageKind::Answer { id: None, is_error: true });
    }

    #[test]
    fn headers_come_from_the_body() {
        let meta = json!({VERSION_KEY: "2026-07-28"});
        let call =
            read(&json!({"id": 1, "method": "tools/call", "params": {"name": "get_me", "_meta": meta}}));
        assert_eq!(
            (call.version.as_deref(), call.name_header().as_deref()),
            (Some("2026-07-28"), Some("get_me"))
        );
        let read_it = read(&json!({"id": 1, "method": "resources/read", "params": {"uri": "dropleaf://ü"}}));
        assert_eq!(read_it.name_header().unwrap(), "=?base64?ZHJvcGxlYWY6Ly/DvA==?=");
        let list = read(&json!({"id": 1, "method": "tools/list", "params": {"name": "no"}}));
        assert_eq!((list.version, list.name), (None, None));
    }

    #[test]
    fn what_a_header_cannot_carry_is_encoded() {
        for (text, header) in [
            ("plain name", "plain name"),
            (" edge", "=?base64?IGVkZ2U=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(header_value(text), header);
        }
    }

    #[test]
    fn what_is_no_message_is_named() {
        assert!(matches!(Message::read(b"{\"id\": 1"), Err(Broken::NotJson(_))));
        assert!(matches!(Message::read(b"hello"), Err(Broken::NotJson(_))));
        assert_eq!(Message::read(b" [{\"id\":1,\"method\":\"ping\"}]"), Err(Broken::Batch));
        assert_eq!(Message::read(b"7"), Err(Broken::NotAMessage));
        assert_eq!(Message::read(b"{}"), Err(Broken::NotAMessage));
    }

    #[test]
    fn odd_members_are_left_to_the_server() {
        let odd = read(&json!({"id": 1, "method": "tools/call", "params": {"name": 5, "_meta": []}}));
        assert_eq!((odd.method(), odd.name_header(), odd.version.as_deref()), ("tools/call", None, None));
        let list = read(&json!({"id": 1, "method": "tools/call", "params": [1]}));
        assert_eq!(list.method(), "tools/call");
    }
}

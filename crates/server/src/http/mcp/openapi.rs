//! Describes `/mcp` and its documents for the OpenAPI document. The messages themselves are defined by the Model
//! Context Protocol.

use super::{Mcp, endpoint, tools};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::path::Paths;

/// A complete request of the newest revision. OpenAPI has no parameter for `Accept`, so the command is written out.
const POST_SAMPLE: &str = r#"curl \
  -H "Authorization: Bearer $DROPLEAF_KEY" \
  -H 'Accept: application/json, text/event-stream' \
  -H 'MCP-Protocol-Version: 2026-07-28' \
  -H 'Mcp-Method: tools/list' \
  -H 'Content-Type: application/json' \
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"example","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}}' \
  http://localhost:8080/mcp"#;
const STREAM_SAMPLE: &str = r#"curl -N \
  -H "Authorization: Bearer $DROPLEAF_KEY" \
  -H 'Accept: text/event-stream' \
  -H "Mcp-Session-Id: $MCP_SESSION_ID" \
  http://localhost:8080/mcp"#;

/// A JSON-RPC 2.0 message: a request, a notification (without `id`) or a response.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "example", "version": "1.0.0"},
        "io.modelcontextprotocol/clientCapabilities": {}
    }
}}))]
#[expect(dead_code, reason = "describes the body; the library reads it")]
pub(super) struct RpcMessage {
    /// `2.0`.
    jsonrpc: String,
    /// A number or a string; a notification has none.
    #[schema(value_type = Value, required = false)]
    id: Option<Value>,
    #[schema(nullable = false)]
    method: Option<String>,
    #[schema(value_type = Object, required = false)]
    params: Option<Value>,
}

/// A JSON-RPC 2.0 response: `result` or `error`.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}))]
#[expect(dead_code, reason = "describes the body; the library writes it")]
pub(super) struct RpcAnswer {
    /// `2.0`.
    jsonrpc: String,
    /// The `id` of the request.
    #[schema(value_type = Value)]
    id: Option<Value>,
    #[schema(value_type = Object, required = false)]
    result: Option<Value>,
    #[schema(value_type = Object, required = false)]
    error: Option<Value>,
}

/// Send a message
///
/// The Streamable HTTP transport of the Model Context Protocol, with sessions (`Mcp-Session-Id`) and without. `Accept`
/// must name both `application/json` and `text/event-stream`. The response is an event stream or JSON; a notification
/// gets 202. Scopes: `sites:read` or `sites:write`, depending on the tool.
#[utoipa::path(
    post, path = "/mcp", tag = "MCP", operation_id = "postMcp",
    params(
        ("MCP-Protocol-Version" = Option<String>, Header, description = "The protocol revision in use."),
        ("Mcp-Method" = Option<String>, Header, description = "From revision 2026-07-28: the method of the message."),
        ("Mcp-Name" = Option<String>, Header, description = "From revision 2026-07-28: the tool, resource or prompt in the \
                                                             message."),
        ("Mcp-Session-Id" = Option<String>, Header, description = "Before revision 2026-07-28: the session ID from `initialize`."),
    ),
    request_body(content = RpcMessage, content_type = "application/json"),
    responses(
        (status = 200, description = "The response", content((RpcAnswer = "application/json"), (String = "text/event-stream"))),
        (status = 202, description = "Accepted; there is no response"),
        (status = 400, description = "Not a JSON-RPC message, or one that is not supported here", body = Value),
        (status = 404, description = "No such session or, from revision 2026-07-28, no such method", body = Value),
        (status = 406, description = "`Accept` does not include both media types", body = Value),
        (status = 415, description = "The body is not JSON", body = Value),
    ),
    security(("api_key" = [])),
    extensions(("x-codeSamples" = json!([{"lang": "Shell", "source": POST_SAMPLE}]))),
)]
pub(super) async fn post(mcp: State<Arc<Mcp>>, request: Request) -> Response {
    endpoint::answer(mcp, request).await
}

/// Adds what each tool returns, because the list of tools does not say it.
pub(super) fn add_tools(paths: &mut Paths) {
    let post = paths.paths.get_mut("/mcp").and_then(|item| item.post.as_mut());
    if let Some(post) = post {
        let extensions = post.extensions.get_or_insert_default();
        extensions.insert("x-mcp-tools".to_owned(), tools::outputs());
    }
}

/// Open the event stream of a session
///
/// Notifications from the server; `Accept` must name `text/event-stream`. Before revision 2026-07-28; later clients send
/// `subscriptions/listen`.
#[utoipa::path(
    get, path = "/mcp", tag = "MCP", operation_id = "openMcpStream",
    params(
        ("Mcp-Session-Id" = String, Header, description = "The session ID from `initialize`."),
        ("Last-Event-ID" = Option<String>, Header, description = "Resume after this event."),
    ),
    responses(
        (status = 200, description = "Events, until the client disconnects", content_type = "text/event-stream", body = String),
        (status = 406, description = "`Accept` does not include `text/event-stream`", body = Value),
    ),
    security(("api_key" = [])),
    extensions(("x-codeSamples" = json!([{"lang": "Shell", "source": STREAM_SAMPLE}]))),
)]
pub(super) async fn open_stream(mcp: State<Arc<Mcp>>, request: Request) -> Response {
    endpoint::answer(mcp, request).await
}

/// End a session
#[utoipa::path(
    delete, path = "/mcp", tag = "MCP", operation_id = "endMcpSession",
    params(("Mcp-Session-Id" = String, Header, description = "The session ID from `initialize`.")),
    responses((status = 204, description = "The session has ended")),
    security(("api_key" = [])),
)]
pub(super) async fn end_session(mcp: State<Arc<Mcp>>, request: Request) -> Response {
    endpoint::answer(mcp, request).await
}

/// Describes `/mcp` to programs before they connect: SEP-2127, with the members of SEP-1649.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "name": "localhost/dropleaf", "version": env!("CARGO_PKG_VERSION"), "title": "dropleaf: private HTML hosting",
    "description": "Publish HTML as private pages with unguessable links and read feedback from viewers.",
    "websiteUrl": "http://localhost:8080",
    "remotes": [{"type": "streamable-http", "url": "http://localhost:8080/mcp"}],
    "protocolVersion": "2026-07-28", "transport": {"type": "streamable-http", "endpoint": "http://localhost:8080/mcp"},
    "authentication": {"required": true, "schemes": ["bearer", "oauth2"]}
}))]
#[expect(dead_code, reason = "describes the document; `card` writes it")]
pub(super) struct ServerCard {
    name: String,
    /// Version of the server program.
    version: String,
    title: String,
    description: String,
    #[schema(rename = "websiteUrl", format = "uri")]
    website_url: String,
    #[schema(value_type = Vec<Object>)]
    remotes: Vec<Value>,
    #[schema(rename = "protocolVersion")]
    protocol_version: String,
    #[schema(value_type = Object)]
    transport: Value,
    #[schema(value_type = Object)]
    authentication: Value,
}

/// The server cards of this host.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"specVersion": "1.0", "entries": [{
    "identifier": "urn:air:localhost:mcp:dropleaf", "displayName": "dropleaf: private HTML hosting",
    "type": "application/mcp-server-card+json", "url": "http://localhost:8080/mcp/server-card"
}]}))]
#[expect(dead_code, reason = "describes the document; `card` writes it")]
pub(super) struct AiCatalog {
    #[schema(rename = "specVersion")]
    spec_version: String,
    #[schema(value_type = Vec<Object>)]
    entries: Vec<Value>,
}

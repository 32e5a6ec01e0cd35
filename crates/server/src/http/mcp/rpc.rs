//! JSON-RPC errors: for a failed operation, and for a body that is not a message.

use crate::http::error;
use axum::response::{IntoResponse, Response};
use dropleaf_core::{Code, Error};
use http::StatusCode;
use rmcp::ErrorData;
use serde_json::{Value, json};

pub(super) const VERSION: &str = "2.0";
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
/// In characters.
const SHOWN: usize = 100;

/// The JSON-RPC error of a failed operation. The stable code is in `data`.
pub(super) fn refusal(error: &Error) -> ErrorData {
    let data = Some(json!({"error": error.code.as_str()}));
    if error::status(error.code).is_server_error() {
        let source = error.source.as_deref().map(ToString::to_string).unwrap_or_default();
        tracing::error!(code = error.code.as_str(), source, "MCP request failed");
        return ErrorData::internal_error(error.code.meaning(), data);
    }
    let detail = error.detail.clone();
    match error.code {
        Code::NotFound => ErrorData::resource_not_found(detail, data),
        Code::InsufficientScope => ErrorData::invalid_request(detail, data),
        _ => ErrorData::invalid_params(detail, data),
    }
}

/// A name sent by the client, truncated for an error text.
pub(super) fn shown(name: &str) -> &str {
    name.char_indices().nth(SHOWN).and_then(|(end, _)| name.get(..end)).unwrap_or(name)
}

/// The response to a body that is not a message.
pub(super) fn no_message(id: Option<&Value>, code: i32, message: &str) -> Response {
    let body = json!({"jsonrpc": VERSION, "id": id, "error": {"code": code, "message": message}});
    (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}

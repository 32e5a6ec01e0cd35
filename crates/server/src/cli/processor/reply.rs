//! Answers in the form in which the processor sends them.

use super::ProcessorState;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use dropleaf_app::SandboxReply;
use dropleaf_core::Error;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

impl ProcessorState {
    /// Queues the events of a reply and returns its answer.
    pub(super) fn answer(&self, reply: Result<SandboxReply, Error>) -> Response {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return self.storage_failed(&error),
        };
        self.events.queue(reply.events);
        let mut response = self.json_text(reply.status, reply.body);
        if reply.replayed {
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }

    pub(super) fn json(&self, status: u16, body: &Value) -> Response {
        self.json_text(status, body.to_string())
    }

    /// An error of ours, in the processor's form.
    pub(super) fn error(&self, status: u16, kind: &str, message: &str) -> Response {
        self.json(status, &json!({ "error": { "type": kind, "message": message } }))
    }

    pub(super) fn storage_failed(&self, error: &Error) -> Response {
        tracing::error!(%error, source = ?error.source, "the sandbox cannot use its database");
        self.error(500, "api_error", "The sandbox cannot use its database.")
    }

    fn json_text(&self, status: u16, body: String) -> Response {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Body::from(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-store"));
        if let Ok(id) = HeaderValue::from_str(&format!("req_{}", self.minter.nonce())) {
            headers.insert(REQUEST_ID, id);
        }
        response
    }
}

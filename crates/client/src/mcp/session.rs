//! The session of protocol versions before 2026-07-28, and what is needed to recreate it, unnoticed by the client, when the
//! server no longer knows it.

use super::wire::McpHeaders;
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct Session {
    /// The client's `initialize` request.
    pub opening: Option<Value>,
    id: Option<String>,
    version: Option<String>,
    /// The URIs of the resources the client subscribed to.
    pub watched: BTreeSet<String>,
    /// Incremented with each new session, so that only one of several tasks that find it lost recreates it.
    generation: u64,
}

/// The server's response to `initialize`.
#[derive(Debug)]
pub(super) struct Opened {
    pub answer: Vec<u8>,
    id: Option<String>,
    version: Option<String>,
    pub error: Option<Value>,
}

impl Opened {
    /// Reads the response; `id` is that of the session it started.
    pub(super) fn read(answer: Vec<u8>, id: Option<String>) -> Self {
        let json: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let version = json["result"]["protocolVersion"].as_str().map(str::to_owned);
        let error = json.get("error").cloned();
        Self { answer, id, version, error }
    }
}

impl Session {
    pub(super) fn headers(&self) -> McpHeaders {
        McpHeaders { version: self.version.clone(), session: self.id.clone(), ..McpHeaders::default() }
    }

    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.id.is_some()
    }

    /// Records a session that the client has started.
    pub(super) fn begin(&mut self, opening: Value, opened: &Opened) {
        if opened.error.is_none() {
            self.opening = Some(opening);
            self.watched.clear();
            self.take(opened);
        }
    }

    /// Takes over what the server sent.
    pub(super) fn take(&mut self, opened: &Opened) {
        self.id.clone_from(&opened.id);
        self.version.clone_from(&opened.version);
        self.generation += 1;
    }

    pub(super) fn watch(&mut self, uri: &str) {
        self.watched.insert(uri.to_owned());
    }

    pub(super) fn unwatch(&mut self, uri: &str) {
        self.watched.remove(uri);
    }
}

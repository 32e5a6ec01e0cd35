//! The session of protocol versions before 2026-07-28, and what is needed to recreate it, unnoticed by the client, when the
//! server no longer knows it.

use super::exchange::{Link, Wait};
use super::trouble::Trouble;
use super::wire::Seat;
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The JSON-RPC id of the bridge's own requests; their responses are not forwarded.
const OWN_ID: &str = "dropleaf-bridge";

#[derive(Debug, Default)]
pub(super) struct Session {
    /// The client's `initialize` request.
    opening: Option<Value>,
    id: Option<String>,
    version: Option<String>,
    /// The URIs of the resources the client subscribed to.
    watched: BTreeSet<String>,
    /// Incremented with each new session, so that only one of several tasks that find it lost recreates it.
    generation: u64,
}

/// The server's response to `initialize`.
#[derive(Debug)]
pub(super) struct Opened {
    pub answer: Vec<u8>,
    id: Option<String>,
    version: Option<String>,
    error: Option<Value>,
}

impl Session {
    pub(super) fn seat(&self) -> Seat {
        Seat { version: self.version.clone(), session: self.id.clone(), ..Seat::default() }
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

    fn take(&mut self, opened: &Opened) {
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

impl Link {
    /// Sends an `initialize`, with retries while the error is temporary.
    pub(super) async fn open(&self, line: &Bytes, id: &Value) -> Result<Opened, Trouble> {
        let mut wait = Wait::up_to(self.patience);
        loop {
            match self.once(line, &Seat::default(), id, None).await {
                Ok((answer, session)) => return Ok(read(answer, session)),
                Err(trouble) if trouble.may_pass() && wait.pause().await => {}
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// Recreates the session, unless another task has done so since generation `lost`.
    pub(super) async fn renew(&self, lost: u64) -> Result<(), Trouble> {
        let mut session = self.session.write().await;
        if session.generation != lost {
            return Ok(());
        }
        let mut opening = session.opening.clone().ok_or(Trouble::Lost)?;
        let id = json!(OWN_ID);
        opening["id"] = id.clone();
        let opened = self.open(&line(&opening), &id).await?;
        if let Some(error) = opened.error {
            return Err(Trouble::Told(error));
        }
        session.take(&opened);
        let seat = session.seat();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.deliver(&seat, &line(&ready)).await?;
        for uri in &session.watched {
            let again =
                json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": {"uri": uri}});
            // A page that no longer exists must not prevent the other subscriptions.
            if let Err(trouble) = self.once(&line(&again), &seat, &id, None).await {
                self.note(&format!("no longer subscribed to {uri}: {}", trouble.sentence(&self.wire.server)));
            }
        }
        self.renewed.send_replace(session.generation);
        self.note("the server no longer knew the session; a new one was started");
        Ok(())
    }
}

fn read(answer: Vec<u8>, id: Option<String>) -> Opened {
    let json: Value = serde_json::from_slice(&answer).unwrap_or_default();
    let version = json["result"]["protocolVersion"].as_str().map(str::to_owned);
    let error = json.get("error").cloned();
    Opened { answer, id, version, error }
}

fn line(json: &Value) -> Bytes {
    json.to_string().into_bytes().into()
}

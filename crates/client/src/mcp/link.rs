//! The connection between a client and the server: sends one message and relays the messages of its response. Retries and lost
//! sessions are left to `exchange`.

use super::failure::ExchangeFailure;
use super::message::{Message, MessageKind};
use super::session::Session;
use super::sse::Events;
use super::wire::{McpHeaders, Reply, Wire};
use bytes::Bytes;
use reqwest::Response;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{RwLock, mpsc, watch};
use tokio::time::timeout;

/// How long the server may take to accept a message that has no response.
const DELIVERY: Duration = Duration::from_secs(10);

/// The state shared by all exchanges.
pub(super) struct Link {
    pub wire: Wire,
    /// Complete lines for the client.
    pub out: mpsc::Sender<Vec<u8>>,
    pub session: Arc<RwLock<Session>>,
    /// Tells the listener that the session has been replaced.
    pub renewed: watch::Sender<u64>,
    pub patience: Duration,
    pub notes: Box<dyn Fn(&str) + Send + Sync>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("wire", &self.wire).finish_non_exhaustive()
    }
}

impl Link {
    /// Sends a line to the client. A closed channel is ignored here; the loop that reads lines notices it.
    pub(super) async fn send_line(&self, mut line: Vec<u8>) {
        for byte in &mut line {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        let _ = self.out.send(line).await;
    }

    /// Writes a log message for a person.
    pub(super) fn note(&self, words: &str) {
        (self.notes)(words);
    }

    /// Sends a message that has no response, once. The next line waits for it, hence the timeout for servers that accept the
    /// connection and do not respond.
    pub(super) async fn deliver(&self, headers: &McpHeaders, line: &Bytes) -> Result<(), ExchangeFailure> {
        match timeout(DELIVERY, self.wire.post(headers, line)).await {
            Ok(reply) => reply.map(drop),
            Err(_) => {
                Err(ExchangeFailure::Unreachable { why: "it did not respond in time".to_owned(), sent: true })
            }
        }
    }

    /// Sends a request once and waits for its response; also returns the id of the session it started, if any.
    pub(super) async fn once(
        &self,
        line: &Bytes,
        headers: &McpHeaders,
        id: &Value,
        hush: Option<&str>,
    ) -> Result<(Vec<u8>, Option<String>), ExchangeFailure> {
        let (reply, session) = self.wire.post(headers, line).await?;
        let answer = match reply {
            Reply::Json(body) => match sorted(body, id) {
                Sorted::Answer(answer) => answer,
                _ => return Err(ExchangeFailure::NotMcp { status: 200 }),
            },
            Reply::Accepted => return Err(ExchangeFailure::NotMcp { status: 202 }),
            Reply::Stream(response) => self.relay(response, headers, id, hush).await?,
        };
        Ok((answer, session))
    }

    /// Forwards the messages of a stream until the response, which it returns. A session's stream that is cut off is resumed
    /// after its last event id, if the server supports that.
    async fn relay(
        &self,
        response: Response,
        headers: &McpHeaders,
        id: &Value,
        hush: Option<&str>,
    ) -> Result<Vec<u8>, ExchangeFailure> {
        let mut events = Events::of(response);
        let mut last: Option<String> = None;
        loop {
            let Some(event) = events.next().await? else {
                let after =
                    last.take().filter(|_| headers.session.is_some()).ok_or(ExchangeFailure::Interrupted)?;
                let response = self.wire.get(headers, Some(&after)).await;
                events = Events::of(response.map_err(|_| ExchangeFailure::Interrupted)?);
                continue;
            };
            if event.id.is_some() {
                last = event.id;
            }
            if event.data.is_empty() {
                continue;
            }
            match sorted(event.data, id) {
                Sorted::Answer(answer) => return Ok(answer),
                Sorted::Other { method, .. } if hush == Some(method.as_str()) => {}
                Sorted::Other { line, .. } => self.send_line(line).await,
                Sorted::Nonsense => {
                    self.note("the server sent an invalid message, which was ignored");
                }
            }
        }
    }
}

pub(super) fn is_error(answer: &[u8]) -> bool {
    !matches!(Message::read(answer), Ok(Message { kind: MessageKind::Answer { is_error: false, .. }, .. }))
}

/// How a message from the server relates to the request `id`.
pub(super) enum Sorted {
    Answer(Vec<u8>),
    Other { method: String, line: Vec<u8> },
    Nonsense,
}

pub(super) fn sorted(line: Vec<u8>, id: &Value) -> Sorted {
    let Ok(message) = Message::read(&line) else { return Sorted::Nonsense };
    if message.answers(id) {
        return Sorted::Answer(line);
    }
    // An error without an id refers to a message the server could not parse: only our request is pending on this stream.
    if matches!(message.kind, MessageKind::Answer { id: None, is_error: true })
        && let Ok(mut json) = serde_json::from_slice::<Value>(&line)
    {
        json["id"] = id.clone();
        return Sorted::Answer(json.to_string().into_bytes());
    }
    Sorted::Other { method: message.method().to_owned(), line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn error_without_an_id_answers_the_pending_request() {
        let line = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#;
        let Sorted::Answer(answer) = sorted(line.to_vec(), &json!(5)) else { panic!("an answer") };
        assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap()["id"], 5);
        assert!(matches!(sorted(b"{\"id\":6,\"result\":{}}".to_vec(), &json!(5)), Sorted::Other { .. }));
        assert!(matches!(sorted(b"<html>".to_vec(), &json!(5)), Sorted::Nonsense));
    }
}

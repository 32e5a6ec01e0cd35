//! Stores the answer to a tool call, so that a client whose connection was cut can fetch it. The operation and the storing
//! run in a task of their own: they complete whether or not the client is still there.

use super::answer_id::AnswerId;
use super::event_text::{self, Chunk};
use super::{Mcp, rpc};
use crate::http::media_type;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use dropleaf_app::{ANSWER_BYTES, App, Identity};
use futures_util::{StreamExt, stream};
use rmcp::ErrorData;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Events that wait for a slow client; an answer is one.
const WAITING_EVENTS: usize = 8;

/// Whose answer it is, and its name.
#[derive(Debug)]
pub(super) struct KeptAnswer {
    pub id: AnswerId,
    pub who: Identity,
    pub session: String,
}

/// The members of a message that tell an answer from other messages.
#[derive(Deserialize)]
struct Members {
    id: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Sends an event with the id of the answer first, then the answer, which is stored before the stream ends. A response that
/// is not an event stream is complete, and is sent as it is.
pub(super) fn keep(mcp: &Mcp, response: Response, kept: KeptAnswer) -> Response {
    if !media_type::is(response.headers(), media_type::EVENT_STREAM) {
        return response;
    }
    response.map(|body| {
        let (sender, receiver) = mpsc::channel(WAITING_EVENTS);
        let first = kept.id.first_event();
        mcp.state.tasks.spawn(forward(Arc::clone(&mcp.state.app), body, kept, sender));
        let rest = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
        let events = stream::once(std::future::ready(first)).chain(rest);
        Body::from_stream(events.map(Ok::<_, Infallible>))
    })
}

/// Reads the library's stream to its end, whether or not anyone receives what is sent.
async fn forward(app: Arc<App>, body: Body, kept: KeptAnswer, sender: mpsc::Sender<Bytes>) {
    let mut chunks = body.into_data_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        match event_text::read(&chunk) {
            Chunk::Empty => {}
            // Not worth waiting for.
            Chunk::Comment => drop(sender.try_send(event_text::comment())),
            Chunk::Message(message) => {
                let sent = sender.send(event_text::message_event(&message));
                let Some(is_error) = answer_is_error(&message) else {
                    let _ = sent.await;
                    continue;
                };
                // Side by side: the client need not wait for the database, and the database not for a slow client.
                let (stored, _) = tokio::join!(store(&app, &kept, &message), sent);
                if let Err(error) = stored {
                    tracing::warn!(%error, "MCP answer not stored; it cannot be fetched after a cut connection");
                }
                if is_error {
                    let _ = sender.send(event_text::end_event()).await;
                }
            }
        }
    }
}

async fn store(app: &App, kept: &KeptAnswer, message: &str) -> dropleaf_core::Result<()> {
    let too_long = (message.len() > ANSWER_BYTES).then(|| {
        let why = format!(
            "The connection was cut, and the answer ({} bytes) was too long to be kept. Call the tool again.",
            message.len()
        );
        error_message(&kept.id.message_id, &ErrorData::internal_error(why, None))
    });
    let message = too_long.as_deref().unwrap_or(message);
    app.store_mcp_answer(&kept.who, &kept.session, &kept.id.secret, message.as_bytes()).await
}

/// A message with an error in place of the answer.
pub(super) fn error_message(id: &Value, error: &ErrorData) -> String {
    json!({"jsonrpc": rpc::VERSION, "id": id, "error": error}).to_string()
}

/// Whether the answer in a message is an error. `None` if the message is not an answer.
pub(super) fn answer_is_error(message: &str) -> Option<bool> {
    let members: Members = serde_json::from_str(message).ok()?;
    (members.id.is_some() && members.method.is_none()).then_some(members.error.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_other_messages() {
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"method":"x","error":"y"}}"#;
        assert_eq!(answer_is_error(result), Some(false));
        let error = r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}}"#;
        assert_eq!(answer_is_error(error), Some(true));
        for other in [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "no message",
        ] {
            assert_eq!(answer_is_error(other), None, "{other}");
        }
    }
}

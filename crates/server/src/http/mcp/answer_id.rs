//! The id of the first event on a stream that answers a message. A client whose connection was cut sends it back and gets the
//! answer; so it says which answer is meant, to which message it belongs and since when it is awaited.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use dropleaf_app::App;
use dropleaf_core::site::is_token;
use serde_json::Value;

/// The longest id of a message that fits; with a longer one, the answer cannot be fetched again.
const MESSAGE_ID_BYTES: usize = 128;
const SEPARATOR: &str = "~";
/// What the id begins with.
const KIND: &str = "answer";

/// Names one answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnswerId {
    /// Known to the client alone; the answer is encrypted with it.
    pub secret: String,
    /// Epoch seconds.
    pub issued_at: i64,
    /// The `id` of the message.
    pub message_id: Value,
}

impl AnswerId {
    /// An id for the answer to the message with this `id`. `None` if it is too long.
    pub(super) fn new(app: &App, message_id: &Value) -> Option<Self> {
        let fits = message_id.to_string().len() <= MESSAGE_ID_BYTES;
        fits.then(|| Self {
            secret: app.new_mcp_answer_id(),
            issued_at: app.now(),
            message_id: message_id.clone(),
        })
    }

    /// Reads a `Last-Event-ID`. `None` if it belongs to no answer.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(SEPARATOR);
        let (kind, secret, issued_at, message_id) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        if kind != KIND || !is_token(secret) || parts.next().is_some() {
            return None;
        }
        let message_id = URL_SAFE_NO_PAD.decode(message_id).ok().filter(|id| id.len() <= MESSAGE_ID_BYTES)?;
        let message_id: Value = serde_json::from_slice(&message_id).ok()?;
        let is_id = message_id.is_string() || message_id.is_number();
        let id = Self { secret: secret.to_owned(), issued_at: issued_at.parse().ok()?, message_id };
        is_id.then_some(id)
    }

    /// The event that tells the id and when to connect again, before there is an answer. It has a data line because clients
    /// ignore events without one.
    pub(super) fn first_event(&self) -> Bytes {
        let message_id = URL_SAFE_NO_PAD.encode(self.message_id.to_string());
        let id = [KIND, &self.secret, &self.issued_at.to_string(), &message_id].join(SEPARATOR);
        format!("id: {id}\nretry: 1000\ndata:\n\n").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_are_read_back_as_they_were_written() {
        for message_id in [json!(7), json!("a~b\n\"c\""), json!(-1.5), json!("x".repeat(120))] {
            let id = AnswerId { secret: "A".repeat(22), issued_at: 1_794_706_860, message_id };
            let event = String::from_utf8(id.first_event().to_vec()).unwrap();
            let text = event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
            assert_eq!(AnswerId::parse(text), Some(id));
        }
    }

    #[test]
    fn ids_of_other_streams_are_not_answers() {
        let secret = "A".repeat(22);
        for other in [
            String::new(),
            "0".to_owned(),
            "0/1".to_owned(),
            format!("other~{secret}~1~Nw"),
            format!("answer~{secret}~1"),
            format!("answer~{secret}~x~Nw"),
            format!("answer~{secret}~1~Nw~"),
            format!("answer~{secret}x~1~Nw"),
            format!("answer~{secret}~1~{}", URL_SAFE_NO_PAD.encode("{}")),
            format!("answer~{secret}~1~{}", URL_SAFE_NO_PAD.encode(format!("\"{}\"", "x".repeat(200)))),
        ] {
            assert_eq!(AnswerId::parse(&other), None, "{other}");
        }
    }
}

//! Reads the events that the MCP library writes, one per chunk: the ids it gives them cannot be resumed on another node or
//! after the answer, so they are never sent.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt;

use crate::http::media_type;

/// A chunk of an event stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Keeps the connection alive.
    Comment,
    /// The text of a message.
    Message(String),
    /// An event that only tells an id.
    Empty,
}

pub(super) fn read(chunk: &[u8]) -> Chunk {
    if chunk.starts_with(b":") {
        return Chunk::Comment;
    }
    let text = String::from_utf8_lossy(chunk);
    let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: Vec<_> = lines.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect();
    let data = data.join("\n");
    if data.is_empty() { Chunk::Empty } else { Chunk::Message(data) }
}

/// An event with a message. It has no id, so the last id that the client knows stays that of the first event.
pub(super) fn message_event(message: &str) -> Bytes {
    format!("event: message\ndata: {message}\n\n").into()
}

/// The id of an event after which there is nothing to resume.
pub(super) const END: &str = "end";

/// Ends a stream whose answer is an error. The official TypeScript clients take only results for an answer: after an error
/// they would resume the stream again and again. They stop when a stream that ended with this event cannot be resumed.
pub(super) fn end_event() -> Bytes {
    format!("id: {END}\ndata:\n\n").into()
}

/// A keep-alive comment.
pub(super) const fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}

/// The same response without ids of events, if it is an event stream.
pub(super) fn without_ids(response: Response) -> Response {
    if !media_type::is(response.headers(), media_type::EVENT_STREAM) {
        return response;
    }
    response.map(|body| {
        let chunks = body.into_data_stream().filter_map(async |chunk| match chunk {
            Ok(chunk) => match read(&chunk) {
                Chunk::Comment => Some(Ok(chunk)),
                Chunk::Message(data) => Some(Ok(message_event(&data))),
                Chunk::Empty => None,
            },
            Err(error) => Some(Err(error)),
        });
        Body::from_stream(chunks)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_message_of_an_event_is_read() {
        for (chunk, read_as) in [
            (":\n\n", Chunk::Comment),
            ("id: 0/1\ndata: {\"a\":1}\n\n", Chunk::Message("{\"a\":1}".to_owned())),
            ("event: message\ndata:{}\n\n", Chunk::Message("{}".to_owned())),
            ("id: 0\nretry: 3000\ndata:\n\n", Chunk::Empty),
            ("id: 0\nretry: 3000\ndata: \n\n", Chunk::Empty),
        ] {
            assert_eq!(read(chunk.as_bytes()), read_as, "{chunk}");
        }
    }
}

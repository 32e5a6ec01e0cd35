//! Limits how long a client waits for the answer to a message. In a session the response head is sent at once and the
//! answer follows as an event, so the time limit of requests does not cover it, and keep-alive comments would continue
//! forever if the library lost the answer: it loses one of two when a client reuses the id of an unanswered message.

use super::rpc;
use crate::http::deadline::{self, Late};
use crate::http::media_type;
use axum::body::{Body, BodyDataStream};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::pin::Pin;
use tokio::time::{Instant, Sleep, sleep_until};

struct Waiting {
    body: BodyDataStream,
    late: Pin<Box<Sleep>>,
    id: Option<Value>,
}

/// Ends an event stream that is still open at `until`, with an error in place of the answer to the message with this id.
/// An operation that is running is not interrupted.
pub(super) fn limit(response: Response, id: Option<Value>, until: Instant) -> Response {
    if !media_type::is(response.headers(), media_type::EVENT_STREAM) {
        return response;
    }
    response.map(|body| {
        let waiting = Waiting { body: body.into_data_stream(), late: Box::pin(sleep_until(until)), id };
        Body::from_stream(stream::unfold(Some(waiting), |waiting| async move { waiting?.next().await }))
    })
}

impl Waiting {
    async fn next(mut self) -> Option<(Result<Bytes, axum::Error>, Option<Self>)> {
        let chunk = tokio::select! {
            // A client that reads slowly still gets an answer that was in time.
            biased;
            chunk = self.body.next() => Some(chunk?),
            () = &mut self.late => None,
        };
        match chunk {
            Some(chunk) if !(is_comment(&chunk) && self.is_late()) => Some((chunk, Some(self))),
            _ => Some((Ok(timed_out(self.id.as_ref())), None)),
        }
    }

    fn is_late(&self) -> bool {
        self.late.deadline() <= Instant::now()
    }
}

/// Whether this only keeps the connection alive.
fn is_comment(chunk: &Result<Bytes, axum::Error>) -> bool {
    chunk.as_ref().is_ok_and(|chunk| chunk.starts_with(b":"))
}

fn timed_out(id: Option<&Value>) -> Bytes {
    let Some(id) = id else { return Bytes::new() };
    let error = rpc::refusal(&deadline::refusal(Late::Server, false));
    let message = json!({"jsonrpc": "2.0", "id": id, "error": error});
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use http::header::CONTENT_TYPE;
    use http_body_util::BodyExt;
    use std::convert::Infallible;
    use std::time::Duration;

    const ALIVE: &str = ":\n\n";
    const ANSWER: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n";

    fn until() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    /// Sends a comment every 15 seconds, and after `beats` of them the answer and the end.
    fn events(beats: u32) -> Response {
        let body = stream::unfold(0, move |sent| async move {
            if sent > beats {
                return None;
            }
            tokio::time::sleep(Duration::from_secs(15)).await;
            Some((Ok::<_, Infallible>(if sent == beats { ANSWER } else { ALIVE }), sent + 1))
        });
        ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
    }

    async fn text(response: Response) -> String {
        String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn answer_in_time_is_sent_unchanged() {
        let sent = text(limit(events(2), Some(json!(7)), until())).await;
        assert_eq!(sent, format!("{ALIVE}{ALIVE}{ANSWER}"));
    }

    #[tokio::test(start_paused = true)]
    async fn lost_answer_is_an_error_although_the_stream_stays_alive() {
        let start = Instant::now();
        let sent = text(limit(events(u32::MAX), Some(json!(7)), until())).await;
        assert_eq!(start.elapsed().as_secs(), 60);
        let data = sent.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let message: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&message["id"], &message["error"]["code"]), (&json!(7), &json!(-32603)));
        assert_eq!(message["error"]["data"]["error"], "timed_out");
        assert!(sent.starts_with(ALIVE) && sent.ends_with("\n\n"), "{sent}");
    }

    #[tokio::test(start_paused = true)]
    async fn comments_do_not_extend_the_wait() {
        let body = Body::from_stream(stream::repeat_with(|| Ok::<_, Infallible>(ALIVE)));
        let response = ([(CONTENT_TYPE, "text/event-stream")], body).into_response();
        let sent = text(limit(response, Some(json!(7)), Instant::now())).await;
        assert!(sent.contains("timed_out"), "{sent}");
    }

    #[tokio::test(start_paused = true)]
    async fn stream_that_was_resumed_just_ends() {
        let sent = text(limit(events(u32::MAX), None, until())).await;
        assert!(sent.starts_with(ALIVE) && !sent.contains("data"), "{sent}");
    }

    #[tokio::test(start_paused = true)]
    async fn answer_in_time_arrives_though_the_client_reads_late() {
        let response = limit(([(CONTENT_TYPE, "text/event-stream")], ANSWER).into_response(), None, until());
        tokio::time::advance(Duration::from_mins(10)).await;
        assert_eq!(text(response).await, ANSWER);
    }
}

//! Serves the answer to a tool call again, to a client whose connection was cut: `GET /mcp` with `Last-Event-ID`. The answer
//! comes from the database, so any node can give it, also after a restart; while the operation still runs, the client waits.

use super::Mcp;
use super::answer_id::AnswerId;
use super::event_text;
use super::kept_answer::{answer_is_error, error_message};
use super::stream_holder::StreamHolder;
use super::streams::{Place, event_stream};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use dropleaf_app::App;
use dropleaf_core::Result;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use rmcp::ErrorData;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep};

/// How often the database is asked for an answer that is not there yet: at first, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// Time to store an answer after its time limit.
const STORING: Duration = Duration::from_secs(5);
const GONE: &str = "The connection was cut, and the answer to this message is no longer available. The operation may have been \
                    carried out: check with get_site or list_sites before you repeat it.";

struct Waiting {
    app: Arc<App>,
    session: String,
    id: AnswerId,
    /// Give up at this time.
    until: Instant,
    wait: Duration,
    beat: Interval,
    over: BoxFuture<'static, ()>,
    _place: Place,
}

/// Opens a stream that ends with the answer.
pub(super) fn open(mcp: &Mcp, holder: StreamHolder, session: String, id: AnswerId) -> Result<Response> {
    let app = Arc::clone(&mcp.state.app);
    // Not as a stream of the session: it gets no notifications.
    let place = mcp.streams.take(&holder.who.account.id, None)?;
    let mut beat = interval(mcp.beat());
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset();
    let first = id.first_event();
    let waiting = Waiting {
        until: Instant::now() + patience(mcp.patience(), id.issued_at, app.now()),
        over: holder.until_over(&mcp.state, place.ended.clone()),
        app,
        session,
        id,
        wait: FIRST_WAIT,
        beat,
        _place: place,
    };
    let rest = stream::unfold(Some(waiting), async |waiting: Option<Waiting>| waiting?.next().await);
    let events = stream::once(std::future::ready(first)).chain(rest);
    Ok(event_stream(Body::from_stream(events.map(Ok::<_, Infallible>))))
}

/// How much longer an answer can come that has been awaited since `issued_at`.
fn patience(limit: Duration, issued_at: i64, now: i64) -> Duration {
    let waited = Duration::from_secs(u64::try_from(now.saturating_sub(issued_at)).unwrap_or_default());
    (limit + STORING).saturating_sub(waited)
}

/// The event with the answer, and the end of a stream whose answer is an error.
fn last_events(answer: &str) -> Bytes {
    let event = event_text::message_event(answer);
    match answer_is_error(answer) {
        Some(true) => [&event[..], &event_text::end_event()[..]].concat().into(),
        _ => event,
    }
}

impl Waiting {
    /// The next event, and the state after it: none after the last.
    async fn next(mut self) -> Option<(Bytes, Option<Self>)> {
        loop {
            match self.app.find_mcp_answer(&self.session, &self.id.secret).await {
                Ok(Some(answer)) => {
                    let answer = String::from_utf8_lossy(&answer);
                    return Some((last_events(&answer), None));
                }
                Ok(None) if Instant::now() >= self.until => {
                    let error = ErrorData::internal_error(GONE, None);
                    let message = error_message(&self.id.message_id, &error);
                    return Some((last_events(&message), None));
                }
                Ok(None) => {}
                Err(error) => {
                    // The client connects again after the stream ends.
                    tracing::warn!(%error, "stored MCP answer not read");
                    return None;
                }
            }
            tokio::select! {
                () = &mut self.over => return None,
                _ = self.beat.tick() => return Some((event_text::comment(), Some(self))),
                () = sleep(self.wait) => self.wait = (self.wait * 2).min(LONGEST_WAIT),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_awaited_as_long_as_it_can_come() {
        let limit = Duration::from_mins(1);
        assert_eq!(patience(limit, 100, 100), limit + STORING);
        assert_eq!(patience(limit, 100, 130), Duration::from_secs(30) + STORING);
        assert_eq!(patience(limit, 100, 1000), Duration::ZERO);
        assert_eq!(patience(limit, 200, 100), limit + STORING, "the clocks of nodes differ");
        assert_eq!(patience(limit, i64::MIN, 100), Duration::ZERO);
    }
}

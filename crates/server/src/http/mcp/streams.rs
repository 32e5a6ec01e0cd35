//! Serves the event stream that clients of the older revisions open with GET, and limits how many are open. It is not
//! the library's stream: this one needs only the session's row, so it survives the eviction of the session from memory,
//! and the newest open stream always gets the notifications.

use super::Mcp;
use super::resources;
use super::stream_holder::StreamHolder;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dropleaf_app::{App, Identity, Listener, Notice};
use dropleaf_core::scope::Scope;
use dropleaf_core::{Code, Error, Result};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use http::header;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Sets the delay before a disconnected client reconnects. It is a comment, not an event: older clients fail on empty
/// events.
const FIRST: &str = ": open\nretry: 3000\n\n";
const ALIVE: &str = ":\n\n";

/// Maximum number of open streams per account on a node, and of all accounts together.
const ACCOUNT_MOST: usize = 200;
const NODE_MOST: u64 = 4000;

/// The open streams of this node.
#[derive(Debug, Default)]
pub(super) struct Streams(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    opened: u64,
    closed: u64,
    by_account: HashMap<String, usize>,
    /// The streams of each session by number. The newest gets the notifications.
    by_session: HashMap<String, BTreeMap<u64, CancellationToken>>,
}

/// One open stream; dropping it releases the slot.
#[derive(Debug)]
pub(super) struct Place {
    streams: Arc<Streams>,
    account: String,
    session: Option<String>,
    number: u64,
    /// Cancelled when the session ends.
    pub ended: CancellationToken,
}

impl Streams {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(self: &Arc<Self>, account: &str, session: Option<&str>) -> Result<Place> {
        let mut open = self.open();
        if open.opened - open.closed >= NODE_MOST {
            return Err(Error::plain(Code::Overloaded).retry_after(60));
        }
        let count = open.by_account.entry(account.to_owned()).or_default();
        if *count >= ACCOUNT_MOST {
            let detail = format!("This account has {ACCOUNT_MOST} open streams, the maximum. Close some.");
            return Err(Error::new(Code::RateLimited, detail).retry_after(60));
        }
        *count += 1;
        open.opened += 1;
        let (number, ended) = (open.opened, CancellationToken::new());
        if let Some(session) = session {
            open.by_session.entry(session.to_owned()).or_default().insert(number, ended.clone());
        }
        drop(open);
        let (account, session) = (account.to_owned(), session.map(str::to_owned));
        Ok(Place { streams: Arc::clone(self), account, session, number, ended })
    }

    /// Ends all streams of a session that was deleted.
    pub(super) fn end(&self, session: &str) {
        let streams = self.open().by_session.remove(session).unwrap_or_default();
        for ended in streams.values() {
            ended.cancel();
        }
    }
}

impl Place {
    /// Each message goes to one stream of a session, the newest: an older one may be a dead connection that was not
    /// detected.
    fn is_newest(&self) -> bool {
        let Some(session) = &self.session else { return false };
        let open = self.streams.open();
        let newest = open.by_session.get(session).and_then(|streams| streams.last_key_value());
        newest.is_some_and(|(number, _)| *number == self.number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.closed += 1;
        if let Some(count) = open.by_account.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                open.by_account.remove(&self.account);
            }
        }
        // Removed under one lock; otherwise a stream opened in between would be forgotten and get nothing.
        if let Some(session) = &self.session
            && let Some(streams) = open.by_session.get_mut(session)
        {
            streams.remove(&self.number);
            if streams.is_empty() {
                open.by_session.remove(session);
            }
        }
    }
}

struct Line {
    app: Arc<App>,
    who: Identity,
    session: String,
    place: Place,
    listener: Listener,
    beat: Interval,
    over: BoxFuture<'static, ()>,
}

/// Opens the stream of a session of the holder.
pub(super) fn open(mcp: &Mcp, holder: StreamHolder, session: String) -> Result<Response> {
    let app = Arc::clone(&mcp.state.app);
    let who = holder.who.clone();
    let place = mcp.streams.take(&who.account.id, Some(&session))?;
    let mut beat = interval(mcp.beat());
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset();
    let line = Line {
        listener: app.listen_for_notices(&who.account.id),
        over: holder.until_over(&mcp.state, place.ended.clone()),
        app,
        who,
        session,
        place,
        beat,
    };
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(FIRST.as_bytes())) });
    let rest = stream::unfold(line, |mut line| async move {
        let text = line.next().await?;
        Some((Ok(Bytes::from(text)), line))
    });
    Ok(event_stream(Body::from_stream(first.chain(rest))))
}

/// A response that is an event stream.
pub(super) fn event_stream(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        (header::CACHE_CONTROL.as_str(), "no-store"),
        ("x-accel-buffering", "no"),
    ];
    (headers, body).into_response()
}

impl Line {
    async fn next(&mut self) -> Option<String> {
        loop {
            tokio::select! {
                () = &mut self.over => return None,
                _ = self.beat.tick() => return Some(ALIVE.to_owned()),
                notice = self.listener.next() => {
                    let events: String = self.updated_uris(&notice?).await.iter().map(|uri| event(uri)).collect();
                    if !events.is_empty() {
                        return Some(events);
                    }
                }
            }
        }
    }

    /// The resources to notify about. The session's subscriptions are read each time: they may have changed on another
    /// node.
    async fn updated_uris(&mut self, notice: &Notice) -> Vec<String> {
        if !self.place.is_newest() || !self.who.scopes.has(Scope::Read) {
            return Vec::new();
        }
        match self.app.find_mcp_session(&self.who, &self.session).await {
            Ok(Some(session)) => resources::named_by(notice, session.watched.as_deref()),
            Ok(None) => Vec::new(),
            // Notifying once too often is better than not at all.
            Err(_) => resources::named_by(notice, None),
        }
    }
}

fn event(uri: &str) -> String {
    let message =
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}});
    format!("event: message\ndata: {message}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stream_of_a_session_hears_and_ends_with_it() {
        let streams = Arc::new(Streams::default());
        let old = streams.take("acct_1", Some("s")).unwrap();
        let new = streams.take("acct_1", Some("s")).unwrap();
        assert!(!old.is_newest() && new.is_newest());
        drop(old);
        assert!(new.is_newest());
        streams.end("s");
        assert!(new.ended.is_cancelled());
    }

    #[test]
    fn all_streams_of_a_session_end_with_it_and_those_of_others_do_not() {
        let streams = Arc::new(Streams::default());
        let all = [(); 3].map(|()| streams.take("acct_1", Some("s")).unwrap());
        let other = streams.take("acct_1", Some("t")).unwrap();
        streams.end("s");
        assert!(all.iter().all(|place| place.ended.is_cancelled() && !place.is_newest()));
        assert!(!other.ended.is_cancelled() && other.is_newest());
        drop(all);
        assert!(streams.open().by_session.len() == 1 && streams.open().by_account["acct_1"] == 1);
    }

    #[test]
    fn an_older_stream_gets_the_notifications_after_the_newest_closed() {
        let streams = Arc::new(Streams::default());
        let old = streams.take("acct_1", Some("s")).unwrap();
        drop(streams.take("acct_1", Some("s")).unwrap());
        assert!(old.is_newest());
    }

    #[test]
    fn a_stream_that_comes_while_another_goes_hears() {
        let streams = Arc::new(Streams::default());
        let mut old = streams.take("acct_1", Some("s")).unwrap();
        for _ in 0..2000 {
            let together = std::sync::Barrier::new(2);
            let new = std::thread::scope(|scope| {
                scope.spawn(|| {
                    together.wait();
                    drop(old);
                });
                together.wait();
                streams.take("acct_1", Some("s")).unwrap()
            });
            assert!(new.is_newest());
            old = new;
        }
    }

    #[test]
    fn an_account_holds_so_many_streams_and_no_more() {
        let streams = Arc::new(Streams::default());
        let held: Vec<_> = (0..ACCOUNT_MOST).map(|_| streams.take("acct_1", None).unwrap()).collect();
        assert_eq!(streams.take("acct_1", None).unwrap_err().code, Code::RateLimited);
        streams.take("acct_2", None).unwrap();
        drop(held);
        streams.take("acct_1", None).unwrap();
        assert!(streams.open().by_account.is_empty(), "nothing is left behind");
    }

    #[test]
    fn a_node_holds_so_many_streams_and_no_more() {
        let streams = Arc::new(Streams::default());
        let held: Vec<_> =
            (0..NODE_MOST).map(|number| streams.take(&format!("acct_{number}"), None).unwrap()).collect();
        assert_eq!(streams.take("acct", None).unwrap_err().code, Code::Overloaded);
        drop(held);
        streams.take("acct", None).unwrap();
    }
}

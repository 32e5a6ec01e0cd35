//! `_dropleaf/live`: an event stream that tells an open page of new versions and comments. It is behind the same checks as
//! the page, which are repeated whenever the page changes. It never holds content, and no queue: only the newest state is
//! sent. `dropleaf_app::LiveStream` limits how many are open.

use super::page_address::OwnAddress;
use super::page_request::PageRequest;
use super::visitor::visitor;
use super::{OutBody, admission, form, headers, is_at, nothing_here, own_script};
use crate::connection::Connection;
use crate::http::{Dispatcher, empty, error};
use crate::metrics::Metrics;
use axum::body::Body;
use bytes::Bytes;
use dropleaf_app::{LiveStream, PageView};
use dropleaf_core::{Code, Error, share_token};
use futures_util::stream;
use http::request::Parts;
use http::{Method, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

/// Time between signs of life; at most half the idle timeout of a connection. A page that expires is noticed by then.
const BEAT: Duration = Duration::from_secs(15);
const ALIVE: &[u8] = b":\n\n";
/// A stream ends after this time, and the page opens another: cookies and share links are then checked again.
const LIFE: Duration = Duration::from_mins(10);
/// The delay before a client without our script reconnects.
const RETRY: &str = "retry: 3000\n";

/// `_dropleaf/live.js`.
pub(super) fn script(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    own_script::LIVE.answer(request, request.page.site.updates_live())
}

/// Whether the page has a stream: it updates live, or its toolbar may listen for comments.
fn has_stream(page: &PageView) -> bool {
    page.site.updates_live() || page.site.takes_feedback()
}

pub(super) async fn answer(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    let address = OwnAddress::of(request.address).filter(|_| has_stream(request.page));
    let address = address.ok_or_else(nothing_here)?;
    if !matches!(request.head.method, Method::GET | Method::HEAD) {
        return Err(Error::plain(Code::MethodNotAllowed));
    }
    form::require_same_origin(request)?;
    // Every reconnection, and every check of an open stream, would use up the link once more.
    if share_token::in_query(request.head.uri.query()).is_some() {
        return Err(Error::field(
            "t",
            "opens the page, not its stream. Open the page, then send its cookie here",
        ));
    }
    admission::require_inside(request).await?;
    let mut response = empty(StatusCode::OK);
    headers::events(response.headers_mut());
    if request.head.method == Method::HEAD {
        return Ok(response);
    }
    let PageRequest { dispatcher, head, connection, .. } = *request;
    let metrics = &dispatcher.metrics;
    let stream = dispatcher.app.follow_page(&request.page.site, request.client_ip());
    let stream = stream.inspect_err(|_| {
        metrics.live_streams_refused.inc();
    })?;
    let idle = Duration::from_secs(dispatcher.resolved.config.limits.idle_seconds.max(1));
    let mut beat = interval(BEAT.min(idle / 2));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset();
    let viewer = ViewerStream {
        dispatcher: dispatcher.clone(),
        head: head.clone(),
        connection: Arc::clone(connection),
        address,
        stream,
        beat,
        ends_at: Instant::now() + LIFE,
        expires_at: None,
        sent: Sent::default(),
        is_due: true,
        is_over: false,
        _counted: CountedStream::new(metrics),
    };
    let events = stream::unfold(viewer, |mut viewer| async move {
        let event = viewer.next().await?;
        Some((Ok::<_, Infallible>(event), viewer))
    });
    // A stream may be silent as long as it lives.
    let listening = connection.listen();
    *response.body_mut() = OutBody::Boxed(Body::from_stream(events)).keeping(listening);
    Ok(response)
}

/// Counts an open stream in the metrics while it lives.
struct CountedStream(Arc<Metrics>);

impl CountedStream {
    fn new(metrics: &Arc<Metrics>) -> Self {
        metrics.live_streams.inc();
        Self(Arc::clone(metrics))
    }
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        self.0.live_streams.dec();
    }
}

/// What the client knows.
#[derive(Debug, Default)]
struct Sent {
    version: Option<i64>,
    feedback: u64,
}

/// One open stream, with the request that opened it, which is checked again with every change.
struct ViewerStream {
    dispatcher: Dispatcher,
    head: Parts,
    connection: Arc<Connection>,
    address: OwnAddress,
    stream: LiveStream,
    beat: Interval,
    ends_at: Instant,
    expires_at: Option<i64>,
    sent: Sent,
    /// The page must be checked before anything else is sent: at the start, because it may have changed since the request,
    /// and after every change.
    is_due: bool,
    is_over: bool,
    _counted: CountedStream,
}

impl ViewerStream {
    async fn next(&mut self) -> Option<Bytes> {
        let stopping = self.dispatcher.tasks.stopping.clone();
        while !self.is_over {
            if self.is_due
                && let Some(event) = self.check().await
            {
                return Some(event);
            }
            tokio::select! {
                biased;
                () = stopping.cancelled() => return None,
                () = sleep_until(self.ends_at) => return None,
                () = self.stream.changed() => self.is_due = true,
                _ = self.beat.tick() => {
                    let now = self.dispatcher.app.now();
                    self.is_due |= self.expires_at.is_some_and(|at| at <= now);
                    if !self.is_due {
                        return Some(Bytes::from_static(ALIVE));
                    }
                }
            }
        }
        None
    }

    /// Checks the page and returns what the client has to know, if anything. An unreadable page is checked again with the
    /// next sign of life.
    async fn check(&mut self) -> Option<Bytes> {
        let signal = self.stream.signal();
        let version = match self.read().await {
            Ok(page) => {
                self.expires_at = page.access_rules.expires_at;
                page.site.version
            }
            Err(error) if error::status(error.code).is_server_error() => return None,
            Err(error) => {
                self.is_over = true;
                return Some(Bytes::from(gone(error.code)));
            }
        };
        self.is_due = false;
        let mut event = String::new();
        if self.sent.version.is_none() {
            // What was said before is unknown to the client, so only later comments count.
            self.sent.feedback = signal.feedback;
            event += RETRY;
        }
        if self.sent.version.replace(version) != Some(version) {
            event += &version_event(version);
        }
        if self.sent.feedback != signal.feedback {
            self.sent.feedback = signal.feedback;
            event += &feedback_event(signal.feedback);
        }
        (!event.is_empty()).then(|| Bytes::from(event))
    }

    /// The page, if this viewer would still get it at this address.
    async fn read(&self) -> Result<Arc<PageView>, Error> {
        let missing = || Error::plain(Code::NotFound);
        let address = self.address.address();
        let (key, _) = address.split().ok_or_else(missing)?;
        let app = &self.dispatcher.app;
        let guard = self.stream.lock_for_reading().await;
        let page = app.open_page(&key).await?.ok_or_else(missing)?;
        drop(guard);
        let is_served = match &self.address {
            OwnAddress::Domain { domain, .. } => {
                app.served_domain(&domain.hostname).is_some_and(|served| served.token == domain.token)
            }
            _ => true,
        };
        if !is_served || !is_at(&self.dispatcher, address, &page) || !has_stream(&page) {
            return Err(missing());
        }
        let request = PageRequest {
            dispatcher: &self.dispatcher,
            head: &self.head,
            connection: &self.connection,
            address,
            page: &page,
            visitor: visitor(&self.head.headers),
            in_sandboxed_frame: false,
        };
        admission::require_inside(&request).await?;
        Ok(page)
    }
}

fn version_event(version: i64) -> String {
    format!("event: version\ndata: {{\"version\":{version}}}\n\n")
}

fn feedback_event(change: u64) -> String {
    format!("event: feedback\ndata: {{\"change\":{change}}}\n\n")
}

/// The last event: the viewer would not get the page any more.
fn gone(code: Code) -> String {
    format!("event: gone\ndata: {{\"reason\":\"{}\"}}\n\n", code.as_str())
}

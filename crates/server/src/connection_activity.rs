//! Tracks the activity of a connection and its timeouts: the header timeout of HTTP/1.1, counted from the end of the last
//! request, and the idle timeout of HTTP/2. A request costs a few atomic stores here and no timer.

use http::Version;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The activity of one connection.
#[derive(Debug)]
pub struct ConnectionActivity {
    start: Instant,
    under_way: AtomicU32,
    /// Requests that have started so far.
    requests: AtomicU64,
    /// Milliseconds from the start to the end of the last request; 0 before the first one has ended.
    last: AtomicU64,
    http2: AtomicBool,
    /// Body bytes that were written to the client, and all bytes received from it.
    sent: AtomicU64,
    received: AtomicU64,
    /// The bytes received until the last request ended; more than that begins another one.
    received_for_requests: AtomicU64,
    /// Charged body bytes that wait to be written, and how often they dropped to zero.
    held: AtomicU64,
    emptied: AtomicU64,
    /// Notified when nothing waits to be written any more.
    empty: Notify,
    /// Requests under way that only wait for memory.
    waiting: AtomicU32,
    /// Event streams, which may be silent for hours.
    listening: AtomicU32,
    /// Request bodies that are being read.
    bodies: AtomicU32,
}

/// A request under way; it ends when this guard is dropped.
#[derive(Debug)]
pub struct Busy(Arc<ConnectionActivity>);

impl Drop for Busy {
    fn drop(&mut self) {
        let last = u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last.store(last.max(1), Ordering::Relaxed);
        let received = self.0.received.load(Ordering::Relaxed);
        self.0.received_for_requests.store(received, Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Release);
    }
}

/// Counts while it lives: a request that waits for room, a body that is read, an event stream.
#[derive(Debug)]
pub struct Counted {
    activity: Arc<ConnectionActivity>,
    which: fn(&ConnectionActivity) -> &AtomicU32,
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.activity).fetch_sub(1, Ordering::Release);
    }
}

/// How fast a client must receive what it requested.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub over: Duration,
    pub bytes_per_second: u64,
}

/// While its request is being processed, a client need not receive anything for this many consecutive `Pace::over` periods.
/// Longer only if it sends at that rate itself: an upload that continues.
const EXCUSES: u32 = 6;

/// How a connection fell silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// No complete request ever arrived.
    FromTheStart,
    /// None has arrived for a while.
    Since,
}

impl ConnectionActivity {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            under_way: AtomicU32::new(0),
            requests: AtomicU64::new(0),
            last: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            received_for_requests: AtomicU64::new(0),
            held: AtomicU64::new(0),
            emptied: AtomicU64::new(0),
            empty: Notify::new(),
            waiting: AtomicU32::new(0),
            listening: AtomicU32::new(0),
            bodies: AtomicU32::new(0),
        })
    }

    pub fn begin(self: &Arc<Self>, version: Version) -> Busy {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        if version == Version::HTTP_2 {
            self.http2.store(true, Ordering::Relaxed);
        }
        Busy(Arc::clone(self))
    }

    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether a request is being processed.
    pub fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Acquire) > 0
    }

    pub fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Relaxed)
    }

    /// The client has begun to speak HTTP/2.
    pub fn set_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    /// Adds to the body bytes written.
    pub fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds to the bytes received.
    pub fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds to the bytes that wait to be written.
    pub fn hold(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::AcqRel);
    }

    /// The same, but only if none wait yet.
    pub fn hold_first(&self, bytes: u64) -> bool {
        self.held.compare_exchange(0, bytes, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub fn release(&self, bytes: u64) {
        if self.held.fetch_sub(bytes, Ordering::AcqRel) == bytes {
            self.emptied.fetch_add(1, Ordering::Relaxed);
            self.empty.notify_one();
        }
    }

    /// Completes when nothing waits to be written any more; may also complete spuriously.
    pub async fn emptied(&self) {
        self.empty.notified().await;
    }

    /// Bytes that wait to be written.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Acquire)
    }

    /// Marks a request as waiting for memory.
    pub fn wait(self: &Arc<Self>) -> Counted {
        self.counted(|activity| &activity.waiting)
    }

    /// Marks a started response as being worked on by the server: meanwhile the client has nothing to receive.
    pub fn work(self: &Arc<Self>) -> Counted {
        self.counted(|activity| &activity.under_way)
    }

    /// Marks a request body as being read, possibly after the response was sent.
    pub fn read_body(self: &Arc<Self>) -> Counted {
        self.counted(|activity| &activity.bodies)
    }

    /// Whether the bytes that arrive now can be a request head.
    pub fn expects_head(&self) -> bool {
        !self.is_busy() && self.bodies.load(Ordering::Acquire) == 0
    }

    /// Marks an open event stream.
    pub fn listen(self: &Arc<Self>) -> Counted {
        self.counted(|activity| &activity.listening)
    }

    fn counted(self: &Arc<Self>, which: fn(&Self) -> &AtomicU32) -> Counted {
        which(self).fetch_add(1, Ordering::Relaxed);
        Counted { activity: Arc::clone(self), which }
    }

    /// Whether no complete request has arrived yet.
    pub fn is_untouched(&self) -> bool {
        self.under_way.load(Ordering::Acquire) == 0 && self.last.load(Ordering::Relaxed) == 0
    }

    /// Whether part of a request head of HTTP/1.1 may have arrived.
    fn has_begun_head(&self) -> bool {
        let of_requests = self.received_for_requests.load(Ordering::Relaxed);
        self.expects_head() && !self.is_http2() && self.received.load(Ordering::Relaxed) != of_requests
    }

    /// Completes when no request head is arriving. What the client has sent already gets the time `grace` to be read, and a
    /// head that has begun gets `headers`.
    pub async fn head_settled(&self, grace: Duration, headers: Duration) {
        if self.is_busy() || self.is_http2() {
            return;
        }
        let end = Instant::now() + headers;
        loop {
            tokio::time::sleep(grace).await;
            if !self.has_begun_head() || Instant::now() >= end {
                return;
            }
        }
    }

    /// Completes when a connection that was used can be shut down without losing a request: on HTTP/2 at once, because the
    /// client learns which requests are served; on HTTP/1.1 when for `pause` nothing arrived and nothing was under way.
    pub async fn unused(&self, pause: Duration) {
        while !self.is_http2() || self.requests() == 0 {
            let before = self.received.load(Ordering::Relaxed);
            tokio::time::sleep(pause).await;
            let is_silent = self.received.load(Ordering::Relaxed) == before && !self.has_begun_head();
            if is_silent && !self.is_busy() && self.held() == 0 && !self.is_untouched() {
                return;
            }
        }
    }

    /// Completes when the client receives responses more slowly than `pace`. For an event stream any progress is enough,
    /// unless other responses wait too.
    pub async fn stalled(&self, pace: Pace) {
        let mut excuses = 0;
        while self.takes_enough(pace, &mut excuses).await {}
    }

    /// Completes when responses wait to be written and the client receives them more slowly than `pace`, whatever else it
    /// requests meanwhile.
    pub async fn starved(&self, pace: Pace) {
        let mut excuses = 0;
        loop {
            let (held, emptied) = (self.held(), self.emptied.load(Ordering::Relaxed));
            let enough = self.takes_enough(pace, &mut excuses).await;
            let waits = held > 0 && self.emptied.load(Ordering::Relaxed) == emptied;
            if !waits {
                excuses = 0;
            } else if !enough {
                return;
            }
        }
    }

    async fn takes_enough(&self, pace: Pace, excuses: &mut u32) -> bool {
        let counts = || (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed));
        let before = counts();
        tokio::time::sleep(pace.over).await;
        let now = counts();
        let (sent, received) = (now.0 - before.0, now.1 - before.1);
        let enough = (pace.bytes_per_second * pace.over.as_secs()).max(1);
        let is_listening = self.listening.load(Ordering::Relaxed) > 0 && self.held() == 0;
        if sent >= if is_listening { 1 } else { enough } {
            *excuses = 0;
            return true;
        }
        if !self.is_worked_on() {
            return false;
        }
        *excuses = if received >= enough { 0 } else { *excuses + 1 };
        *excuses <= EXCUSES
    }

    /// Whether the client is waiting for the server. A request that waits for memory does not count, because the client
    /// itself holds it, unless nothing of its own waits to be received.
    fn is_worked_on(&self) -> bool {
        let (under_way, waiting) =
            (self.under_way.load(Ordering::Acquire), self.waiting.load(Ordering::Relaxed));
        under_way > waiting || (under_way > 0 && self.held() == 0)
    }

    /// Completes when no request arrived in time: the first one and every next one of HTTP/1.1 within `headers`, the next one
    /// of HTTP/2 within `idle`.
    pub async fn stopped(&self, headers: Duration, idle: Duration) -> Silence {
        sleep_until(self.start + headers).await;
        loop {
            let patience = if self.http2.load(Ordering::Relaxed) { idle } else { headers };
            if self.under_way.load(Ordering::Acquire) > 0 {
                sleep_until(Instant::now() + patience).await;
                continue;
            }
            let (end, silence) = match self.last.load(Ordering::Relaxed) {
                0 => (self.start + headers, Silence::FromTheStart),
                last => (self.start + Duration::from_millis(last) + patience, Silence::Since),
            };
            if end <= Instant::now() {
                return silence;
            }
            sleep_until(end).await;
        }
    }
}

#[cfg(test)]
mod tests;

//! Limits how many connections may be sending a request head that is larger than accepted. Such heads are read so that the
//! error can name the cause; without a limit, their buffers would be a cheap way to exhaust memory.

use crate::connection_activity::ConnectionActivity;
use crate::frames::{CONTINUATION, END_HEADERS, Frames, HEADERS};
use std::io;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections that may be sending a large head at the same time, on the whole server and from one network.
const CONNECTIONS: usize = 64;
pub(crate) const CONNECTIONS_OF_NETWORK: usize = 8;
/// The connection preface of HTTP/2 clients (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Debug)]
pub(crate) struct LargeHeads {
    connections: Arc<Semaphore>,
    /// Heads up to this size are not large.
    small_bytes: usize,
    /// More than this cannot be a head: on HTTP/1.1 it is the rest of a refused body.
    most_bytes: usize,
}

/// Measures how much of a request head one connection has sent.
#[derive(Debug)]
pub(crate) struct HeadMeter {
    heads: Arc<LargeHeads>,
    /// The limit of the network; `None` for proxies.
    network: Option<Arc<Semaphore>>,
    protocol: Protocol,
    requests: u64,
    bytes: usize,
    permits: Option<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>)>,
}

#[derive(Debug)]
enum Protocol {
    /// This many bytes arrived, and all of them match the preface of HTTP/2.
    Unknown(usize),
    Http1 {
        /// Whether the head has ended: what follows is a body.
        is_whole: bool,
        line: Line,
    },
    Http2(Frames),
}

/// The state of the current line; a head ends with an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing of the head has arrived yet. Empty lines before it do not end it.
    First,
    Empty,
    Filled,
}

impl LargeHeads {
    pub(crate) fn new(small_bytes: usize, most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { connections: Arc::new(Semaphore::new(CONNECTIONS)), small_bytes, most_bytes })
    }

    /// `is_http1` if HTTP/1.1 has already been negotiated, whatever the client sends.
    pub(crate) fn meter(self: &Arc<Self>, network: Option<Arc<Semaphore>>, is_http1: bool) -> HeadMeter {
        let protocol = if is_http1 { Protocol::http1() } else { Protocol::Unknown(0) };
        HeadMeter { heads: Arc::clone(self), network, protocol, requests: 0, bytes: 0, permits: None }
    }
}

impl Protocol {
    const fn http1() -> Self {
        Self::Http1 { is_whole: false, line: Line::First }
    }
}

impl Line {
    /// The line after this byte; `None` if the head ends with it.
    const fn after(self, byte: u8) -> Option<Self> {
        match (byte, self) {
            (b'\n', Self::Empty) => None,
            (b'\r', line) | (b'\n', line @ Self::First) => Some(line),
            (b'\n', Self::Filled) => Some(Self::Empty),
            _ => Some(Self::Filled),
        }
    }

    /// Continues with these bytes; `None` if the head ends in them.
    fn pass(mut self, mut bytes: &[u8]) -> Option<Self> {
        while let Some((first, rest)) = bytes.split_first() {
            self = self.after(*first)?;
            bytes = rest;
            if self == Self::Filled {
                // The rest of the line does not matter.
                let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Some(self) };
                bytes = &bytes[end..];
            }
        }
        Some(self)
    }
}

impl HeadMeter {
    /// Counts bytes that arrived. Fails if they belong to a large head and too many of those are already arriving.
    pub(crate) fn count(&mut self, mut bytes: &[u8], activity: &ConnectionActivity) -> io::Result<()> {
        if let Protocol::Unknown(seen) = &mut self.protocol {
            let part = (PREFACE.len() - *seen).min(bytes.len());
            if bytes[..part] == PREFACE[*seen..*seen + part] {
                *seen += part;
                if *seen < PREFACE.len() {
                    return Ok(());
                }
                bytes = &bytes[part..];
                self.protocol = Protocol::Http2(Frames::default());
            } else {
                // The bytes before were the start of a line.
                let line = if *seen > 0 { Line::Filled } else { Line::First };
                self.bytes = *seen;
                self.protocol = Protocol::Http1 { is_whole: false, line };
            }
        }
        match &mut self.protocol {
            Protocol::Http2(frames) => {
                while let Some(part) = frames.next(&mut bytes) {
                    if !matches!(part.kind, HEADERS | CONTINUATION) {
                        continue;
                    }
                    self.bytes = self.bytes.saturating_add(part.bytes);
                    if part.is_last && part.flags & END_HEADERS != 0 {
                        self.bytes = 0;
                    }
                }
            }
            Protocol::Http1 { is_whole, line } => {
                if !activity.expects_head() {
                    return Ok(());
                }
                let requests = activity.requests();
                if requests != self.requests {
                    (self.requests, self.bytes) = (requests, 0);
                    (*is_whole, *line) = (false, Line::First);
                }
                if !*is_whole {
                    if let Some(next) = line.pass(bytes) {
                        *line = next;
                        self.bytes = self.bytes.saturating_add(bytes.len());
                    } else {
                        (*is_whole, self.bytes) = (true, 0);
                    }
                }
            }
            Protocol::Unknown(_) => {}
        }
        self.check()
    }

    fn check(&mut self) -> io::Result<()> {
        let is_large = (self.heads.small_bytes..=self.heads.most_bytes).contains(&self.bytes);
        if !is_large {
            self.permits = None;
        } else if self.permits.is_none() {
            let take = |semaphore: &Arc<Semaphore>| {
                let permit = Arc::clone(semaphore).try_acquire_owned();
                permit.map_err(|_| io::Error::other("too many large request heads at once"))
            };
            let of_network = self.network.as_ref().map(take).transpose()?;
            self.permits = Some((take(&self.heads.connections)?, of_network));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{DATA, frame};
    use http::Version;

    fn heads() -> Arc<LargeHeads> {
        LargeHeads::new(1000, 5000)
    }

    #[test]
    fn only_so_many_connections_send_large_heads_at_once() {
        let (heads, activity) = (heads(), ConnectionActivity::new());
        let mut meters: Vec<_> = (0..CONNECTIONS).map(|_| heads.meter(None, false)).collect();
        for meter in &mut meters {
            meter.count(&[b'G'; 900], &activity).unwrap();
            meter.count(&[b'G'; 900], &activity).unwrap();
        }
        let mut next = heads.meter(None, false);
        next.count(&[b'G'; 900], &activity).unwrap();
        assert!(next.count(&[b'G'; 900], &activity).is_err());
        // What is too long for a head is a body that is not read.
        meters[0].count(&[b'G'; 4000], &activity).unwrap();
        heads.meter(None, false).count(&[b'G'; 1800], &activity).unwrap();
    }

    #[test]
    fn one_network_cannot_take_all_places() {
        let (heads, activity) = (heads(), ConnectionActivity::new());
        let network = Arc::new(Semaphore::new(2));
        let meter = |network: &Arc<Semaphore>| heads.meter(Some(Arc::clone(network)), false);
        let mut held = [meter(&network), meter(&network)];
        for meter in &mut held {
            meter.count(&[b'G'; 1800], &activity).unwrap();
        }
        assert!(meter(&network).count(&[b'G'; 1800], &activity).is_err());
        meter(&Arc::new(Semaphore::new(2))).count(&[b'G'; 1800], &activity).unwrap();
    }

    #[test]
    fn bodies_and_the_heads_of_several_requests_do_not_add_up() {
        let (heads, activity) = (heads(), ConnectionActivity::new());
        let mut meter = heads.meter(None, false);
        for _ in 0..10 {
            meter.count(&[b'G'; 900], &activity).unwrap();
            let busy = activity.begin(Version::HTTP_11);
            meter.count(&vec![b'b'; 100_000], &activity).unwrap();
            // The rest of a refused body is still read after the response.
            let body = activity.read_body();
            drop(busy);
            meter.count(&[b'b'; 1500], &activity).unwrap();
            drop(body);
        }
        assert!(meter.permits.is_none());
        meter.count(&[b'G'; 1100], &activity).unwrap();
        assert!(meter.permits.is_some());
    }

    #[test]
    fn a_body_that_comes_with_its_head_does_not_count() {
        for end in ["\r\n\r\n", "\n\n", "\n\r\n"] {
            let (heads, activity) = (heads(), ConnectionActivity::new());
            let mut meter = heads.meter(None, false);
            let sent = format!("\r\nPOST / HTTP/1.1\r\nHost: a{end}{}", "b".repeat(3000));
            for step in [1, 2, 3, 7, sent.len()] {
                for part in sent.as_bytes().chunks(step) {
                    meter.count(part, &activity).unwrap();
                    assert!(meter.permits.is_none(), "{step}");
                }
                drop(activity.begin(Version::HTTP_11));
            }
        }
    }

    #[test]
    fn only_the_whole_preface_is_that_of_http2() {
        let text = format!("PRI * HTTP/2.0\r\nCookie: {}", "a".repeat(1500));
        for (sent, is_http1) in [
            (text.as_bytes(), false),
            (&b"PRIX / HTTP/1.1\r\nA: ".repeat(90), false),
            (PREFACE.as_slice(), true),
        ] {
            let (heads, activity) = (heads(), ConnectionActivity::new());
            let mut meter = heads.meter(None, is_http1);
            for part in sent.chunks(5) {
                meter.count(part, &activity).unwrap();
            }
            meter.count(&[b'a'; 1100], &activity).unwrap();
            assert_eq!(meter.permits.is_some(), !is_http1, "with http1 the preface is a whole head");
        }
    }

    #[test]
    fn on_http2_only_open_headers_count_whatever_else_is_under_way() {
        let (heads, activity) = (heads(), ConnectionActivity::new());
        let mut meter = heads.meter(None, false);
        meter.count(&PREFACE[..2], &activity).unwrap();
        meter.count(&PREFACE[2..], &activity).unwrap();
        let _busy = activity.begin(Version::HTTP_2);
        for _ in 0..500 {
            let sent = [frame(8, 0, 4), frame(6, 0, 8), frame(DATA, 0, 900), frame(HEADERS, 4, 900)].concat();
            meter.count(&sent, &activity).unwrap();
            assert!(meter.permits.is_none());
        }
        meter.count(&frame(HEADERS, 0, 900), &activity).unwrap();
        meter.count(&frame(CONTINUATION, 0, 900), &activity).unwrap();
        assert!(meter.permits.is_some());
        meter.count(&frame(CONTINUATION, 4, 900), &activity).unwrap();
        assert!(meter.permits.is_none(), "the head is whole");
    }
}

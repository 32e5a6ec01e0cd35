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
                activity.set_http2();
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
mod tests;

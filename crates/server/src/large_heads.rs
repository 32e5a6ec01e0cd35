//! Bounds how many connections may be sending a request head that is larger than accepted. Such heads are read so that the
//! refusal can say what happened; without a bound, their buffers would be a cheap way to fill the memory.

use crate::frames::{CONTINUATION, END_HEADERS, Frames, HEADERS};
use crate::pulse::Pulse;
use std::io;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections that may be sending a large head at the same time, on the whole server and from one network.
const CONNECTIONS: usize = 64;
pub(crate) const CONNECTIONS_OF_NETWORK: usize = 8;
/// What HTTP/2 clients send first.
const PREFACE_BYTES: usize = 24;
const PREFACE_START: &[u8; 3] = b"PRI";

#[derive(Debug)]
pub(crate) struct LargeHeads {
    connections: Arc<Semaphore>,
    /// Heads up to this are not large.
    small_bytes: usize,
    /// More than this cannot be a head: on HTTP/1.1 it is the rest of a body that was refused.
    most_bytes: usize,
}

/// How much of a request's head one connection has sent.
#[derive(Debug)]
pub(crate) struct HeadMeter {
    heads: Arc<LargeHeads>,
    /// The bound of the network; none for proxies.
    network: Option<Arc<Semaphore>>,
    protocol: Protocol,
    requests: u64,
    bytes: usize,
    permits: Option<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>)>,
}

#[derive(Debug)]
enum Protocol {
    /// The first bytes, and how many there are.
    Unknown([u8; 3], usize),
    Http1,
    Http2 {
        preface: usize,
        frames: Frames,
    },
}

impl LargeHeads {
    pub(crate) fn new(small_bytes: usize, most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { connections: Arc::new(Semaphore::new(CONNECTIONS)), small_bytes, most_bytes })
    }

    pub(crate) fn meter(self: &Arc<Self>, network: Option<Arc<Semaphore>>) -> HeadMeter {
        let protocol = Protocol::Unknown([0; 3], 0);
        HeadMeter { heads: Arc::clone(self), network, protocol, requests: 0, bytes: 0, permits: None }
    }
}

impl HeadMeter {
    /// Counts bytes that arrived. Fails when they belong to a large head and too many of those arrive already.
    pub(crate) fn count(&mut self, bytes: &[u8], pulse: &Pulse) -> io::Result<()> {
        if let Protocol::Unknown(start, seen) = &mut self.protocol {
            let part = (start.len() - *seen).min(bytes.len());
            start[*seen..*seen + part].copy_from_slice(&bytes[..part]);
            *seen += part;
            if *seen < start.len() {
                return Ok(());
            }
            self.protocol = if start == PREFACE_START {
                // What came before this read is part of the preface.
                Protocol::Http2 { preface: PREFACE_BYTES - (*seen - part), frames: Frames::default() }
            } else {
                Protocol::Http1
            };
        }
        match &mut self.protocol {
            Protocol::Http2 { preface, frames } => {
                let skipped = (*preface).min(bytes.len());
                *preface -= skipped;
                let mut rest = &bytes[skipped..];
                while let Some(part) = frames.next(&mut rest) {
                    if !matches!(part.kind, HEADERS | CONTINUATION) {
                        continue;
                    }
                    self.bytes = self.bytes.saturating_add(part.bytes);
                    if part.is_last && part.flags & END_HEADERS != 0 {
                        self.bytes = 0;
                    }
                }
            }
            Protocol::Http1 | Protocol::Unknown(..) => {
                let requests = pulse.requests();
                if requests != self.requests || pulse.is_busy() {
                    (self.requests, self.bytes) = (requests, 0);
                }
                if !pulse.is_busy() {
                    self.bytes = self.bytes.saturating_add(bytes.len());
                }
            }
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
        let (heads, pulse) = (heads(), Pulse::new());
        let mut meters: Vec<_> = (0..CONNECTIONS).map(|_| heads.meter(None)).collect();
        for meter in &mut meters {
            meter.count(&[b'G'; 900], &pulse).unwrap();
            meter.count(&[b'G'; 900], &pulse).unwrap();
        }
        let mut next = heads.meter(None);
        next.count(&[b'G'; 900], &pulse).unwrap();
        assert!(next.count(&[b'G'; 900], &pulse).is_err());
        // What is too long to be a head is a body that nobody reads.
        meters[0].count(&[b'G'; 4000], &pulse).unwrap();
        heads.meter(None).count(&[b'G'; 1800], &pulse).unwrap();
    }

    #[test]
    fn one_network_cannot_take_all_places() {
        let (heads, pulse) = (heads(), Pulse::new());
        let network = Arc::new(Semaphore::new(2));
        let meter = |network: &Arc<Semaphore>| heads.meter(Some(Arc::clone(network)));
        let mut held = [meter(&network), meter(&network)];
        for meter in &mut held {
            meter.count(&[b'G'; 1800], &pulse).unwrap();
        }
        assert!(meter(&network).count(&[b'G'; 1800], &pulse).is_err());
        meter(&Arc::new(Semaphore::new(2))).count(&[b'G'; 1800], &pulse).unwrap();
    }

    #[test]
    fn bodies_and_the_heads_of_several_requests_do_not_add_up() {
        let (heads, pulse) = (heads(), Pulse::new());
        let mut meter = heads.meter(None);
        for _ in 0..10 {
            meter.count(&[b'G'; 900], &pulse).unwrap();
            let busy = pulse.begin(Version::HTTP_11);
            meter.count(&vec![b'b'; 100_000], &pulse).unwrap();
            drop(busy);
        }
        assert!(meter.permits.is_none());
        meter.count(&[b'G'; 1100], &pulse).unwrap();
        assert!(meter.permits.is_some());
    }

    #[test]
    fn on_http2_only_open_headers_count_whatever_else_is_under_way() {
        let (heads, pulse) = (heads(), Pulse::new());
        let mut meter = heads.meter(None);
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        meter.count(&preface[..2], &pulse).unwrap();
        meter.count(&preface[2..], &pulse).unwrap();
        let _busy = pulse.begin(Version::HTTP_2);
        for _ in 0..500 {
            let sent = [frame(8, 0, 4), frame(6, 0, 8), frame(DATA, 0, 900), frame(HEADERS, 4, 900)].concat();
            meter.count(&sent, &pulse).unwrap();
            assert!(meter.permits.is_none());
        }
        meter.count(&frame(HEADERS, 0, 900), &pulse).unwrap();
        meter.count(&frame(CONTINUATION, 0, 900), &pulse).unwrap();
        assert!(meter.permits.is_some());
        meter.count(&frame(CONTINUATION, 4, 900), &pulse).unwrap();
        assert!(meter.permits.is_none(), "the head is whole");
    }
}

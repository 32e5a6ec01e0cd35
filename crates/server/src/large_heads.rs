//! Bounds how many connections may be sending a request head that is larger than accepted. Such heads are read so that the
//! refusal can say what happened; without a bound, their buffers would be a cheap way to fill the memory.

use crate::pulse::Pulse;
use std::io;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections that may be sending a large head at the same time.
const CONNECTIONS: usize = 64;

#[derive(Debug)]
pub(crate) struct LargeHeads {
    connections: Arc<Semaphore>,
    /// Heads up to this are not large.
    small_bytes: usize,
    /// More than this cannot be a head: it is the rest of a body that was refused.
    most_bytes: usize,
}

/// What one connection has sent since its last request began.
#[derive(Debug)]
pub(crate) struct HeadMeter {
    heads: Arc<LargeHeads>,
    requests: u64,
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl LargeHeads {
    pub(crate) fn new(small_bytes: usize, most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { connections: Arc::new(Semaphore::new(CONNECTIONS)), small_bytes, most_bytes })
    }

    pub(crate) fn meter(self: &Arc<Self>) -> HeadMeter {
        HeadMeter { heads: Arc::clone(self), requests: 0, bytes: 0, permit: None }
    }
}

impl HeadMeter {
    /// Counts bytes that arrived. Fails when they belong to a large head and too many of those arrive already.
    pub(crate) fn count(&mut self, bytes: usize, pulse: &Pulse) -> io::Result<()> {
        let requests = pulse.requests();
        if requests != self.requests || pulse.is_busy() {
            (self.requests, self.bytes, self.permit) = (requests, 0, None);
        }
        if pulse.is_busy() {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(bytes);
        let is_large = (self.heads.small_bytes..=self.heads.most_bytes).contains(&self.bytes);
        if !is_large {
            self.permit = None;
        } else if self.permit.is_none() {
            let permit = Arc::clone(&self.heads.connections).try_acquire_owned();
            self.permit = Some(permit.map_err(|_| io::Error::other("too many large request heads at once"))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Version;

    #[test]
    fn only_so_many_connections_send_large_heads_at_once() {
        let heads = LargeHeads::new(1000, 5000);
        let pulse = Pulse::new();
        let mut meters: Vec<_> = (0..CONNECTIONS).map(|_| heads.meter()).collect();
        for meter in &mut meters {
            meter.count(900, &pulse).unwrap();
            meter.count(900, &pulse).unwrap();
        }
        let mut next = heads.meter();
        next.count(900, &pulse).unwrap();
        assert!(next.count(900, &pulse).is_err());
        // What is too long to be a head is a body that nobody reads.
        meters[0].count(4000, &pulse).unwrap();
        let mut free = heads.meter();
        free.count(1800, &pulse).unwrap();
    }

    #[test]
    fn bodies_and_the_heads_of_several_requests_do_not_add_up() {
        let heads = LargeHeads::new(1000, 5000);
        let pulse = Pulse::new();
        let mut meter = heads.meter();
        for _ in 0..10 {
            meter.count(900, &pulse).unwrap();
            let busy = pulse.begin(Version::HTTP_11);
            meter.count(1_000_000, &pulse).unwrap();
            drop(busy);
        }
        assert!(meter.permit.is_none());
        meter.count(1100, &pulse).unwrap();
        assert!(meter.permit.is_some());
    }
}

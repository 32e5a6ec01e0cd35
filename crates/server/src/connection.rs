//! One connection as handlers see it: who is at the other end, and the memory that answers hold until the client takes
//! them. Whether the client still reads is watched by `pulse`.

use crate::pulse::{Counted, Pulse};
use crate::send_budget::{Permit, Share};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;

/// Whole bodies that wait on one connection; beyond it files are sent in pieces.
const WHOLE_BYTES: u64 = 8 << 20;
/// Bodies up to this are not charged: on HTTP/2, where a hundred may wait on a connection, and on HTTP/1.1, where one may.
const FREE_BYTES: u64 = 4 * 1024;
const FREE_BYTES_HTTP1: u64 = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    pulse: Arc<Pulse>,
    share: Share,
}

/// Memory of an answer, charged to its connection, its network and the server until it is dropped.
#[derive(Debug)]
pub(crate) struct Charge(Option<Charged>);

#[derive(Debug)]
struct Charged {
    permit: Permit,
    pulse: Arc<Pulse>,
    bytes: u64,
}

/// Bytes with their charge: both go when the last of the bytes has been written to the client.
struct Held {
    bytes: Bytes,
    _charge: Charged,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        self.pulse.release(self.bytes);
    }
}

impl Connection {
    pub(crate) fn new(peer: SocketAddr, pulse: Arc<Pulse>, share: Share) -> Arc<Self> {
        Arc::new(Self { peer, pulse, share })
    }

    /// Charges so many bytes if there is room for them now.
    pub(crate) fn try_charge(&self, bytes: u64) -> Option<Charge> {
        let free = if self.pulse.is_http2() { FREE_BYTES } else { FREE_BYTES_HTTP1 };
        if bytes <= free {
            return Some(Charge(None));
        }
        if self.pulse.held() + bytes > WHOLE_BYTES {
            return None;
        }
        self.share.try_hold(bytes).map(|permit| self.charged(permit, bytes))
    }

    /// Charges so many bytes as soon as there is room in the share of the network.
    pub(crate) async fn charge(&self, bytes: u64) -> Charge {
        let waiting = self.pulse.wait();
        let permit = self.share.hold(bytes).await;
        drop(waiting);
        self.charged(permit, bytes)
    }

    /// An event stream was opened: it may be silent as long as it lives.
    pub(crate) fn listen(&self) -> Counted {
        self.pulse.listen()
    }

    fn charged(&self, permit: Permit, bytes: u64) -> Charge {
        self.pulse.hold(bytes);
        Charge(Some(Charged { permit, pulse: Arc::clone(&self.pulse), bytes }))
    }
}

impl Charge {
    /// Gives back what turned out not to be needed.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        if let Some(charged) = &mut self.0
            && bytes < charged.bytes
        {
            charged.permit.shrink_to(bytes);
            charged.pulse.release(charged.bytes - bytes);
            charged.bytes = bytes;
        }
    }

    /// The same bytes, which give the charge back when they have been sent.
    pub(crate) fn attach(self, bytes: Bytes) -> Bytes {
        match self.0 {
            Some(charge) => Bytes::from_owner(Held { bytes, _charge: charge }),
            None => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send_budget::SendBudget;
    use http::Version;

    const MIB: u64 = 1 << 20;

    fn connection(version: Version) -> (Arc<Connection>, Arc<Pulse>) {
        let pulse = Pulse::new();
        drop(pulse.begin(version));
        let share = SendBudget::new(256 * MIB).share();
        (Connection::new(([192, 0, 2, 1], 1).into(), Arc::clone(&pulse), share), pulse)
    }

    #[tokio::test]
    async fn a_charge_ends_with_the_last_part_of_its_bytes() {
        let (connection, pulse) = connection(Version::HTTP_2);
        let mut charge = connection.try_charge(MIB).unwrap();
        assert_eq!(pulse.held(), MIB);
        charge.shrink_to(100_000);
        assert_eq!(pulse.held(), 100_000);
        let whole = charge.attach(Bytes::from(vec![7; 100_000]));
        let part = whole.slice(99_000..);
        drop(whole);
        assert_eq!((pulse.held(), &part[..2]), (100_000, &[7, 7][..]));
        drop(part);
        assert_eq!(pulse.held(), 0);
    }

    #[tokio::test]
    async fn one_connection_holds_a_few_whole_bodies_and_small_ones_are_free() {
        let (http2, _) = connection(Version::HTTP_2);
        let held: Vec<_> = (0..10).map_while(|_| http2.try_charge(4 * MIB)).collect();
        assert_eq!(held.len(), 2);
        assert!(http2.try_charge(FREE_BYTES).is_some());
        assert!(http2.try_charge(FREE_BYTES + 1).is_none());
        let (http1, pulse) = connection(Version::HTTP_11);
        let _free = http1.try_charge(FREE_BYTES_HTTP1).unwrap();
        assert_eq!(pulse.held(), 0);
    }
}

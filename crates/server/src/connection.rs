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
/// The piece of a body that a connection may hold whatever its neighbours hold, so that none of them can stop it.
pub(crate) const PIECE_BYTES: u64 = 64 * 1024;

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
    /// None for what counts towards the connection alone.
    permit: Option<Permit>,
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

    /// Charges so many bytes of a whole body if there is room for them now.
    pub(crate) fn try_charge(&self, bytes: u64) -> Option<Charge> {
        if bytes <= self.free_bytes() {
            return Some(Charge(None));
        }
        if self.pulse.held() + bytes > WHOLE_BYTES {
            return None;
        }
        self.share.try_hold(bytes).map(|permit| self.charged(Some(permit), bytes))
    }

    /// Charges so many bytes to the connection alone: an answer that is there already and has to be given.
    pub(crate) fn overdraw(&self, bytes: u64) -> Charge {
        self.charged(None, bytes)
    }

    /// Charges so many bytes as soon as there is room in the share of the network. For requests under way.
    pub(crate) async fn charge(&self, bytes: u64) -> Charge {
        let waiting = self.pulse.wait();
        let charge = self.charge_piece(bytes).await;
        drop(waiting);
        charge
    }

    /// The same for a piece of an answer that has begun. A connection that holds nothing else gets it at once.
    pub(crate) async fn charge_piece(&self, bytes: u64) -> Charge {
        if bytes > PIECE_BYTES {
            let permit = self.share.hold(bytes).await;
            return self.charged(Some(permit), bytes);
        }
        loop {
            if self.pulse.hold_first(bytes) {
                return Charge(Some(Charged { permit: None, pulse: Arc::clone(&self.pulse), bytes }));
            }
            tokio::select! {
                permit = self.share.hold(bytes) => return self.charged(Some(permit), bytes),
                () = self.pulse.emptied() => {}
            }
        }
    }

    /// Waits until so many bytes may be loaded from storage; for as long as what is given lives.
    pub(crate) async fn load(&self, bytes: u64) -> impl Sized + use<> {
        self.share.load(bytes).await
    }

    fn free_bytes(&self) -> u64 {
        if self.pulse.is_http2() { FREE_BYTES } else { PIECE_BYTES }
    }

    /// An event stream was opened: it may be silent as long as it lives.
    pub(crate) fn listen(&self) -> Counted {
        self.pulse.listen()
    }

    fn charged(&self, permit: Option<Permit>, bytes: u64) -> Charge {
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
            if let Some(permit) = &mut charged.permit {
                permit.shrink_to(bytes);
            }
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
        let share = SendBudget::new(256 * MIB).share(1);
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
        let _free = http1.try_charge(PIECE_BYTES).unwrap();
        assert_eq!(pulse.held(), 0);
    }

    #[tokio::test]
    async fn a_connection_that_holds_nothing_goes_on_whatever_its_neighbours_hold() {
        let budget = SendBudget::new(8 * MIB);
        let share = budget.share(1);
        let neighbour = share.hold(MIB).await;
        let pulse = Pulse::new();
        let connection = Connection::new(([192, 0, 2, 1], 1).into(), Arc::clone(&pulse), share);
        let first = connection.charge_piece(PIECE_BYTES).await;
        let mut second = std::pin::pin!(connection.charge_piece(PIECE_BYTES));
        assert!(futures_util::poll!(&mut second).is_pending(), "one at a time");
        drop(first);
        drop(second.await);
        assert_eq!(pulse.held(), 0);
        drop(neighbour);
    }
}

//! One connection as handlers see it: the peer address, and the memory that responses hold until the client has received
//! them. `connection_activity` watches whether the client still reads.

use crate::connection_activity::{ConnectionActivity, Counted};
use crate::send_budget::{Loading, Permit, Share};
use bytes::Bytes;
use dropleaf_core::{Code, Error, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Whole bodies that may wait on one connection; beyond that, files are sent in pieces.
const WHOLE_BYTES: u64 = 8 << 20;
/// Bodies up to this size are not charged on HTTP/2, where a hundred may wait on a connection; on HTTP/1.1 one may wait, so
/// the limit there is `PIECE_BYTES`.
const FREE_BYTES: u64 = 4 * 1024;
/// The size of a body piece that a connection may always hold, whatever others of its network hold, so that they cannot block
/// it.
pub(crate) const PIECE_BYTES: u64 = 64 * 1024;

/// The pieces that one stream from storage holds at a time: one is sent while the next is read.
const STREAM_PIECES: usize = 2;
/// How long a response waits for room.
const PATIENCE: Duration = Duration::from_secs(10);
const STREAM_PATIENCE: Duration = Duration::from_secs(30);
/// `Retry-After` of a response that found no room.
const RETRY_SECONDS: i64 = 5;

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    /// The server name of the TLS handshake, in lower case. None without one, and without TLS.
    pub(crate) server_name: Option<Box<str>>,
    activity: Arc<ConnectionActivity>,
    share: Share,
}

/// Memory of a response, charged to its connection, its network and the server until it is dropped.
#[derive(Debug)]
pub(crate) struct Charge(Option<Charged>);

#[derive(Debug)]
struct Charged {
    /// `None` for memory that counts towards the connection alone.
    permit: Option<Permit>,
    activity: Arc<ConnectionActivity>,
    bytes: u64,
}

/// The memory of a response that is streamed from storage, charged to its network while it lasts. It includes the room for
/// its pieces: if each piece had to wait for room, streams could deadlock.
#[derive(Debug, Clone)]
pub(crate) struct StreamRoom {
    permit: Arc<Permit>,
    pieces: Arc<Semaphore>,
    activity: Arc<ConnectionActivity>,
}

/// A piece of a stream that waits to be sent. Only such pieces count as waiting for the client.
struct Piece {
    bytes: Bytes,
    _charge: Charged,
    _slot: Option<OwnedSemaphorePermit>,
    _room: Arc<Permit>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl StreamRoom {
    /// Waits until an earlier piece of the stream has been sent.
    pub(crate) async fn piece_slot(&self) -> Option<OwnedSemaphorePermit> {
        // Never closed, so this always succeeds.
        Arc::clone(&self.pieces).acquire_owned().await.ok()
    }

    /// The same bytes, which release their slot once they have been sent.
    pub(crate) fn attach(&self, slot: Option<OwnedSemaphorePermit>, bytes: Bytes) -> Bytes {
        let charged = bytes.len() as u64;
        self.activity.hold(charged);
        let charge = Charged { permit: None, activity: Arc::clone(&self.activity), bytes: charged };
        Bytes::from_owner(Piece { bytes, _charge: charge, _slot: slot, _room: Arc::clone(&self.permit) })
    }
}

/// Bytes with their charge: both are dropped when the last of the bytes has been written to the client.
struct ChargedBytes {
    bytes: Bytes,
    _charge: Charged,
}

impl AsRef<[u8]> for ChargedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        self.activity.release(self.bytes);
    }
}

impl Connection {
    pub(crate) fn new(
        peer: SocketAddr,
        server_name: Option<Box<str>>,
        activity: Arc<ConnectionActivity>,
        share: Share,
    ) -> Arc<Self> {
        Arc::new(Self { peer, server_name, activity, share })
    }

    /// Charges a whole body of this size if there is room now.
    pub(crate) fn try_charge(&self, bytes: u64) -> Option<Charge> {
        if bytes <= self.free_bytes() {
            return Some(Charge(None));
        }
        if self.activity.held() + bytes > WHOLE_BYTES {
            return None;
        }
        self.share.try_hold(bytes).map(|permit| self.charged(Some(permit), bytes))
    }

    /// Charges this many bytes to the connection alone: for a response that already exists and has to be sent.
    pub(crate) fn overdraw(&self, bytes: u64) -> Charge {
        self.charged(None, bytes)
    }

    /// Charges this many bytes as soon as the network's share has room. For requests under way.
    pub(crate) async fn charge(&self, bytes: u64) -> Charge {
        let waiting = self.activity.wait();
        let charge = self.charge_piece(bytes).await;
        drop(waiting);
        charge
    }

    /// The same for a piece of a response that has started. A connection that holds nothing else gets it at once.
    pub(crate) async fn charge_piece(&self, bytes: u64) -> Charge {
        if bytes > PIECE_BYTES {
            let permit = self.share.hold(bytes).await;
            return self.charged(Some(permit), bytes);
        }
        loop {
            if self.activity.hold_first(bytes) {
                return Charge(Some(Charged { permit: None, activity: Arc::clone(&self.activity), bytes }));
            }
            tokio::select! {
                permit = self.share.hold(bytes) => return self.charged(Some(permit), bytes),
                () = self.activity.emptied() => {}
            }
        }
    }

    /// Reserves room for a stream that needs this many bytes besides its pieces.
    pub(crate) async fn open_stream(&self, bytes: u64) -> Result<StreamRoom> {
        let waiting = self.activity.wait();
        let all = bytes + STREAM_PIECES as u64 * PIECE_BYTES;
        let permit = timeout(STREAM_PATIENCE, self.share.hold(all)).await.map_err(|_| no_room())?;
        drop(waiting);
        let pieces = Arc::new(Semaphore::new(STREAM_PIECES));
        Ok(StreamRoom { permit: Arc::new(permit), pieces, activity: Arc::clone(&self.activity) })
    }

    /// Charges a response that is already in memory. Waits for room with a few others of its network; fails if too many wait
    /// or the room does not come in time.
    pub(crate) async fn charge_made(&self, bytes: u64) -> Result<Charge> {
        if let Some(charge) = self.try_charge(bytes) {
            return Ok(charge);
        }
        let _queued = self.share.queue(bytes).ok_or_else(no_room)?;
        timeout(PATIENCE, self.charge(bytes)).await.map_err(|_| no_room())
    }

    /// Waits until this many bytes may be loaded from storage; valid while the returned guards live. This time does not count
    /// against the client.
    pub(crate) async fn load(&self, bytes: u64) -> (Counted, Loading) {
        (self.activity.work(), self.share.load(bytes).await)
    }

    /// Marks a request body as being read while this guard lives.
    pub(crate) fn read_body(&self) -> Counted {
        self.activity.read_body()
    }

    fn free_bytes(&self) -> u64 {
        if self.activity.is_http2() { FREE_BYTES } else { PIECE_BYTES }
    }

    /// Marks an open event stream, which may be silent as long as it lives.
    pub(crate) fn listen(&self) -> Counted {
        self.activity.listen()
    }

    fn charged(&self, permit: Option<Permit>, bytes: u64) -> Charge {
        self.activity.hold(bytes);
        Charge(Some(Charged { permit, activity: Arc::clone(&self.activity), bytes }))
    }
}

fn no_room() -> Error {
    let detail = "Your network has too many unread responses. Read them, then try again.";
    Error::new(Code::Overloaded, detail).retry_after(RETRY_SECONDS)
}

impl Charge {
    /// Releases what turned out not to be needed.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        if let Some(charged) = &mut self.0
            && bytes < charged.bytes
        {
            if let Some(permit) = &mut charged.permit {
                permit.shrink_to(bytes);
            }
            charged.activity.release(charged.bytes - bytes);
            charged.bytes = bytes;
        }
    }

    /// The same bytes, which release the charge once they have been sent.
    pub(crate) fn attach(self, bytes: Bytes) -> Bytes {
        match self.0 {
            Some(charge) => Bytes::from_owner(ChargedBytes { bytes, _charge: charge }),
            None => bytes,
        }
    }
}

#[cfg(test)]
mod tests;

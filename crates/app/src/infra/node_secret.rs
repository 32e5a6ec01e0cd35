//! Checks that all nodes on one database have the same secret key. They hold one lease together, in the name of a fingerprint
//! of the key, so a node with another key cannot take it. It ends a minute after the last node, so the key can be changed.

use crate::app::App;
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{DbError, leases};
use std::time::Duration;

const LEASE: &str = "secret_key";
const LEASE_SECONDS: i64 = 60;
/// How often a running node renews it.
pub const NODE_SECRET_RENEWAL: Duration = Duration::from_secs(20);
/// After this, a lease of nodes that have stopped has ended, also if their clocks were ahead by a few seconds.
pub const NODE_SECRET_WAIT: Duration = Duration::from_secs(70);

impl App {
    /// Fails with [`Code::Conflict`] if a node with another secret key runs on this database, or did so within the last minute.
    pub async fn claim_node_secret(&self) -> Result<()> {
        if !self.store.db.is_shared() {
            return Ok(());
        }
        let (now, holder) = (self.now(), secret::text(&self.keys.mac("fingerprint", b"node")));
        match self.store.commit(vec![leases::take(LEASE, &holder, now + LEASE_SECONDS, now)]).await {
            Ok(_) => Ok(()),
            Err(DbError::Guard(leases::HELD)) => Err(Error::new(
                Code::Conflict,
                format!(
                    "Another node uses this database with another `secret_key`, or did so in the last {LEASE_SECONDS} seconds. \
                     Give all nodes the same one. To change it, stop all nodes first."
                ),
            )),
            Err(error) => Err(error.into()),
        }
    }
}

//! Reads from replicas of the database. What is read there may be as old as the operator allows (`database.max_lag_ms`), but
//! never older than a change that this node has made or was notified of. Everything else is read from the primary.

use crate::app::App;
use dropleaf_store::{DbError, Store};
use std::time::Duration;

/// How long a replica may take to answer before the primary is asked.
const PATIENCE: Duration = Duration::from_secs(1);

impl App {
    /// The store over a replica that holds every known change of what has this name: a page as in notifications between
    /// nodes, or an account by its id.
    pub(crate) fn replica_for(&self, name: &str) -> Option<Store> {
        self.store.on_replica(name, None).map(|(store, _)| store)
    }
}

/// What a replica answers; none if it does not, and the primary has to be asked.
pub(crate) async fn from_replica<T>(read: impl Future<Output = Result<T, DbError>>) -> Option<T> {
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(found)) => Some(found),
        Ok(Err(error)) => {
            tracing::debug!(%error, "replica not read");
            None
        }
        Err(_) => None,
    }
}

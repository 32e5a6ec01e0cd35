//! The database and the object store together. Operations build lists of guarded statements from the modules of this crate
//! and commit them here; each list is one transaction.

use crate::blobs::Blobs;
use crate::db::{Db, DbError, Outcome, Stmt};
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Store {
    pub db: Db,
    pub blobs: Blobs,
}

impl Store {
    pub const fn new(db: Db, blobs: Blobs) -> Self {
        Self { db, blobs }
    }

    /// Commits all statements or none; durable when it returns. A failed guard is [`DbError::Guard`] with its label.
    pub async fn commit(&self, stmts: Vec<Stmt>) -> Result<Vec<Outcome>, DbError> {
        self.db.batch(stmts).await
    }

    /// The same for a caller that needs no outcomes, and notifies the other nodes that these pages changed.
    pub async fn commit_changed(&self, stmts: Vec<Stmt>, changed: Vec<String>) -> Result<(), DbError> {
        self.db.batch_without_outcomes(stmts, changed).await
    }

    /// The same for what inserts new rows and then only counts; see [`Db::batch_in_group`].
    pub async fn commit_new(&self, stmts: Vec<Stmt>) -> Result<(), DbError> {
        self.db.batch_in_group(stmts).await
    }

    /// The same over a replica; see [`Db::find_replica`]. Only for reads.
    pub fn on_replica(&self, name: &str, max_age: Option<Duration>) -> Option<(Store, Duration)> {
        let (db, age) = self.db.find_replica(name, max_age)?;
        Some((Self { db, blobs: self.blobs.clone() }, age))
    }

    /// Only notifies the other nodes.
    pub async fn notify_nodes(&self, changed: Vec<String>) -> Result<(), DbError> {
        self.db.batch_notify(Vec::new(), changed).await.map(|_| ())
    }
}

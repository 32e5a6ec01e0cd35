//! The rows and the bodies, held together. Acts build lists of guarded statements from the noun modules
//! and commit them here; a list is one transaction.

use crate::blobs::Blobs;
use crate::db::{Db, DbError, Outcome, Stmt};

#[derive(Clone, Debug)]
pub struct Store {
    pub db: Db,
    pub blobs: Blobs,
}

impl Store {
    pub const fn new(db: Db, blobs: Blobs) -> Self {
        Self { db, blobs }
    }

    /// All or nothing; durable when it returns. A failed guard comes back as [`DbError::Guard`] with its label.
    pub async fn commit(&self, stmts: Vec<Stmt>) -> Result<Vec<Outcome>, DbError> {
        self.db.batch(stmts).await
    }

    /// The same, and tells the other nodes that these pages changed.
    pub async fn commit_changed(
        &self,
        stmts: Vec<Stmt>,
        changed: Vec<String>,
    ) -> Result<Vec<Outcome>, DbError> {
        self.db.batch_notify(stmts, changed).await
    }
}

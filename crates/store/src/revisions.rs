//! SQL for `revisions`: counters that tell other nodes with one read whether what they hold in memory is current.

use crate::db::{DbError, Stmt};
use crate::store::Store;

/// Changes with every change of a custom domain that viewers could notice.
pub const DOMAINS: &str = "domains";
/// Changes with every certificate that is issued or removed.
pub const CERTIFICATES: &str = "certificates";

impl Store {
    pub async fn find_revision(&self, name: &str) -> Result<i64, DbError> {
        let found = self
            .db
            .get("SELECT value FROM revisions WHERE name = $1", &[name.into()], |row| row.int(0))
            .await?;
        Ok(found.unwrap_or_default())
    }
}

/// Counts a change, in the transaction that makes it.
pub fn advance(name: &str) -> Stmt {
    Stmt::new(
        "INSERT INTO revisions (name, value) VALUES ($1, 1) \
         ON CONFLICT (name) DO UPDATE SET value = revisions.value + 1",
        vec![name.into()],
    )
}

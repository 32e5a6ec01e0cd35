//! SQL for `acme_challenges`: challenges of open orders, which an authority may ask any node about.

use crate::db::{DbError, Stmt};
use crate::store::Store;
use bytes::Bytes;
use dropleaf_core::certificate::ChallengeKind;

impl Store {
    /// Whether any challenge is open.
    pub async fn has_challenges(&self, now: i64) -> Result<bool, DbError> {
        let sql = "SELECT 1 FROM acme_challenges WHERE expires_at > $1 LIMIT 1";
        Ok(self.db.get(sql, &[now.into()], |row| row.int(0)).await?.is_some())
    }

    /// The encrypted key authorization.
    pub async fn find_challenge(
        &self,
        kind: ChallengeKind,
        name: &str,
        now: i64,
    ) -> Result<Option<Bytes>, DbError> {
        self.db
            .get(
                "SELECT sealed FROM acme_challenges WHERE kind = $1 AND name = $2 AND expires_at > $3",
                &[kind.as_str().into(), name.into(), now.into()],
                |row| Ok(Bytes::copy_from_slice(row.bytes(0)?)),
            )
            .await
    }
}

pub fn put(kind: ChallengeKind, name: &str, sealed: Bytes, expires_at: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO acme_challenges (kind, name, sealed, expires_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (kind, name) DO UPDATE SET sealed = excluded.sealed, expires_at = excluded.expires_at",
        vec![kind.as_str().into(), name.into(), sealed.into(), expires_at.into()],
    )
}

pub fn delete(kind: ChallengeKind, name: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM acme_challenges WHERE kind = $1 AND name = $2",
        vec![kind.as_str().into(), name.into()],
    )
}

pub fn delete_expired(now: i64) -> Stmt {
    Stmt::new("DELETE FROM acme_challenges WHERE expires_at <= $1", vec![now.into()])
}

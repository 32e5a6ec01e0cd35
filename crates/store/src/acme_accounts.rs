//! SQL for `acme_accounts`: the account at each certificate authority, encrypted.

use crate::db::{DbError, Stmt};
use crate::store::Store;
use bytes::Bytes;

impl Store {
    pub async fn find_acme_account(&self, directory_url: &str) -> Result<Option<Bytes>, DbError> {
        self.db
            .get(
                "SELECT sealed FROM acme_accounts WHERE directory_url = $1",
                &[directory_url.into()],
                |row| Ok(Bytes::copy_from_slice(row.bytes(0)?)),
            )
            .await
    }
}

pub fn put(directory_url: &str, sealed: Bytes, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO acme_accounts (directory_url, sealed, created_at) VALUES ($1, $2, $3) \
         ON CONFLICT (directory_url) DO UPDATE SET sealed = excluded.sealed",
        vec![directory_url.into(), sealed.into(), now.into()],
    )
}

pub fn delete(directory_url: &str) -> Stmt {
    Stmt::new("DELETE FROM acme_accounts WHERE directory_url = $1", vec![directory_url.into()])
}

//! SQL for `email_codes`: one open code for each site and address. Allowed and refused addresses get the same rows, so
//! neither the timing nor the response tells them apart.

use crate::db::{DbError, Stmt};
use crate::store::Store;

/// The value of `tries_left` once the code was used.
const USED: i64 = -1;

/// Stores a code until it expires; it replaces an older one for the same address.
pub fn put(site_id: &str, address_hash: &[u8; 32], code_mac: &[u8; 32], tries: i64, expires_at: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO email_codes (site_id, address_hash, code_mac, tries_left, expires_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (site_id, address_hash) DO UPDATE SET code_mac = excluded.code_mac, \
         tries_left = excluded.tries_left, expires_at = excluded.expires_at",
        vec![site_id.into(), (*address_hash).into(), (*code_mac).into(), tries.into(), expires_at.into()],
    )
}

/// Deletes expired codes.
pub fn delete_expired(now: i64) -> Stmt {
    Stmt::new("DELETE FROM email_codes WHERE expires_at <= $1", vec![now.into()])
}

impl Store {
    /// Uses up a code, or one of its tries, and returns whether the code was right. It is one statement: of any number of
    /// concurrent requests a right code works for one, and a wrong one always costs a try.
    pub async fn take_code(
        &self,
        site_id: &str,
        address_hash: &[u8; 32],
        code_mac: &[u8; 32],
        now: i64,
    ) -> Result<bool, DbError> {
        let stmt = Stmt::new(
            "UPDATE email_codes SET tries_left = CASE WHEN code_mac = $1 THEN -1 ELSE tries_left - 1 END \
             WHERE site_id = $2 AND address_hash = $3 AND tries_left > 0 AND expires_at > $4 RETURNING tries_left",
            vec![(*code_mac).into(), site_id.into(), (*address_hash).into(), now.into()],
        );
        let outcome = self.db.exec(stmt).await?;
        match outcome.rows.first() {
            Some(row) => Ok(row.as_row().int(0)? == USED),
            None => Ok(false),
        }
    }
}

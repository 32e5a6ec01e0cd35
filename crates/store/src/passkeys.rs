//! SQL for `passkeys` and `passkey_ceremonies` (WebAuthn challenges waiting for a browser's response).

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::passkey::{MOST, Passkey};

/// The account has the maximum number of passkeys, or the credential is already registered.
pub const REFUSED: &str = "passkey_refused";
pub const UNKNOWN: &str = "unknown_passkey";

/// A challenge that was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceremony {
    /// The account to register a passkey for; `None` for a sign-in.
    pub account_id: Option<String>,
    pub state: String,
}

columns! {
    PasskeyColumns, passkey_columns:
    id, account_id, credential_id, user_handle, credential, name, created_at, last_used_at,
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", passkey_columns!(), " FROM passkeys ", $tail)
    };
}

columns! { CeremonyColumns, ceremony_columns: account_id, state, expires_at }

fn row(row: &Row<'_>) -> Result<Passkey, DbError> {
    const COLUMN: PasskeyColumns = PasskeyColumns::starting_at(0);
    Ok(Passkey {
        id: row.string(COLUMN.id)?,
        account_id: row.string(COLUMN.account_id)?,
        credential_id: row.bytes(COLUMN.credential_id)?.to_owned(),
        user_handle: row.bytes(COLUMN.user_handle)?.to_owned(),
        credential: row.string(COLUMN.credential)?,
        name: row.string(COLUMN.name)?,
        created_at: row.int(COLUMN.created_at)?,
        last_used_at: row.opt_int(COLUMN.last_used_at)?,
    })
}

impl Store {
    pub async fn list_passkeys(&self, account_id: &str) -> Result<Vec<Passkey>, DbError> {
        self.db
            .list(select!("WHERE account_id = $1 ORDER BY created_at, id"), vec![account_id.into()], row)
            .await
    }

    pub async fn find_passkey(&self, credential_id: &[u8]) -> Result<Option<Passkey>, DbError> {
        self.db.get(select!("WHERE credential_id = $1"), &[credential_id.to_vec().into()], row).await
    }

    /// Takes a challenge, so that it can be answered only once.
    pub async fn take_ceremony(&self, hash: &[u8; 32], now: i64) -> Result<Option<Ceremony>, DbError> {
        const COLUMN: CeremonyColumns = CeremonyColumns::starting_at(0);
        let stmt = Stmt::new(
            concat!("DELETE FROM passkey_ceremonies WHERE visit_hash = $1 RETURNING ", ceremony_columns!()),
            vec![(*hash).into()],
        );
        let outcome = self.db.exec(stmt).await?;
        let Some(found) = outcome.rows.first() else { return Ok(None) };
        let found = found.as_row();
        let open = found.int(COLUMN.expires_at)? > now;
        let ceremony =
            Ceremony { account_id: found.opt_string(COLUMN.account_id)?, state: found.string(COLUMN.state)? };
        Ok(open.then_some(ceremony))
    }
}

/// Stores a challenge until it is answered; it replaces an older one of the same browser.
pub fn put_ceremony(hash: &[u8; 32], ceremony: &Ceremony, expires_at: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO passkey_ceremonies (visit_hash, account_id, state, expires_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (visit_hash) DO UPDATE SET account_id = excluded.account_id, state = excluded.state, \
         expires_at = excluded.expires_at",
        vec![
            (*hash).into(),
            ceremony.account_id.as_deref().into(),
            ceremony.state.as_str().into(),
            expires_at.into(),
        ],
    )
}

/// Adds a passkey, unless the account has the maximum number or the credential is already registered. Call it after
/// `counters::lock_account`.
pub fn insert(passkey: &Passkey) -> Stmt {
    Stmt::new(
        "INSERT INTO passkeys (id, account_id, credential_id, user_handle, credential, name, created_at, last_used_at) \
         SELECT $1, $2, $3, $4, $5, $6, CAST($7 AS BIGINT), NULL \
         WHERE (SELECT COUNT(*) FROM passkeys WHERE account_id = $2) < CAST($8 AS BIGINT) \
         ON CONFLICT (credential_id) DO NOTHING",
        vec![
            passkey.id.as_str().into(),
            passkey.account_id.as_str().into(),
            passkey.credential_id.clone().into(),
            passkey.user_handle.clone().into(),
            passkey.credential.as_str().into(),
            passkey.name.as_str().into(),
            passkey.created_at.into(),
            MOST.into(),
        ],
    )
    .one(REFUSED)
}

/// Records a use and the new signature counter, unless the passkey was used or removed since it was read.
pub fn note_use(passkey: &Passkey, credential: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE id = $3 AND credential = $4",
        vec![credential.into(), now.into(), passkey.id.as_str().into(), passkey.credential.as_str().into()],
    )
    .one(UNKNOWN)
}

pub fn delete(account_id: &str, id: &str) -> Stmt {
    Stmt::new("DELETE FROM passkeys WHERE account_id = $1 AND id = $2", vec![account_id.into(), id.into()])
        .one(UNKNOWN)
}

pub fn delete_expired_ceremonies(now: i64) -> Stmt {
    Stmt::new("DELETE FROM passkey_ceremonies WHERE expires_at <= $1", vec![now.into()])
}

//! SQL for `device_logins`. A login is found by the hash of the program's device code, or by the code that a person types.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::device_login::{
    DeviceLogin, DeviceLoginKind, DeviceLoginState, POLL_SECONDS, SLOWER_SECONDS,
};
use dropleaf_core::scope::Scopes;

/// The user code is in use; try another one.
pub const CODE_TAKEN: &str = "device_code_taken";
/// The login has already been answered, or has expired.
pub const ANSWERED: &str = "device_answered";
/// Another poll was faster, or the login has not been allowed.
pub const TAKEN: &str = "device_taken";

columns! {
    DeviceColumns, device_columns:
    user_code, client_id, client_name, kind, scopes, resource, state, account_id, created_at, expires_at,
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", device_columns!(), " FROM device_logins ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<DeviceLogin, DbError> {
    const COLUMN: DeviceColumns = DeviceColumns::starting_at(0);
    let strange = |what: &str| DbError::internal(format!("device login row has an {what}"));
    Ok(DeviceLogin {
        user_code: row.string(COLUMN.user_code)?,
        client_id: row.string(COLUMN.client_id)?,
        client_name: row.string(COLUMN.client_name)?,
        kind: DeviceLoginKind::parse(row.text(COLUMN.kind)?).ok_or_else(|| strange("unknown kind"))?,
        scopes: Scopes::parse(row.text(COLUMN.scopes)?).ok_or_else(|| strange("unknown scope"))?,
        resource: row.string(COLUMN.resource)?,
        state: DeviceLoginState::parse(row.text(COLUMN.state)?).ok_or_else(|| strange("unknown state"))?,
        account_id: row.opt_string(COLUMN.account_id)?,
        created_at: row.int(COLUMN.created_at)?,
        expires_at: row.int(COLUMN.expires_at)?,
    })
}

impl Store {
    pub async fn find_device(&self, device_hash: &[u8; 32]) -> Result<Option<DeviceLogin>, DbError> {
        self.db.get(select!("WHERE device_hash = $1"), &[(*device_hash).into()], row).await
    }

    /// The login that is waiting for an answer under this code.
    pub async fn find_device_by_code(
        &self,
        user_code: &str,
        now: i64,
    ) -> Result<Option<DeviceLogin>, DbError> {
        self.db
            .get(
                select!("WHERE user_code = $1 AND state = 'pending' AND expires_at > $2"),
                &[user_code.into(), now.into()],
                row,
            )
            .await
    }

    /// Records a poll of a pending login and returns whether it came in time; of two concurrent polls only one does. A poll
    /// that comes too early lengthens the interval.
    pub async fn poll_device(
        &self,
        device_hash: &[u8; 32],
        now: i64,
        early_seconds: i64,
    ) -> Result<bool, DbError> {
        let in_time = Stmt::new(
            "UPDATE device_logins SET polled_at = $1 WHERE device_hash = $2 \
             AND (polled_at IS NULL OR polled_at + poll_seconds <= $3)",
            vec![now.into(), (*device_hash).into(), (now + early_seconds).into()],
        );
        if self.db.exec(in_time).await?.affected == 1 {
            return Ok(true);
        }
        let too_soon = Stmt::new(
            "UPDATE device_logins SET polled_at = $1, poll_seconds = poll_seconds + $2 WHERE device_hash = $3",
            vec![now.into(), SLOWER_SECONDS.into(), (*device_hash).into()],
        );
        self.db.exec(too_soon).await?;
        Ok(false)
    }
}

pub fn insert(login: &DeviceLogin, device_hash: &[u8; 32]) -> Stmt {
    Stmt::new(
        "INSERT INTO device_logins (device_hash, user_code, client_id, client_name, kind, scopes, resource, state, \
         account_id, poll_seconds, polled_at, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, $9, NULL, $10, $11) ON CONFLICT (user_code) DO NOTHING",
        vec![
            (*device_hash).into(),
            login.user_code.as_str().into(),
            login.client_id.as_str().into(),
            login.client_name.as_str().into(),
            login.kind.as_str().into(),
            login.scopes.to_string().into(),
            login.resource.as_str().into(),
            login.state.as_str().into(),
            POLL_SECONDS.into(),
            login.created_at.into(),
            login.expires_at.into(),
        ],
    )
    .one(CODE_TAKEN)
}

/// Records a person's answer. Only the first one counts.
pub fn answer(user_code: &str, account_id: &str, state: DeviceLoginState, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE device_logins SET state = $1, account_id = $2 \
         WHERE user_code = $3 AND state = 'pending' AND expires_at > $4",
        vec![state.as_str().into(), account_id.into(), user_code.into(), now.into()],
    )
    .one(ANSWERED)
}

/// Goes into the same batch as what the program receives: of any number of polls, one gets it.
pub fn take(device_hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        "UPDATE device_logins SET state = 'done' WHERE device_hash = $1 AND state = 'allowed' AND expires_at > $2",
        vec![(*device_hash).into(), now.into()],
    )
    .one(TAKEN)
}

pub fn delete_expired(before: i64) -> Stmt {
    Stmt::new("DELETE FROM device_logins WHERE expires_at <= $1", vec![before.into()])
}

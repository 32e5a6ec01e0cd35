//! SQL for `wallet_challenges`: messages for a wallet to sign, valid for one request.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;

/// Another request was faster, or the challenge has expired.
pub const TAKEN: &str = "challenge_taken";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletChallenge {
    /// Lower case.
    pub wallet: String,
    /// The exact text to sign.
    pub message: String,
    pub expires_at: i64,
    pub used_at: Option<i64>,
}

columns! { ChallengeColumns, challenge_columns: wallet, message, expires_at, used_at }

fn row(row: &Row<'_>) -> Result<WalletChallenge, DbError> {
    const COLUMN: ChallengeColumns = ChallengeColumns::starting_at(0);
    Ok(WalletChallenge {
        wallet: row.string(COLUMN.wallet)?,
        message: row.string(COLUMN.message)?,
        expires_at: row.int(COLUMN.expires_at)?,
        used_at: row.opt_int(COLUMN.used_at)?,
    })
}

impl Store {
    pub async fn find_wallet_challenge(&self, hash: &[u8; 32]) -> Result<Option<WalletChallenge>, DbError> {
        let sql =
            concat!("SELECT ", challenge_columns!(), " FROM wallet_challenges WHERE challenge_hash = $1");
        self.db.get(sql, &[(*hash).into()], row).await
    }

    /// Whether this wallet (in lower case) paid for a live page.
    pub async fn has_pages_of_wallet(&self, wallet: &str, now: i64) -> Result<bool, DbError> {
        let sql = "SELECT 1 FROM sites WHERE wallet = $1 AND state = 'live' \
                   AND (expires_at IS NULL OR expires_at > $2) LIMIT 1";
        Ok(self.db.get(sql, &[wallet.into(), now.into()], |_| Ok(())).await?.is_some())
    }
}

pub fn insert(hash: &[u8; 32], challenge: &WalletChallenge) -> Stmt {
    Stmt::new(
        "INSERT INTO wallet_challenges (challenge_hash, wallet, message, expires_at, used_at) \
         VALUES ($1, $2, $3, $4, NULL)",
        vec![
            (*hash).into(),
            challenge.wallet.as_str().into(),
            challenge.message.as_str().into(),
            challenge.expires_at.into(),
        ],
    )
}

/// Goes into the same batch as what the challenge is used for: of any number of requests, one succeeds.
pub fn take(hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        "UPDATE wallet_challenges SET used_at = $1 WHERE challenge_hash = $2 AND used_at IS NULL AND expires_at > $1",
        vec![now.into(), (*hash).into()],
    )
    .one(TAKEN)
}

pub fn delete_expired(before: i64) -> Stmt {
    Stmt::new("DELETE FROM wallet_challenges WHERE expires_at <= $1", vec![before.into()])
}

//! SQL for the size of the queue of open appeals, and for `appeal_senders`: further senders of content that is already under
//! appeal.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::appeal::{AdditionalAppellant, AppealCapacity, AppealStatement, HEARD_MOST};

fn room(row: &Row<'_>) -> Result<AppealCapacity, DbError> {
    Ok(AppealCapacity { count: row.int(0)?, bytes: row.int(1)? })
}

fn plea(row: &Row<'_>) -> Result<AppealStatement, DbError> {
    let own = |at| row.opt_text(at).map(|text| text.map(str::to_owned));
    Ok(AppealStatement { comment: own(0)?, contact: own(1)? })
}

fn joined(row: &Row<'_>) -> Result<AdditionalAppellant, DbError> {
    let own = |at| row.opt_text(at).map(|text| text.map(str::to_owned));
    Ok(AdditionalAppellant {
        plea: AppealStatement { comment: own(0)?, contact: own(1)? },
        account_id: own(2)?,
        created_at: row.int(3)?,
    })
}

const ALL: &str =
    "SELECT COUNT(*), CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM appeals WHERE state = 'open'";
const OF_ACCOUNT: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM appeals \
     WHERE state = 'open' AND account_id = $1";
const OF_CLIENT: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM appeals \
     WHERE state = 'open' AND account_id IS NULL AND client = $1";

impl Store {
    /// Number and total size of the open appeals.
    pub async fn sum_open_appeals(&self) -> Result<AppealCapacity, DbError> {
        Ok(self.db.get(ALL, &[], room).await?.unwrap_or(AppealCapacity { count: 0, bytes: 0 }))
    }

    /// The same for one account, or for one network without an account.
    pub async fn sum_appeals_of(
        &self,
        account_id: Option<&str>,
        client: &str,
    ) -> Result<AppealCapacity, DbError> {
        let found = match account_id {
            Some(id) => self.db.get(OF_ACCOUNT, &[id.into()], room).await?,
            None => self.db.get(OF_CLIENT, &[client.into()], room).await?,
        };
        Ok(found.unwrap_or(AppealCapacity { count: 0, bytes: 0 }))
    }

    /// The comment and contact of the sender who holds this token.
    pub async fn find_plea(&self, token_hash: [u8; 32]) -> Result<Option<AppealStatement>, DbError> {
        let sql = "SELECT comment, contact FROM appeals WHERE token_hash = $1 \
                   UNION ALL SELECT comment, contact FROM appeal_senders WHERE token_hash = $1";
        self.db.get(sql, &[token_hash.into()], plea).await
    }

    /// Later senders of the same content who left a comment or a contact.
    pub async fn list_joined(&self, appeal_id: &str) -> Result<Vec<AdditionalAppellant>, DbError> {
        let sql = "SELECT comment, contact, account_id, created_at FROM appeal_senders \
                   WHERE appeal_id = $1 AND (comment IS NOT NULL OR contact IS NOT NULL) \
                   ORDER BY created_at, token_hash LIMIT $2";
        self.db.list(sql, vec![appeal_id.into(), HEARD_MOST.into()], joined).await
    }

    /// The taken-down page that the content of this appeal resembles.
    pub async fn find_like_site(&self, appeal_id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT like_site FROM appeals WHERE id = $1";
        let own = |row: &Row<'_>| row.opt_text(0).map(|id| id.map(str::to_owned));
        Ok(self.db.get(sql, &[appeal_id.into()], own).await?.flatten())
    }

    /// The page that this entry of `unwanted` was made from.
    pub async fn find_site_of_unwanted(&self, id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT site_id FROM unwanted WHERE id = $1";
        self.db.get(sql, &[id.into()], |row| row.text(0).map(str::to_owned)).await
    }
}

/// Adds another sender of the same content. Comments and contacts are kept for the first few senders only.
pub fn join(appeal_id: &str, token_hash: [u8; 32], sender: &AdditionalAppellant) -> Stmt {
    Stmt::new(
        "INSERT INTO appeal_senders (token_hash, appeal_id, account_id, created_at, comment, contact) \
         SELECT $1, $2, $3, CAST($4 AS BIGINT), \
         CASE WHEN heard.many < $5 THEN $6 END, CASE WHEN heard.many < $5 THEN $7 END \
         FROM (SELECT COUNT(*) AS many FROM appeal_senders WHERE appeal_id = $2) AS heard \
         WHERE TRUE ON CONFLICT DO NOTHING",
        vec![
            token_hash.into(),
            appeal_id.into(),
            sender.account_id.as_deref().into(),
            sender.created_at.into(),
            HEARD_MOST.into(),
            sender.plea.comment.as_deref().into(),
            sender.plea.contact.as_deref().into(),
        ],
    )
}

//! SQL for the size of the queue of open appeals, and for `appeal_senders`: further senders of content that is already under
//! appeal.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::appeal::{AppealStatement, JOINED_SENDERS_MOST, JoinedSender, QueueSize};

fn queue_size(row: &Row<'_>) -> Result<QueueSize, DbError> {
    Ok(QueueSize { count: row.int(0)?, bytes: row.int(1)? })
}

fn statement(row: &Row<'_>) -> Result<AppealStatement, DbError> {
    Ok(AppealStatement { comment: row.opt_string(0)?, contact: row.opt_string(1)? })
}

columns! { JoinedColumns, joined_columns: comment, contact, account_id, created_at }

fn joined(row: &Row<'_>) -> Result<JoinedSender, DbError> {
    const COLUMN: JoinedColumns = JoinedColumns::starting_at(0);
    Ok(JoinedSender {
        statement: AppealStatement {
            comment: row.opt_string(COLUMN.comment)?,
            contact: row.opt_string(COLUMN.contact)?,
        },
        account_id: row.opt_string(COLUMN.account_id)?,
        created_at: row.int(COLUMN.created_at)?,
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
    pub async fn sum_open_appeals(&self) -> Result<QueueSize, DbError> {
        Ok(self.db.get(ALL, &[], queue_size).await?.unwrap_or(QueueSize { count: 0, bytes: 0 }))
    }

    /// The same for one account, or for one network without an account.
    pub async fn sum_appeals_of(&self, account_id: Option<&str>, client: &str) -> Result<QueueSize, DbError> {
        let found = match account_id {
            Some(id) => self.db.get(OF_ACCOUNT, &[id.into()], queue_size).await?,
            None => self.db.get(OF_CLIENT, &[client.into()], queue_size).await?,
        };
        Ok(found.unwrap_or(QueueSize { count: 0, bytes: 0 }))
    }

    /// The comment and contact of the sender who holds this token.
    pub async fn find_statement(&self, token_hash: [u8; 32]) -> Result<Option<AppealStatement>, DbError> {
        let sql = "SELECT comment, contact FROM appeals WHERE token_hash = $1 \
                   UNION ALL SELECT comment, contact FROM appeal_senders WHERE token_hash = $1";
        self.db.get(sql, &[token_hash.into()], statement).await
    }

    /// Later senders of the same content who left a comment or a contact.
    pub async fn list_joined(&self, appeal_id: &str) -> Result<Vec<JoinedSender>, DbError> {
        let sql = concat!(
            "SELECT ",
            joined_columns!(),
            " FROM appeal_senders WHERE appeal_id = $1 AND (comment IS NOT NULL OR contact IS NOT NULL) \
             ORDER BY created_at, token_hash LIMIT $2"
        );
        self.db.list(sql, vec![appeal_id.into(), JOINED_SENDERS_MOST.into()], joined).await
    }

    /// The taken-down page that the content of this appeal resembles.
    pub async fn find_similar_site(&self, appeal_id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT like_site FROM appeals WHERE id = $1";
        Ok(self.db.get(sql, &[appeal_id.into()], |row| row.opt_string(0)).await?.flatten())
    }

    /// The taken-down page that this blocked content comes from.
    pub async fn find_site_of_blocked_content(&self, id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT site_id FROM unwanted WHERE id = $1";
        self.db.get(sql, &[id.into()], |row| row.string(0)).await
    }
}

/// Adds another sender of the same content. Comments and contacts are kept for the first few senders only.
pub fn join(appeal_id: &str, token_hash: [u8; 32], sender: &JoinedSender) -> Stmt {
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
            JOINED_SENDERS_MOST.into(),
            sender.statement.comment.as_deref().into(),
            sender.statement.contact.as_deref().into(),
        ],
    )
}

//! SQL for `feedback_replies`: the replies to viewers' comments.

use crate::db::{DbError, Row, Stmt, columns};
use crate::feedback::{UNKNOWN, with_given_ids};
use crate::store::Store;
use dropleaf_core::feedback_thread::{Author, MOST_REPLIES, MOST_SITE_REPLIES, Reply};

/// The thread or the page has the maximum number of replies.
pub const FULL: &str = "feedback_replies_full";

columns! {
    ReplyColumns, reply_columns:
    id, feedback_id, site_id, author, author_name, text, reopens, created_at,
}

fn row(row: &Row<'_>) -> Result<Reply, DbError> {
    const COLUMN: ReplyColumns = ReplyColumns::starting_at(0);
    Ok(Reply {
        id: row.string(COLUMN.id)?,
        feedback_id: row.string(COLUMN.feedback_id)?,
        site_id: row.string(COLUMN.site_id)?,
        author: Author::parse(row.text(COLUMN.author)?)
            .ok_or_else(|| DbError::internal("a reply has an unknown author"))?,
        name: row.opt_string(COLUMN.author_name)?,
        text: row.string(COLUMN.text)?,
        reopens: row.flag(COLUMN.reopens)?,
        created_at: row.int(COLUMN.created_at)?,
    })
}

impl Store {
    /// The newest replies to each of these comments; those to one comment oldest first.
    pub async fn list_replies(
        &self,
        site_id: &str,
        feedback_ids: &[&str],
        of_each: i64,
    ) -> Result<Vec<Reply>, DbError> {
        if feedback_ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = concat!(
            "SELECT ",
            reply_columns!(),
            " FROM (SELECT feedback_replies.*, ROW_NUMBER() OVER (PARTITION BY feedback_id \
             ORDER BY seq DESC) AS place FROM feedback_replies \
             WHERE feedback_id IN (",
            with_given_ids!(),
            "SELECT id FROM given) AND site_id = $2) AS newest WHERE place <= $3 ORDER BY feedback_id, seq"
        );
        self.db.list(sql, vec![feedback_ids.concat().into(), site_id.into(), of_each.into()], row).await
    }

    /// How many replies each comment of a site has, for those that have any.
    pub async fn count_replies(&self, site_id: &str) -> Result<Vec<(String, i64)>, DbError> {
        let sql =
            "SELECT feedback_id, COUNT(*) FROM feedback_replies WHERE site_id = $1 GROUP BY feedback_id";
        self.db.list(sql, vec![site_id.into()], |row| Ok((row.string(0)?, row.int(1)?))).await
    }
}

/// Requires that the comment exists on the site. A viewer's reply makes it unread for the owner's programs.
pub fn touch(reply: &Reply) -> Stmt {
    Stmt::new(
        "UPDATE feedback SET read_at = CASE WHEN CAST($1 AS TEXT) = 'viewer' THEN NULL ELSE read_at END \
         WHERE id = $2 AND site_id = $3",
        vec![reply.author.as_str().into(), reply.feedback_id.as_str().into(), reply.site_id.as_str().into()],
    )
    .one(UNKNOWN)
}

/// Adds a reply, unless its thread or its page is full. The row of the comment must be locked, as [`touch`] does, so that
/// two replies do not get the same place.
pub fn insert(reply: &Reply) -> Stmt {
    Stmt::new(
        "INSERT INTO feedback_replies (id, feedback_id, site_id, author, author_name, text, reopens, created_at, \
         seq) SELECT $1, $2, $3, $4, $5, $6, $7, $8, \
         (SELECT COALESCE(MAX(seq), 0) + 1 FROM feedback_replies WHERE feedback_id = $2) \
         WHERE (SELECT COUNT(*) FROM feedback_replies WHERE feedback_id = $2) < $9 \
         AND (SELECT COUNT(*) FROM feedback_replies WHERE site_id = $3) < $10",
        vec![
            reply.id.as_str().into(),
            reply.feedback_id.as_str().into(),
            reply.site_id.as_str().into(),
            reply.author.as_str().into(),
            reply.name.as_deref().into(),
            reply.text.as_str().into(),
            reply.reopens.into(),
            reply.created_at.into(),
            MOST_REPLIES.into(),
            MOST_SITE_REPLIES.into(),
        ],
    )
    .one(FULL)
}

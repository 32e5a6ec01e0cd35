//! SQL for `appeals`: refused pages, and what an operator decided about them.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;
use dropleaf_core::appeal::{Appeal, AppealCapacity, AppealStatement, State};
use dropleaf_core::finding::Finding;
use serde_json::{Value, json};

/// The same content already has an open appeal, or the queue is full.
pub const NOT_ADDED: &str = "appeal_not_added";
/// The appeal has already been decided.
pub const DECIDED: &str = "appeal_decided";

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, account_id, digest, bundle_id, title, reasons, comment, contact, state, answer, created_at, decided_at \
             FROM appeals ",
            $tail
        )
    };
}

fn row(row: &Row<'_>) -> Result<Appeal, DbError> {
    let own = |at| row.opt_text(at).map(|text| text.map(str::to_owned));
    Ok(Appeal {
        id: row.text(0)?.to_owned(),
        account_id: own(1)?,
        digest: row.hash(2)?,
        bundle_id: own(3)?,
        title: row.text(4)?.to_owned(),
        reasons: findings(row.text(5)?),
        plea: AppealStatement { comment: own(6)?, contact: own(7)? },
        state: State::parse(row.text(8)?)
            .ok_or_else(|| DbError::internal("an appeal has an unknown state"))?,
        answer: own(9)?,
        created_at: row.int(10)?,
        decided_at: row.opt_int(11)?,
    })
}

fn findings(text: &str) -> Vec<Finding> {
    let list: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let finding = |value: &Value| {
        let own = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let line = value["line"].as_u64();
        Finding { rule: own("rule"), file: own("file"), line, why: own("why"), fix: own("fix") }
    };
    list.iter().map(finding).collect()
}

fn written(reasons: &[Finding]) -> String {
    let list = reasons.iter().map(|found| {
        json!({"rule": found.rule, "file": found.file, "line": found.line, "why": found.why, "fix": found.fix})
    });
    Value::Array(list.collect()).to_string()
}

impl Store {
    pub async fn find_appeal(&self, id: &str) -> Result<Option<Appeal>, DbError> {
        let sql = select!("WHERE id = $1");
        self.db.get(sql, &[id.into()], row).await
    }

    pub async fn find_appeal_by_token(&self, token_hash: [u8; 32]) -> Result<Option<Appeal>, DbError> {
        let sql = select!(
            "WHERE token_hash = $1 OR id = (SELECT appeal_id FROM appeal_senders WHERE token_hash = $1)"
        );
        self.db.get(sql, &[token_hash.into()], row).await
    }

    /// The open appeal about this content.
    pub async fn find_open_appeal(&self, digest: [u8; 32]) -> Result<Option<Appeal>, DbError> {
        let sql = select!("WHERE digest = $1 AND state = 'open'");
        self.db.get(sql, &[digest.into()], row).await
    }

    /// Open appeals, the longest waiting first.
    pub async fn list_open_appeals(&self, limit: i64) -> Result<Vec<Appeal>, DbError> {
        let sql = select!("WHERE state = 'open' ORDER BY created_at, id LIMIT $1");
        self.db.list(sql, vec![limit.into()], row).await
    }

    /// The newest, decided or not.
    pub async fn list_appeals(&self, limit: i64) -> Result<Vec<Appeal>, DbError> {
        let sql = select!("ORDER BY created_at DESC, id DESC LIMIT $1");
        self.db.list(sql, vec![limit.into()], row).await
    }

    /// The most recently decided appeals.
    pub async fn list_decided_appeals(&self, limit: i64) -> Result<Vec<Appeal>, DbError> {
        let sql = select!("WHERE state <> 'open' ORDER BY decided_at DESC, id DESC LIMIT $1");
        self.db.list(sql, vec![limit.into()], row).await
    }

    /// Other appeals about the same content, newest first.
    pub async fn list_earlier_appeals(&self, appeal: &Appeal, limit: i64) -> Result<Vec<Appeal>, DbError> {
        let sql = select!("WHERE digest = $1 AND id <> $2 ORDER BY created_at DESC, id DESC LIMIT $3");
        self.db.list(sql, vec![appeal.digest.into(), appeal.id.as_str().into(), limit.into()], row).await
    }

    /// Open appeals without an account that were sent before this time.
    pub async fn list_overdue_appeals(&self, sent_before: i64, limit: i64) -> Result<Vec<Appeal>, DbError> {
        let sql = select!(
            "WHERE state = 'open' AND account_id IS NULL AND created_at <= $1 ORDER BY created_at, id LIMIT $2"
        );
        self.db.list(sql, vec![sent_before.into(), limit.into()], row).await
    }

    pub async fn count_open_appeals(&self) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM appeals WHERE state = 'open'";
        Ok(self.db.get(sql, &[], |row| row.int(0)).await?.unwrap_or_default())
    }
}

/// A new appeal together with the columns that no one is shown.
#[derive(Debug)]
pub struct NewAppeal<'a> {
    pub appeal: &'a Appeal,
    pub token_hash: [u8; 32],
    /// Keyed hash of the network.
    pub client: &'a str,
    pub size_bytes: i64,
    /// The taken-down page that the content resembles.
    pub like_site: Option<&'a str>,
}

/// Adds an open appeal, unless the same content has one already or the queue is full.
pub fn insert(new: &NewAppeal<'_>, room: AppealCapacity) -> Stmt {
    let NewAppeal { appeal, token_hash, client, size_bytes, like_site } = new;
    Stmt::new(
        "INSERT INTO appeals (id, token_hash, account_id, client, digest, bundle_id, title, reasons, comment, contact, \
         like_site, state, created_at, size_bytes) \
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'open', CAST($12 AS BIGINT), CAST($13 AS BIGINT) \
         WHERE (SELECT COUNT(*) FROM appeals WHERE state = 'open') < $14 \
         AND (SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM appeals WHERE state = 'open') <= $15 \
         ON CONFLICT DO NOTHING",
        vec![
            appeal.id.as_str().into(),
            (*token_hash).into(),
            appeal.account_id.as_deref().into(),
            (*client).into(),
            appeal.digest.into(),
            appeal.bundle_id.as_deref().into(),
            appeal.title.as_str().into(),
            written(&appeal.reasons).into(),
            appeal.plea.comment.as_deref().into(),
            appeal.plea.contact.as_deref().into(),
            (*like_site).into(),
            appeal.created_at.into(),
            (*size_bytes).into(),
            room.count.into(),
            room.bytes.saturating_sub(*size_bytes).into(),
        ],
    )
    .one(NOT_ADDED)
}

/// Decides an open appeal and releases its content. If two operators decide at once, one of them fails with [`DECIDED`].
pub fn decide(appeal: &Appeal, state: State, answer: &str, now: i64) -> Vec<Stmt> {
    let decided = Stmt::new(
        "UPDATE appeals SET state = $1, answer = $2, decided_at = $3, bundle_id = NULL WHERE id = $4 AND state = 'open'",
        vec![state.as_str().into(), answer.into(), now.into(), appeal.id.as_str().into()],
    );
    let released = appeal.bundle_id.as_deref().map(|id| crate::payments::release_bundle(id, now));
    std::iter::once(decided.one(DECIDED)).chain(released).collect()
}

/// Deletes appeals that were decided long ago, with what their senders wrote. Allowed content stays allowed.
pub fn delete_old(decided_before: i64) -> [Stmt; 2] {
    [
        Stmt::new(
            "DELETE FROM appeal_senders WHERE appeal_id IN (SELECT id FROM appeals WHERE decided_at <= $1)",
            vec![decided_before.into()],
        ),
        Stmt::new("DELETE FROM appeals WHERE decided_at <= $1", vec![decided_before.into()]),
    ]
}

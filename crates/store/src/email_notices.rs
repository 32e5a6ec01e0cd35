//! SQL for what owners are to be emailed about: written with the change it tells of, taken before it is sent.

use crate::db::{DbError, Row, Stmt, columns};
use crate::email_settings::{mode, notify_mode};
use crate::store::Store;
use dropleaf_core::notification::{KEPT_SECONDS, MOST_WAITING, NotificationKind, NotifyMode};

/// An email of this lane was sent recently.
pub const PAUSED: &str = "email_paused";

/// One thing that an owner is to be emailed about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailNotice {
    pub id: String,
    pub account_id: String,
    pub site_id: String,
    /// There is a pause between two emails of one lane.
    pub lane: String,
    pub kind: NotificationKind,
    pub feedback_id: Option<String>,
    pub expires_at: Option<i64>,
    pub created_at: i64,
}

/// An account for which something is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueAccount {
    pub id: String,
    pub email: String,
    pub mode: NotifyMode,
}

columns! {
    NoticeColumns, notice_columns:
    id, account_id, site_id, lane, kind, feedback_id, expires_at, created_at,
}

fn row(row: &Row<'_>) -> Result<EmailNotice, DbError> {
    const COLUMN: NoticeColumns = NoticeColumns::starting_at(0);
    Ok(EmailNotice {
        id: row.string(COLUMN.id)?,
        account_id: row.string(COLUMN.account_id)?,
        site_id: row.string(COLUMN.site_id)?,
        lane: row.string(COLUMN.lane)?,
        kind: NotificationKind::parse(row.text(COLUMN.kind)?)
            .ok_or_else(|| DbError::internal("an email notice has an unknown kind"))?,
        feedback_id: row.opt_string(COLUMN.feedback_id)?,
        expires_at: row.opt_int(COLUMN.expires_at)?,
        created_at: row.int(COLUMN.created_at)?,
    })
}

impl Store {
    /// Accounts with an instant email in a lane that does not pause, or with a digest about things before `digest_at`.
    pub async fn list_due_accounts(
        &self,
        now: i64,
        digest_at: i64,
        limit: i64,
    ) -> Result<Vec<DueAccount>, DbError> {
        let sql = concat!(
            "SELECT a.id, a.email, a.mode FROM (SELECT a.id, a.email, a.suspended_at, ",
            notify_mode!(),
            " AS mode FROM accounts a) AS a WHERE a.id IN (SELECT account_id FROM email_notices) \
             AND a.email IS NOT NULL AND a.suspended_at IS NULL \
             AND ((a.mode = 'instant' AND EXISTS (SELECT 1 FROM email_notices n WHERE n.account_id = a.id \
             AND NOT EXISTS (SELECT 1 FROM email_pauses p WHERE p.lane = n.lane AND p.until > $1))) \
             OR (a.mode = 'daily' AND EXISTS (SELECT 1 FROM email_notices n WHERE n.account_id = a.id \
             AND n.created_at < $2) \
             AND NOT EXISTS (SELECT 1 FROM email_pauses p WHERE p.lane = a.id AND p.until > $1))) \
             ORDER BY a.id LIMIT $3"
        );
        self.db
            .list(sql, vec![now.into(), digest_at.into(), limit.into()], |row| {
                Ok(DueAccount { id: row.string(0)?, email: row.string(1)?, mode: mode(row.text(2)?)? })
            })
            .await
    }

    /// The lanes of an account in which something waits and that do not pause.
    pub async fn list_due_lanes(
        &self,
        account_id: &str,
        now: i64,
        limit: i64,
    ) -> Result<Vec<String>, DbError> {
        let sql = "SELECT n.lane FROM email_notices n WHERE n.account_id = $1 \
                   AND NOT EXISTS (SELECT 1 FROM email_pauses p WHERE p.lane = n.lane AND p.until > $2) \
                   GROUP BY n.lane ORDER BY n.lane LIMIT $3";
        self.db.list(sql, vec![account_id.into(), now.into(), limit.into()], |row| row.string(0)).await
    }
}

/// Writes a notice, if the account has an address, wants emails, and not too much waits. That a page expires is always written,
/// because it is written once.
pub fn enqueue(notice: &EmailNotice) -> Stmt {
    let sql = "INSERT INTO email_notices (id, account_id, site_id, lane, kind, feedback_id, expires_at, created_at) \
         SELECT $1, a.id, $2, $3, $4, CAST($5 AS TEXT), CAST($6 AS BIGINT), CAST($7 AS BIGINT) FROM accounts a \
         WHERE a.id = $8 AND a.email IS NOT NULL AND a.suspended_at IS NULL \
         AND COALESCE(a.notify, CASE WHEN a.email_confirmed_at IS NULL THEN 'off' ELSE 'instant' END) <> 'off' \
         AND ($4 = 'expiring' OR (SELECT COUNT(*) FROM email_notices n WHERE n.account_id = $8) < $9)";
    Stmt::new(
        sql,
        vec![
            notice.id.as_str().into(),
            notice.site_id.as_str().into(),
            notice.lane.as_str().into(),
            notice.kind.as_str().into(),
            notice.feedback_id.as_deref().into(),
            notice.expires_at.into(),
            notice.created_at.into(),
            notice.account_id.as_str().into(),
            MOST_WAITING.into(),
        ],
    )
}

/// Begins the pause of a lane. Fails with [`PAUSED`] if it pauses already, because another node sends the email.
pub fn pause(lane: &str, until: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO email_pauses (lane, until) VALUES ($1, $2) \
         ON CONFLICT (lane) DO UPDATE SET until = excluded.until WHERE email_pauses.until <= $3",
        vec![lane.into(), until.into(), now.into()],
    )
    .one(PAUSED)
}

/// Sets the end of a pause, whatever it was.
pub fn set_pause(lane: &str, until: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO email_pauses (lane, until) VALUES ($1, $2) \
         ON CONFLICT (lane) DO UPDATE SET until = excluded.until",
        vec![lane.into(), until.into()],
    )
}

/// Deletes and returns what waits in a lane.
pub fn take_lane(account_id: &str, lane: &str) -> Stmt {
    Stmt::new(
        concat!(
            "DELETE FROM email_notices WHERE account_id = $1 AND lane = $2 RETURNING ",
            notice_columns!()
        ),
        vec![account_id.into(), lane.into()],
    )
}

/// Deletes and returns everything that waits for an account.
pub fn take_all(account_id: &str) -> Stmt {
    Stmt::new(
        concat!("DELETE FROM email_notices WHERE account_id = $1 RETURNING ", notice_columns!()),
        [account_id.into()],
    )
}

/// The notices that the statements returned, oldest first.
pub fn taken(outcomes: &[crate::Outcome]) -> Result<Vec<EmailNotice>, DbError> {
    let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
    let mut all = rows.map(|found| row(&found.as_row())).collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    Ok(all)
}

/// Deletes what was not sent for days, for example because the account is suspended, and pauses that have ended.
pub fn delete_old(now: i64) -> [Stmt; 2] {
    [
        Stmt::new("DELETE FROM email_notices WHERE created_at <= $1", [(now - KEPT_SECONDS).into()]),
        Stmt::new("DELETE FROM email_pauses WHERE until <= $1", [now.into()]),
    ]
}

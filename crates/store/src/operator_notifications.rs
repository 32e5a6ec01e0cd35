//! SQL for the emails that notify operators: which open reports and appeals they have been notified of.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;

/// Open reports, signals and appeals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperatorQueue {
    /// Reports by viewers, and the number of distinct pages among them.
    pub reports: i64,
    pub pages: i64,
    /// Pages with a signal.
    pub signals: i64,
    pub appeals: i64,
    /// When the oldest of all arrived.
    pub since: Option<i64>,
}

impl OperatorQueue {
    pub const fn is_empty(&self) -> bool {
        self.reports == 0 && self.signals == 0 && self.appeals == 0
    }
}

columns! {
    QueueColumns, queue_columns:
    reports = "r.many", pages = "r.pages", signals = "r.signals", reports_since = "r.since", appeals = "a.many", appeals_since = "a.since",
}

macro_rules! report_counts {
    () => {
        "COUNT(CASE WHEN signal IS NULL THEN 1 END) AS many, \
         COUNT(DISTINCT CASE WHEN signal IS NULL THEN site_id END) AS pages, \
         COUNT(DISTINCT CASE WHEN signal IS NOT NULL THEN site_id END) AS signals, MIN(created_at) AS since"
    };
}

const UNNOTIFIED: &str = concat!(
    "SELECT ",
    queue_columns!(),
    " FROM (SELECT ",
    report_counts!(),
    " FROM reports \
      WHERE closed_at IS NULL AND told < 2) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open' AND told < 2) AS a"
);
const ALL: &str = concat!(
    "SELECT ",
    queue_columns!(),
    " FROM (SELECT ",
    report_counts!(),
    " FROM reports \
      WHERE closed_at IS NULL) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open') AS a"
);
const IN_NOTIFICATION: &str = concat!(
    "SELECT ",
    queue_columns!(),
    " FROM (SELECT ",
    report_counts!(),
    " FROM reports \
      WHERE closed_at IS NULL AND told = 1) AS r, \
     (SELECT COUNT(*) AS many, MIN(created_at) AS since FROM appeals WHERE state = 'open' AND told = 1) AS a"
);

fn queue(row: &Row<'_>) -> Result<OperatorQueue, DbError> {
    const COLUMN: QueueColumns = QueueColumns::starting_at(0);
    let since =
        [row.opt_int(COLUMN.reports_since)?, row.opt_int(COLUMN.appeals_since)?].into_iter().flatten().min();
    Ok(OperatorQueue {
        reports: row.int(COLUMN.reports)?,
        pages: row.int(COLUMN.pages)?,
        signals: row.int(COLUMN.signals)?,
        appeals: row.int(COLUMN.appeals)?,
        since,
    })
}

impl Store {
    /// Open reports and appeals that no operator has certainly been notified of.
    pub async fn count_unnotified(&self) -> Result<OperatorQueue, DbError> {
        Ok(self.db.get(UNNOTIFIED, &[], queue).await?.unwrap_or_default())
    }

    /// Those in the email that is being prepared; see [`assign_to_notification`].
    pub async fn count_in_notification(&self) -> Result<OperatorQueue, DbError> {
        Ok(self.db.get(IN_NOTIFICATION, &[], queue).await?.unwrap_or_default())
    }

    /// All open reports and appeals.
    pub async fn count_operator_queue(&self) -> Result<OperatorQueue, DbError> {
        Ok(self.db.get(ALL, &[], queue).await?.unwrap_or_default())
    }

    /// Email addresses of the operator accounts.
    pub async fn list_operator_addresses(&self, limit: i64) -> Result<Vec<String>, DbError> {
        let sql = "SELECT email FROM accounts WHERE is_operator = 1 AND email IS NOT NULL \
                   ORDER BY created_at, id LIMIT $1";
        self.db.list(sql, vec![limit.into()], |row| row.string(0)).await
    }
}

/// Assigns everything new to the email that is about to be sent; what arrives later goes into the next one.
pub fn assign_to_notification() -> Vec<Stmt> {
    vec![
        Stmt::new("UPDATE reports SET told = 1 WHERE closed_at IS NULL AND told = 0", Vec::new()),
        Stmt::new("UPDATE appeals SET told = 1 WHERE state = 'open' AND told = 0", Vec::new()),
    ]
}

/// Marks that email as sent.
pub fn mark_notified() -> Vec<Stmt> {
    vec![
        Stmt::new("UPDATE reports SET told = 2 WHERE closed_at IS NULL AND told = 1", Vec::new()),
        Stmt::new("UPDATE appeals SET told = 2 WHERE state = 'open' AND told = 1", Vec::new()),
    ]
}

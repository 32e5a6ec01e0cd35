//! SQL for `figures`, and the counting behind them in steps. Each step reads a bounded number of rows in primary-key order,
//! so counting a million pages does not block other work.

use crate::db::{DbError, Row, Stmt};
use crate::store::Store;

/// The result of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountStep<const N: usize> {
    pub sums: [i64; N],
    /// The key after which the next step starts; `None` at the end of the table.
    pub last: Option<String>,
}

fn step<const N: usize>(row: &Row<'_>) -> Result<CountStep<N>, DbError> {
    let mut sums = [0; N];
    for (at, sum) in sums.iter_mut().enumerate() {
        *sum = row.int(at)?;
    }
    Ok(CountStep { sums, last: row.opt_string(N)? })
}

fn first<const N: usize>(found: Vec<CountStep<N>>) -> CountStep<N> {
    found.into_iter().next().unwrap_or(CountStep { sums: [0; N], last: None })
}

impl Store {
    /// Live pages and their bytes, the views of all pages, and how many were created since `day`.
    pub async fn count_sites(
        &self,
        now: i64,
        day: i64,
        after: &str,
        rows: i64,
    ) -> Result<CountStep<4>, DbError> {
        let found = self
            .db
            .list(
                "SELECT CAST(COALESCE(SUM(live), 0) AS BIGINT), CAST(COALESCE(SUM(live * byte_size), 0) AS BIGINT), \
                 CAST(COALESCE(SUM(view_count), 0) AS BIGINT), CAST(COALESCE(SUM(made), 0) AS BIGINT), MAX(id) \
                 FROM (SELECT id, byte_size, view_count, \
                 CASE WHEN state = 'live' AND (expires_at IS NULL OR expires_at > $1) THEN 1 ELSE 0 END AS live, \
                 CASE WHEN created_at >= $2 THEN 1 ELSE 0 END AS made \
                 FROM sites WHERE id > $3 ORDER BY id LIMIT $4) AS step_rows",
                vec![now.into(), day.into(), after.into(), rows.into()],
                step,
            )
            .await?;
        Ok(first(found))
    }

    pub async fn count_accounts(&self, after: &str, rows: i64) -> Result<CountStep<1>, DbError> {
        let found = self
            .db
            .list(
                "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2) AS step_rows",
                vec![after.into(), rows.into()],
                step,
            )
            .await?;
        Ok(first(found))
    }

    /// Comments that no owner has resolved.
    pub async fn count_feedback(&self, after: &str, rows: i64) -> Result<CountStep<1>, DbError> {
        let found = self
            .db
            .list(
                "SELECT CAST(COALESCE(SUM(waiting), 0) AS BIGINT), MAX(id) FROM \
                 (SELECT id, CASE WHEN resolved_at IS NULL THEN 1 ELSE 0 END AS waiting FROM feedback \
                 WHERE id > $1 ORDER BY id LIMIT $2) AS step_rows",
                vec![after.into(), rows.into()],
                step,
            )
            .await?;
        Ok(first(found))
    }

    /// The last counts: name, value and time of each. Without the state of backups, which is in the same table.
    pub async fn list_figures(&self) -> Result<Vec<(String, i64, i64)>, DbError> {
        let sql =
            "SELECT name, value, at FROM figures WHERE name NOT LIKE 'backup~_%' ESCAPE '~' ORDER BY name";
        self.db.list(sql, Vec::new(), |row| Ok((row.string(0)?, row.int(1)?, row.int(2)?))).await
    }
}

pub fn set(name: &str, value: i64, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO figures (name, value, at) VALUES ($1, $2, $3) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at",
        vec![name.into(), value.into(), now.into()],
    )
}

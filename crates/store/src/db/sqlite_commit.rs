//! Commits a group of batches as one SQLite transaction.

use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::sqlite_group_size::CommitTime;
use super::sqlite_types::{bind, own_row};
use super::{DbError, Expect, Outcome, OwnedRow, Stmt, Val};

pub(super) type BatchResult = Result<Vec<Outcome>, DbError>;

#[derive(Debug)]
pub(super) struct Batch {
    pub(super) stmts: Vec<Stmt>,
    pub(super) reply: oneshot::Sender<BatchResult>,
}

impl Batch {
    pub(super) fn weight(&self) -> usize {
        self.stmts.iter().flat_map(|stmt| &stmt.args).map(Val::weight).sum()
    }
}

/// Commits the group, then replies to every caller in it. Returns how long it took, if everything succeeded.
pub(super) fn commit(connection: &mut Connection, group: Vec<Batch>) -> Option<CommitTime> {
    match try_commit(connection, &group) {
        Ok((results, took)) => {
            for (batch, result) in group.into_iter().zip(results) {
                let _ = batch.reply.send(result);
            }
            took
        }
        Err(error) => {
            for batch in group {
                let _ = batch.reply.send(Err(error.clone()));
            }
            None
        }
    }
}

/// Runs the group as one transaction. An error means that nothing of it was committed.
///
/// Nearly every batch succeeds, so the group is tried without savepoints first: each savepoint copies every page it touches.
/// Only if a batch fails is the group rolled back and run again with a savepoint around each batch.
fn try_commit(
    connection: &Connection,
    group: &[Batch],
) -> Result<(Vec<BatchResult>, Option<CommitTime>), DbError> {
    let begun = Instant::now();
    control(connection, "BEGIN IMMEDIATE")?;
    let mut results = Vec::with_capacity(group.len());
    for batch in group {
        match run_batch(connection, &batch.stmts) {
            Ok(outcomes) => results.push(Ok(outcomes)),
            // A full disk and some I/O errors have already rolled back the transaction.
            Err(error) if connection.is_autocommit() => return Err(error),
            Err(error) => {
                control(connection, "ROLLBACK")?;
                if let [_] = group {
                    return Ok((vec![Err(error)], None));
                }
                return Ok((commit_with_savepoints(connection, group)?, None));
            }
        }
    }
    let done = Instant::now();
    control(connection, "COMMIT")?;
    Ok((results, Some(CommitTime { work: done - begun, sync: done.elapsed() })))
}

/// One transaction with a savepoint per batch: failed batches are rolled back alone.
fn commit_with_savepoints(connection: &Connection, group: &[Batch]) -> Result<Vec<BatchResult>, DbError> {
    control(connection, "BEGIN IMMEDIATE")?;
    let mut results = Vec::with_capacity(group.len());
    for batch in group {
        control(connection, "SAVEPOINT batch")?;
        let result = run_batch(connection, &batch.stmts);
        if let Err(error) = &result {
            if connection.is_autocommit() {
                return Err(error.clone());
            }
            control(connection, "ROLLBACK TO batch")?;
        }
        control(connection, "RELEASE batch")?;
        results.push(result);
    }
    control(connection, "COMMIT")?;
    Ok(results)
}

fn control(connection: &Connection, sql: &str) -> Result<(), DbError> {
    connection.prepare_cached(sql)?.raw_execute()?;
    Ok(())
}

fn run_batch(connection: &Connection, stmts: &[Stmt]) -> BatchResult {
    stmts.iter().map(|stmt| run_one(connection, stmt)).collect()
}

fn run_one(connection: &Connection, stmt: &Stmt) -> Result<Outcome, DbError> {
    let mut statement = connection.prepare_cached(&stmt.sql)?;
    bind(&mut statement, &stmt.args)?;
    let columns = statement.column_count();
    let outcome = if columns == 0 {
        Outcome { affected: statement.raw_execute()? as u64, rows: Vec::new() }
    } else {
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(OwnedRow(own_row(row, columns)?));
        }
        Outcome { affected: found.len() as u64, rows: found }
    };
    match stmt.expect {
        Expect::Rows(n, label) if n != outcome.affected => Err(DbError::Guard(label)),
        _ => Ok(outcome),
    }
}

//! Commits a group of batches as one SQLite transaction.

use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::sqlite_pace::Took;
use super::sqlite_types::{bind, own_row};
use super::{DbError, Expect, Outcome, OwnedRow, Stmt, Val};

pub(super) type Answer = Result<Vec<Outcome>, DbError>;

#[derive(Debug)]
pub(super) struct Batch {
    pub(super) stmts: Vec<Stmt>,
    pub(super) reply: oneshot::Sender<Answer>,
}

impl Batch {
    pub(super) fn weight(&self) -> usize {
        self.stmts.iter().flat_map(|stmt| &stmt.args).map(Val::weight).sum()
    }
}

/// Commits the group, then replies to every caller in it. Returns how long it took, if everything succeeded.
pub(super) fn commit(connection: &mut Connection, group: Vec<Batch>) -> Option<Took> {
    match try_commit(connection, &group) {
        Ok((answers, took)) => {
            for (batch, answer) in group.into_iter().zip(answers) {
                let _ = batch.reply.send(answer);
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
fn try_commit(connection: &Connection, group: &[Batch]) -> Result<(Vec<Answer>, Option<Took>), DbError> {
    let begun = Instant::now();
    control(connection, "BEGIN IMMEDIATE")?;
    let mut answers = Vec::with_capacity(group.len());
    for batch in group {
        match run_batch(connection, &batch.stmts) {
            Ok(outcomes) => answers.push(Ok(outcomes)),
            // A full disk and some I/O errors have already rolled back the transaction.
            Err(error) if connection.is_autocommit() => return Err(error),
            Err(error) => {
                control(connection, "ROLLBACK")?;
                if let [_] = group {
                    return Ok((vec![Err(error)], None));
                }
                return Ok((commit_apart(connection, group)?, None));
            }
        }
    }
    let done = Instant::now();
    control(connection, "COMMIT")?;
    Ok((answers, Some(Took { work: done - begun, sync: done.elapsed() })))
}

/// One transaction with a savepoint per batch: failed batches are rolled back alone.
fn commit_apart(connection: &Connection, group: &[Batch]) -> Result<Vec<Answer>, DbError> {
    control(connection, "BEGIN IMMEDIATE")?;
    let mut answers = Vec::with_capacity(group.len());
    for batch in group {
        control(connection, "SAVEPOINT act")?;
        let answer = run_batch(connection, &batch.stmts);
        if let Err(error) = &answer {
            if connection.is_autocommit() {
                return Err(error.clone());
            }
            control(connection, "ROLLBACK TO act")?;
        }
        control(connection, "RELEASE act")?;
        answers.push(answer);
    }
    control(connection, "COMMIT")?;
    Ok(answers)
}

fn control(connection: &Connection, sql: &str) -> Result<(), DbError> {
    connection.prepare_cached(sql)?.raw_execute()?;
    Ok(())
}

fn run_batch(connection: &Connection, stmts: &[Stmt]) -> Answer {
    stmts.iter().map(|stmt| run_one(connection, stmt)).collect()
}

fn run_one(connection: &Connection, stmt: &Stmt) -> Result<Outcome, DbError> {
    let mut statement = connection.prepare_cached(stmt.sql)?;
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

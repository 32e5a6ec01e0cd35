//! Guards that the server checks, so that COMMIT can be sent together with the statements.
//!
//! A guard is the number of rows that a statement must affect. Checked here, it costs a round trip before COMMIT, in which the
//! transaction holds its locks. A guarded statement therefore fails on the server if the number is another one, and a COMMIT
//! after a failed statement rolls back.

use std::borrow::Cow;

use tokio_postgres::error::SqlState;

use super::{DbError, Expect, Stmt};

/// The statement's text, so that it fails with a division by zero if its guard does. It returns nothing of use.
pub(super) fn guarded(stmt: &Stmt) -> Cow<'_, str> {
    let Expect::Rows(rows, _) = stmt.expect else { return Cow::Borrowed(&stmt.sql) };
    let sql = &stmt.sql;
    let has_rows = sql.contains("RETURNING") || sql.trim_start().starts_with("SELECT");
    let returning = if has_rows { "" } else { " RETURNING 1" };
    Cow::Owned(format!(
        "WITH done AS ({sql}{returning}) \
         SELECT 1 / (CASE WHEN COUNT(*) = {rows} THEN 1 ELSE 0 END) FROM done"
    ))
}

/// The failed guard that an error of a guarded statement means, if it is one.
pub(super) fn failed_guard(stmt: &Stmt, error: &tokio_postgres::Error) -> Option<DbError> {
    match stmt.expect {
        Expect::Rows(_, label) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => {
            Some(DbError::Guard(label))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guard_is_part_of_the_text() {
        let any = Stmt::new("DELETE FROM a", []);
        assert_eq!(guarded(&any), "DELETE FROM a");
        let one = guarded(&any.one("gone")).into_owned();
        assert!(one.starts_with("WITH done AS (DELETE FROM a RETURNING 1) SELECT 1 / ("), "{one}");
        assert!(one.contains("COUNT(*) = 1 "), "{one}");
        let returning = guarded(&Stmt::new("DELETE FROM a RETURNING b", []).rows(2, "two")).into_owned();
        assert!(returning.starts_with("WITH done AS (DELETE FROM a RETURNING b) "), "{returning}");
        assert!(returning.contains("COUNT(*) = 2 "), "{returning}");
        let select = guarded(&Stmt::new("SELECT b FROM a FOR UPDATE", []).one("found")).into_owned();
        assert!(select.starts_with("WITH done AS (SELECT b FROM a FOR UPDATE) "), "{select}");
    }
}

//! Converts between `Val` and SQLite values.

use bytes::Bytes;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Statement, ToSql};

use super::{DbError, Val};

/// Binds by position: SQLite numbers `$1…` in order of first appearance, and every statement here is written that way.
pub(super) fn bind(statement: &mut Statement<'_>, args: &[Val]) -> Result<(), DbError> {
    if statement.parameter_count() != args.len() {
        let wanted = statement.parameter_count();
        return Err(DbError::internal(format!("{} arguments for {wanted} placeholders", args.len())));
    }
    for (i, arg) in args.iter().enumerate() {
        debug_assert_eq!(statement.parameter_name(i + 1), Some(format!("${}", i + 1).as_str()));
        statement.raw_bind_parameter(i + 1, arg)?;
    }
    Ok(())
}

impl ToSql for Val {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Val::Null => ValueRef::Null,
            Val::Int(value) => ValueRef::Integer(*value),
            Val::Text(value) => ValueRef::Text(value.as_bytes()),
            Val::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

pub(crate) fn own_row(row: &rusqlite::Row<'_>, columns: usize) -> Result<Vec<Val>, DbError> {
    (0..columns).map(|i| own(row.get_ref(i)?)).collect()
}

fn own(value: ValueRef<'_>) -> Result<Val, DbError> {
    match value {
        ValueRef::Null => Ok(Val::Null),
        ValueRef::Integer(value) => Ok(Val::Int(value)),
        ValueRef::Text(value) => match std::str::from_utf8(value) {
            Ok(text) => Ok(Val::Text(text.to_owned())),
            Err(_) => Err(DbError::internal("stored text is not UTF-8")),
        },
        ValueRef::Blob(value) => Ok(Val::Bytes(Bytes::copy_from_slice(value))),
        ValueRef::Real(_) => Err(DbError::internal("unexpected REAL value: the schema has none")),
    }
}

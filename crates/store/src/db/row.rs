//! One row of either database, read by column number; see `columns.rs` for how columns get names.
//!
//! It borrows where the driver allows it, so a point read copies only what the caller keeps.

use rusqlite::types::ValueRef;

use super::pg_types::{PgInt, pg_text};
use super::{DbError, Val};

/// A borrowed view of a row.
#[derive(Debug)]
pub struct Row<'a>(Inner<'a>);

enum Inner<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Pg(&'a tokio_postgres::Row),
    Owned(&'a [Val]),
}

impl std::fmt::Debug for Inner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never prints the fields: rows hold hashes and tokens.
        f.write_str(match self {
            Inner::Sqlite(_) => "sqlite row",
            Inner::Pg(_) => "postgres row",
            Inner::Owned(_) => "owned row",
        })
    }
}

/// A field in the driver's buffer.
enum Field<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Row<'a> {
    pub(crate) fn sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        Row(Inner::Sqlite(row))
    }

    pub(crate) fn pg(row: &'a tokio_postgres::Row) -> Self {
        Row(Inner::Pg(row))
    }

    pub(crate) fn owned(fields: &'a [Val]) -> Self {
        Row(Inner::Owned(fields))
    }

    pub fn int(&self, i: usize) -> Result<i64, DbError> {
        self.opt_int(i)?.ok_or_else(|| null(i))
    }

    pub fn opt_int(&self, i: usize) -> Result<Option<i64>, DbError> {
        if let Inner::Pg(row) = &self.0 {
            return Ok(row.try_get::<_, Option<PgInt>>(i)?.map(|value| value.0));
        }
        match self.field(i)? {
            Field::Null => Ok(None),
            Field::Int(value) => Ok(Some(value)),
            _ => Err(other_type(i, "an integer")),
        }
    }

    pub fn text(&self, i: usize) -> Result<&str, DbError> {
        self.opt_text(i)?.ok_or_else(|| null(i))
    }

    pub fn opt_text(&self, i: usize) -> Result<Option<&str>, DbError> {
        if let Inner::Pg(row) = &self.0 {
            return pg_text(row, i);
        }
        match self.field(i)? {
            Field::Null => Ok(None),
            Field::Text(value) => Ok(Some(value)),
            _ => Err(other_type(i, "text")),
        }
    }

    pub fn string(&self, i: usize) -> Result<String, DbError> {
        self.text(i).map(str::to_owned)
    }

    pub fn opt_string(&self, i: usize) -> Result<Option<String>, DbError> {
        Ok(self.opt_text(i)?.map(str::to_owned))
    }

    pub fn bytes(&self, i: usize) -> Result<&[u8], DbError> {
        self.opt_bytes(i)?.ok_or_else(|| null(i))
    }

    pub fn opt_bytes(&self, i: usize) -> Result<Option<&[u8]>, DbError> {
        if let Inner::Pg(row) = &self.0 {
            return Ok(row.try_get::<_, Option<&[u8]>>(i)?);
        }
        match self.field(i)? {
            Field::Null => Ok(None),
            Field::Bytes(value) => Ok(Some(value)),
            _ => Err(other_type(i, "bytes")),
        }
    }

    pub fn flag(&self, i: usize) -> Result<bool, DbError> {
        Ok(self.int(i)? != 0)
    }

    pub fn hash(&self, i: usize) -> Result<[u8; 32], DbError> {
        self.opt_hash(i)?.ok_or_else(|| null(i))
    }

    pub fn opt_hash(&self, i: usize) -> Result<Option<[u8; 32]>, DbError> {
        let hash = self.opt_bytes(i)?.map(<[u8; 32]>::try_from).transpose();
        hash.map_err(|_| other_type(i, "a hash of 32 bytes"))
    }

    fn field(&self, i: usize) -> Result<Field<'_>, DbError> {
        match &self.0 {
            Inner::Sqlite(row) => match row.get_ref(i)? {
                ValueRef::Null => Ok(Field::Null),
                ValueRef::Integer(value) => Ok(Field::Int(value)),
                ValueRef::Text(value) => {
                    std::str::from_utf8(value).map(Field::Text).map_err(|_| other_type(i, "UTF-8 text"))
                }
                ValueRef::Blob(value) => Ok(Field::Bytes(value)),
                ValueRef::Real(_) => Err(other_type(i, "an integer, text or bytes")),
            },
            Inner::Owned(fields) => match fields.get(i) {
                Some(Val::Null) => Ok(Field::Null),
                Some(Val::Int(value)) => Ok(Field::Int(*value)),
                Some(Val::Text(value)) => Ok(Field::Text(value)),
                Some(Val::Bytes(value)) => Ok(Field::Bytes(value)),
                None => Err(DbError::internal(format!("no column {i}"))),
            },
            Inner::Pg(_) => Err(DbError::internal("PostgreSQL rows must be read by type")),
        }
    }
}

fn null(i: usize) -> DbError {
    DbError::internal(format!("column {i} is null"))
}

fn other_type(i: usize, wanted: &str) -> DbError {
    DbError::internal(format!("column {i} is not {wanted}"))
}

//! Converts between `Val` and the wire types of PostgreSQL.

use std::error::Error;

use bytes::{Bytes, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::{DbError, Val};

type Failure = Box<dyn Error + Sync + Send>;

impl ToSql for Val {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        match self {
            Val::Null => Ok(IsNull::Yes),
            Val::Int(value) => match *ty {
                Type::INT8 => value.to_sql(ty, out),
                Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
                Type::INT2 => i16::try_from(*value)?.to_sql(ty, out),
                Type::BOOL => (*value != 0).to_sql(ty, out),
                _ => Err(mismatch("an integer", ty)),
            },
            Val::Text(value) if <&str as ToSql>::accepts(ty) => value.as_str().to_sql(ty, out),
            Val::Text(_) => Err(mismatch("text", ty)),
            Val::Bytes(value) if *ty == Type::BYTEA => value.as_ref().to_sql(ty, out),
            Val::Bytes(_) => Err(mismatch("bytes", ty)),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn mismatch(given: &str, ty: &Type) -> Failure {
    format!("{given} bound where the statement takes {ty}").into()
}

/// Any integer or boolean: in PostgreSQL `SELECT 1` is an INT4 and `EXISTS` a BOOL, in SQLite both are integers.
pub(super) struct PgInt(pub(super) i64);

impl<'a> FromSql<'a> for PgInt {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        Ok(PgInt(match *ty {
            Type::INT8 => i64::from_sql(ty, raw)?,
            Type::INT4 => i32::from_sql(ty, raw)?.into(),
            Type::INT2 => i16::from_sql(ty, raw)?.into(),
            _ => bool::from_sql(ty, raw)?.into(),
        }))
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::INT4 | Type::INT2 | Type::BOOL)
    }
}

pub(super) fn pg_text(row: &tokio_postgres::Row, i: usize) -> Result<Option<&str>, DbError> {
    Ok(row.try_get::<_, Option<&str>>(i)?)
}

/// Copies a row out of the driver's buffer.
pub(crate) fn own(row: &tokio_postgres::Row) -> Result<Vec<Val>, DbError> {
    let mut fields = Vec::with_capacity(row.len());
    for (i, column) in row.columns().iter().enumerate() {
        fields.push(match *column.type_() {
            Type::BYTEA => row
                .try_get::<_, Option<&[u8]>>(i)?
                .map_or(Val::Null, |b| Val::Bytes(Bytes::copy_from_slice(b))),
            Type::VOID => Val::Null,
            ref ty if PgInt::accepts(ty) => {
                row.try_get::<_, Option<PgInt>>(i)?.map_or(Val::Null, |value| Val::Int(value.0))
            }
            _ => pg_text(row, i)?.map_or(Val::Null, Val::from),
        });
    }
    Ok(fields)
}

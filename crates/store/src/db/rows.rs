//! Collects the rows of a read behind a trait object, so that reading is compiled once and not for each type of value.

use super::{DbError, Row};
use std::any::Any;

/// Takes the rows of a read, one by one.
pub(super) trait Rows: Any + Send {
    /// Whether no more rows are wanted.
    fn is_full(&self) -> bool;
    fn push(&mut self, row: &Row<'_>) -> Result<(), DbError>;
    /// Drops what was collected, before a read is repeated.
    fn clear(&mut self);
}

/// Rows mapped to values.
pub(super) struct Mapped<T> {
    map: fn(&Row<'_>) -> Result<T, DbError>,
    limit: usize,
    pub found: Vec<T>,
}

impl<T> Mapped<T> {
    pub(super) const fn new(map: fn(&Row<'_>) -> Result<T, DbError>, limit: usize) -> Self {
        Self { map, limit, found: Vec::new() }
    }
}

impl<T: Send + 'static> Rows for Mapped<T> {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), DbError> {
        self.found.push((self.map)(row)?);
        Ok(())
    }

    fn clear(&mut self) {
        self.found.clear();
    }
}

/// The rows as the type they were created with.
pub(super) fn downcast<T: Send + 'static>(rows: Box<dyn Rows>) -> Result<Box<Mapped<T>>, DbError> {
    let rows: Box<dyn Any> = rows;
    rows.downcast().map_err(|_| DbError::internal("rows of another type"))
}

//! A bound value, of one of the three types the schema uses.
//!
//! Booleans are stored as 0 and 1, times as epoch seconds.

use bytes::Bytes;

/// One bound argument or one stored field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Val {
    Null,
    Int(i64),
    Text(String),
    Bytes(Bytes),
}

impl Val {
    /// Whether both databases can store it.
    pub(super) fn is_storable(&self) -> bool {
        !matches!(self, Val::Text(text) if text.as_bytes().contains(&0))
    }

    /// Its size as the writer counts it when it limits the queue and the size of a commit.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Val::Null | Val::Int(_) => 8,
            Val::Text(text) => text.len(),
            Val::Bytes(bytes) => bytes.len(),
        }
    }
}

impl From<i64> for Val {
    fn from(value: i64) -> Self {
        Val::Int(value)
    }
}

impl From<bool> for Val {
    fn from(value: bool) -> Self {
        Val::Int(i64::from(value))
    }
}

impl From<u64> for Val {
    fn from(value: u64) -> Self {
        Val::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Val {
    fn from(value: u32) -> Self {
        Val::Int(i64::from(value))
    }
}

impl From<usize> for Val {
    fn from(value: usize) -> Self {
        Val::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Val {
    fn from(value: &str) -> Self {
        Val::Text(value.to_owned())
    }
}

impl From<String> for Val {
    fn from(value: String) -> Self {
        Val::Text(value)
    }
}

impl From<&String> for Val {
    fn from(value: &String) -> Self {
        Val::Text(value.clone())
    }
}

impl From<Bytes> for Val {
    fn from(value: Bytes) -> Self {
        Val::Bytes(value)
    }
}

impl From<Vec<u8>> for Val {
    fn from(value: Vec<u8>) -> Self {
        Val::Bytes(value.into())
    }
}

impl From<&[u8]> for Val {
    fn from(value: &[u8]) -> Self {
        Val::Bytes(Bytes::copy_from_slice(value))
    }
}

impl From<[u8; 32]> for Val {
    fn from(value: [u8; 32]) -> Self {
        Val::Bytes(Bytes::copy_from_slice(&value))
    }
}

impl From<&[u8; 32]> for Val {
    fn from(value: &[u8; 32]) -> Self {
        Val::Bytes(Bytes::copy_from_slice(value))
    }
}

impl<T: Into<Val>> From<Option<T>> for Val {
    fn from(value: Option<T>) -> Self {
        value.map_or(Val::Null, Into::into)
    }
}

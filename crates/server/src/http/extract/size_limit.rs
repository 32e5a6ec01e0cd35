//! The error of an upload that is too large.

use dropleaf_core::{Code, Error, Result};

/// Refuses an upload over the size limit.
pub(in crate::http) fn check_size(size: u64, limit: u64) -> Result<()> {
    if size > limit { Err(too_large(limit)) } else { Ok(()) }
}

pub(in crate::http) fn too_large(limit: u64) -> Error {
    Error::new(Code::TooLarge, format!("The upload exceeds the limit of {limit} bytes."))
}

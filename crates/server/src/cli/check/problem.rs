//! Why a file or folder cannot be checked or published, apart from what the checks find in its content.

use dropleaf_core::Error;
use std::io;

/// Why the file could not be checked, or cannot be published even though the checks accept it.
#[derive(Debug)]
pub(super) struct FileProblem {
    pub(super) code: &'static str,
    pub(super) why: String,
}

impl FileProblem {
    pub(super) fn unreadable(error: &io::Error) -> Self {
        Self { code: "unreadable", why: format!("cannot be read: {error}") }
    }
}

impl From<Error> for FileProblem {
    fn from(error: Error) -> Self {
        Self { code: error.code.as_str(), why: error.detail }
    }
}

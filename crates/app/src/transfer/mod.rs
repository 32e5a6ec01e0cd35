//! Moves one account between servers: writes an export, and imports one, whatever the database and the store of bodies are.
//! `docs/export.md` describes the format.

mod archive;
mod export;
mod feedback_record;
mod format;
mod import;
mod import_page;
mod record_check;
mod upload;

pub use export::Exported;
pub use import::{ImportTarget, Imported};

/// How far an export or import is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferProgress {
    pub done: u64,
    pub total: u64,
}

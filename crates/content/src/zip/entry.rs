//! An entry of an archive as the central directory describes it, and how numbers are read from zip records.

use crate::refusal::{Refusal, RefusalCode};

#[derive(Debug)]
pub(super) struct ZipEntry {
    /// With slashes as separators, and a trailing slash for folders.
    pub(super) name: String,
    /// The name as written in the archive: some tools use backslashes as separators.
    pub(super) written: String,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) offset: u64,
    /// Whether one of its numbers was given as a 64-bit value.
    pub(super) is_zip64: bool,
}

impl ZipEntry {
    /// A file that is not in an archive yet.
    pub(super) fn named(name: String) -> Self {
        let written = name.clone();
        Self { name, written, flags: 0, method: 0, crc: 0, packed: 0, size: 0, offset: 0, is_zip64: false }
    }

    pub(super) fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }

    pub(super) fn refusal(&self, detail: impl Into<String>) -> Refusal {
        Refusal::of_entry(RefusalCode::InvalidArchive, self.name.as_bytes(), detail)
    }
}

/// Little-endian numbers; 0 beyond the end of the record.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

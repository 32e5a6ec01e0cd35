//! The reasons why an upload is refused, in words for its publisher.

use std::fmt;
use std::io;

/// The stable code of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    EmptyFile,
    UnsupportedType,
    InvalidArchive,
    MissingIndex,
    ForbiddenName,
    TooLarge,
    TooManyFiles,
    InvalidPdf,
    InvalidCiphertext,
    NotText,
    Io,
}

impl RefusalCode {
    pub const ALL: [Self; 11] = [
        Self::EmptyFile,
        Self::UnsupportedType,
        Self::InvalidArchive,
        Self::MissingIndex,
        Self::ForbiddenName,
        Self::TooLarge,
        Self::TooManyFiles,
        Self::InvalidPdf,
        Self::InvalidCiphertext,
        Self::NotText,
        Self::Io,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyFile => "empty_file",
            Self::UnsupportedType => "unsupported_type",
            Self::InvalidArchive => "invalid_archive",
            Self::MissingIndex => "missing_index",
            Self::ForbiddenName => "forbidden_name",
            Self::TooLarge => "too_large",
            Self::TooManyFiles => "too_many_files",
            Self::InvalidPdf => "invalid_pdf",
            Self::InvalidCiphertext => "invalid_ciphertext",
            Self::NotText => "not_text",
            Self::Io => "io",
        }
    }
}

/// A refusal. Displayed as a sentence that says which entry, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: RefusalCode,
    /// The archive entry at fault, escaped and shortened so that it is safe to show anywhere.
    pub entry: Option<String>,
    pub detail: String,
    io_kind: Option<io::ErrorKind>,
}

impl Refusal {
    pub fn new(code: RefusalCode, detail: impl Into<String>) -> Self {
        Self { code, entry: None, detail: detail.into(), io_kind: None }
    }

    /// Whether the disk of the spool directory was full: the caller may try again later.
    pub fn is_storage_full(&self) -> bool {
        matches!(self.io_kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    pub(crate) fn archive(detail: impl Into<String>) -> Self {
        Self::new(RefusalCode::InvalidArchive, detail)
    }

    /// Names the entry at fault. `detail` must continue the sentence after "was refused:".
    pub(crate) fn of_entry(code: RefusalCode, name: &[u8], detail: impl Into<String>) -> Self {
        Self { entry: Some(shown_name(name)), ..Self::new(code, detail) }
    }

    /// Refuses an entry for its name.
    pub(crate) fn forbidden_name(name: &[u8], detail: impl Into<String>) -> Self {
        Self::of_entry(RefusalCode::ForbiddenName, name, detail)
    }

    pub(crate) fn too_large(size: u64, limit: u64) -> Self {
        Self::new(
            RefusalCode::TooLarge,
            format!(
                "The content is {size} bytes, which exceeds the limit of {limit} bytes. Make it smaller and send it again."
            ),
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(entry) => write!(f, "The archive entry \"{entry}\" was refused: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        let detail = format!("The upload could not be read or stored: {error}. Try again later.");
        Self { io_kind: Some(error.kind()), ..Self::new(RefusalCode::Io, detail) }
    }
}

const SHOWN_CHARS: usize = 80;

/// Makes an untrusted name safe to print: escapes control, invisible and direction characters, and shortens the name.
pub(crate) fn shown_name(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let mut shown = String::new();
    for (index, c) in name.chars().enumerate() {
        if index == SHOWN_CHARS {
            shown.push('…');
            break;
        }
        let invisible = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if c.is_control() || invisible {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_the_escaped_entry_and_the_reason() {
        let refusal = Refusal::of_entry(RefusalCode::ForbiddenName, b"a\0\x1b/\xe2\x80\xaeb", "no.");
        assert_eq!(refusal.to_string(), "The archive entry \"a\\u{0}\\u{1b}/\\u{202e}b\" was refused: no.");
    }

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(shown_name(&[b'x'; 5000]).chars().count(), 81);
    }

    #[test]
    fn a_full_disk_is_recognised() {
        assert!(Refusal::from(io::Error::from(io::ErrorKind::StorageFull)).is_storage_full());
        assert!(!Refusal::from(io::Error::from(io::ErrorKind::NotFound)).is_storage_full());
    }

    #[test]
    fn codes_are_distinct_snake_case() {
        let names: std::collections::HashSet<_> = RefusalCode::ALL.iter().map(|c| c.as_str()).collect();
        assert_eq!(names.len(), RefusalCode::ALL.len());
        assert!(names.iter().all(|n| n.chars().all(|c| c.is_ascii_lowercase() || c == '_')));
    }
}

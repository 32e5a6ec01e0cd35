//! A bundle: the checked files of one page, ready to be stored.

use bytes::Bytes;
use dropleaf_core::program::PROGRAM;

use crate::mime::HTML;
use crate::paths::{INDEX, RESERVED};
use crate::references::address_warnings::AddressWarnings;
use crate::references::addressing::Addressing;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BundleKind {
    Html,
    Markdown,
    Pdf,
    Zip,
    /// One file that is served with its own media type, such as a picture.
    File,
    E2e,
}

impl BundleKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Pdf => "pdf",
            Self::Zip => "zip",
            Self::File => "file",
            Self::E2e => "e2e",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Html, Self::Markdown, Self::Pdf, Self::Zip, Self::File, Self::E2e]
            .into_iter()
            .find(|k| k.as_str() == text)
    }
}

/// The form in which a body is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    Identity,
    Zstd,
}

impl Encoding {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Zstd => "zstd",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Identity, Self::Zstd].into_iter().find(|e| e.as_str() == text)
    }
}

#[derive(Debug)]
pub struct Bundle {
    pub kind: BundleKind,
    pub title: String,
    /// The path of the file served at the page's root.
    pub entry: String,
    /// Sorted by path; paths are unique.
    pub files: Vec<File>,
    pub warnings: Vec<String>,
    /// The sum of the sizes of the files a viewer can request.
    pub size_bytes: u64,
    pub addressing: Addressing,
    /// The name under which a single file was sent, if it can be part of a URL.
    pub file_name: Option<String>,
    /// Warnings for the publisher that apply only at some addresses.
    pub address_warnings: AddressWarnings,
    /// Why the feedback toolbar cannot be shown; sent to the publisher who requests the toolbar.
    pub toolbar_warning: Option<String>,
}

#[derive(Debug)]
pub struct File {
    pub path: String,
    pub mime: &'static str,
    /// BLAKE3 of the identity bytes, whatever the stored encoding is.
    pub hash: [u8; 32],
    /// Size of the identity bytes.
    pub size_bytes: u64,
    pub body: Body,
    /// The identity bytes of a small file that is stored compressed, so that the checks need not unpack it.
    pub plain: Option<Bytes>,
}

#[derive(Debug)]
pub enum Body {
    Packed {
        encoding: Encoding,
        bytes: Bytes,
    },
    /// An unlinked temporary file, positioned at its start.
    Spooled {
        encoding: Encoding,
        file: std::fs::File,
        stored_bytes: u64,
    },
}

impl Body {
    pub fn encoding(&self) -> Encoding {
        match self {
            Self::Packed { encoding, .. } | Self::Spooled { encoding, .. } => *encoding,
        }
    }

    pub fn stored_bytes(&self) -> u64 {
        match self {
            Self::Packed { bytes, .. } => bytes.len() as u64,
            Self::Spooled { stored_bytes, .. } => *stored_bytes,
        }
    }
}

impl Bundle {
    pub(crate) fn assemble(
        kind: BundleKind,
        title: String,
        entry: String,
        mut files: Vec<File>,
        warnings: Vec<String>,
    ) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let size_bytes = files.iter().filter(|f| !is_reserved(&f.path)).map(|f| f.size_bytes).sum();
        Self {
            kind,
            title,
            entry,
            files,
            warnings,
            size_bytes,
            addressing: Addressing::default(),
            file_name: None,
            address_warnings: AddressWarnings::default(),
            toolbar_warning: None,
        }
    }

    /// Frees what only the checks read.
    pub fn drop_plain(&mut self) {
        for file in &mut self.files {
            file.plain = None;
        }
    }

    /// The first file that is a program for the viewer's computer, if any. Files below `_dropleaf/` are not served to viewers.
    pub fn program(&self) -> Option<&File> {
        self.files.iter().find(|file| file.mime == PROGRAM && !is_reserved(&file.path))
    }

    /// Whether the entry file is an HTML page.
    pub fn has_page(&self) -> bool {
        self.files.iter().any(|file| file.path == self.entry && file.mime == HTML)
    }

    /// Whether there is an `index.html` to answer paths that name no file.
    pub fn can_answer_routes(&self) -> bool {
        matches!(self.kind, BundleKind::Html | BundleKind::Zip) && self.entry == INDEX
    }

    /// A hash of everything that was sent: the paths and contents of all files.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for file in &self.files {
            hasher.update(&(file.path.len() as u64).to_le_bytes());
            hasher.update(file.path.as_bytes());
            hasher.update(&file.hash);
        }
        hasher.finalize().into()
    }
}

fn is_reserved(path: &str) -> bool {
    path.split('/').next() == Some(RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, size_bytes: u64) -> File {
        let body = Body::Packed { encoding: Encoding::Identity, bytes: Bytes::new() };
        File { path: path.to_owned(), mime: "text/plain", hash: [0; 32], size_bytes, body, plain: None }
    }

    fn bundle(entry: &str, files: Vec<File>) -> Bundle {
        Bundle::assemble(BundleKind::Zip, String::new(), entry.to_owned(), files, Vec::new())
    }

    #[test]
    fn files_are_sorted_by_path() {
        let made = bundle("a", vec![file("b", 2), file("a", 1)]);
        assert_eq!(made.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn reserved_files_do_not_count_for_the_viewer() {
        let made = bundle("a", vec![file("a", 5), file("_dropleaf/source.md", 7), file("_dropleafs", 1)]);
        assert_eq!(made.size_bytes, 6);
    }

    #[test]
    fn kinds_and_encodings_parse_back() {
        for kind in [
            BundleKind::Html,
            BundleKind::Markdown,
            BundleKind::Pdf,
            BundleKind::Zip,
            BundleKind::File,
            BundleKind::E2e,
        ] {
            assert_eq!(BundleKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(BundleKind::parse("exe"), None);
        assert_eq!(Encoding::parse("zstd"), Some(Encoding::Zstd));
        assert_eq!(Encoding::parse("gzip"), None);
    }
}

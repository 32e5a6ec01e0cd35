//! The texts of a bundle, decompressed and decoded once for all their readers: the phishing check, the similarity check and
//! the secret scanner. They are all in memory together, because a page is checked with the scripts it loads; the limits of an
//! upload bound their size.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io;

use super::dry_run::is_text_name;
use super::file_text::{charset_of_pages, text_of};
use crate::bundle::{Bundle, BundleKind};
use crate::mime::{MARKDOWN, is_active, is_script, mime_of};
use crate::paths::RESERVED;

#[derive(Debug)]
pub struct BundleTexts<'b> {
    pub kind: BundleKind,
    pub files: Vec<TextFile<'b>>,
}

/// A file and its text.
#[derive(Debug)]
pub struct TextFile<'b> {
    pub path: &'b str,
    pub hash: [u8; 32],
    pub size_bytes: u64,
    /// Empty for files without text.
    pub text: Cow<'b, str>,
}

impl TextFile<'_> {
    /// Whether its path is reserved for the service: it is stored beside the publisher's files.
    pub fn is_reserved(&self) -> bool {
        self.path.split('/').next() == Some(RESERVED)
    }
}

impl<'b> BundleTexts<'b> {
    /// Reads every text of a bundle, including data. Spooled files are left positioned at their start.
    pub fn of(bundle: &'b Bundle) -> io::Result<Self> {
        Self::read(bundle, is_text_name)
    }

    /// Reads only pages, their sources and scripts: enough for the phishing and similarity checks.
    pub fn of_pages(bundle: &'b Bundle) -> io::Result<Self> {
        Self::read(bundle, is_page)
    }

    fn read(bundle: &'b Bundle, selects: impl Fn(&str) -> bool) -> io::Result<Self> {
        let readable = bundle.kind != BundleKind::E2e;
        // Determined once, however many scripts need it.
        let pages = OnceCell::new();
        let charset = || match pages.get() {
            Some(known) => Ok(*known),
            None => charset_of_pages(&bundle.files).inspect(|found| {
                let _ = pages.set(*found);
            }),
        };
        let files = bundle.files.iter().map(|file| {
            let text =
                if readable && selects(&file.path) { text_of(file, charset)? } else { Cow::Borrowed("") };
            Ok(TextFile { path: &file.path, hash: file.hash, size_bytes: file.size_bytes, text })
        });
        let files = files.collect::<io::Result<_>>()?;
        Ok(Self { kind: bundle.kind, files })
    }
}

/// Whether a file is a page, a script or the source of a page, by its media type.
fn is_page(path: &str) -> bool {
    let mime = mime_of(path);
    is_active(mime) || is_script(mime) || mime == MARKDOWN
}

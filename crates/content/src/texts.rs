//! The texts of a bundle, decompressed and decoded once for all their readers: the phishing check, the similarity check and
//! the secret scanner. They are all in memory together, because a page is checked with the scripts it loads; the limits of an
//! upload bound their size.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io;

use crate::bundle::{Bundle, Kind};
use crate::file_text::{charset_of_pages, text_of};
use crate::loose::is_read;
use crate::phishing;
use crate::phishing::site;

#[derive(Debug)]
pub struct Texts<'b> {
    pub(crate) kind: Kind,
    pub(crate) files: Vec<Read<'b>>,
}

/// A file and its text.
#[derive(Debug)]
pub(crate) struct Read<'b> {
    pub(crate) path: &'b str,
    pub(crate) hash: [u8; 32],
    pub(crate) size_bytes: u64,
    /// Empty for files without text.
    pub(crate) text: Cow<'b, str>,
}

impl<'b> Texts<'b> {
    /// Reads every text of a bundle, including data. Spooled files are left positioned at their start.
    pub fn of(bundle: &'b Bundle) -> io::Result<Self> {
        Self::read(bundle, is_read)
    }

    /// Reads only pages, their sources and scripts: enough for the phishing and similarity checks.
    pub fn of_pages(bundle: &'b Bundle) -> io::Result<Self> {
        Self::read(bundle, is_page)
    }

    fn read(bundle: &'b Bundle, wanted: impl Fn(&str) -> bool) -> io::Result<Self> {
        let readable = bundle.kind != Kind::E2e;
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
                if readable && wanted(&file.path) { text_of(file, charset)? } else { Cow::Borrowed("") };
            Ok(Read { path: &file.path, hash: file.hash, size_bytes: file.size_bytes, text })
        });
        let files = files.collect::<io::Result<_>>()?;
        Ok(Self { kind: bundle.kind, files })
    }

    /// The files in the form that the phishing check takes.
    pub fn files(&self) -> Vec<phishing::File<'_>> {
        self.files.iter().map(|file| phishing::File { path: file.path, text: &file.text }).collect()
    }
}

fn is_page(path: &str) -> bool {
    site::kind(path) != site::Kind::Other
}

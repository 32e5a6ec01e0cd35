//! The input of the checks: the files of one upload with their texts, decoded by the caller.

use crate::phishing::File;

/// The files of an upload.
#[derive(Debug)]
pub struct UploadTexts<'a> {
    pub files: Vec<UploadFile<'a>>,
    /// The upload is one Markdown document; its source is the reserved file.
    pub is_markdown: bool,
}

/// A file and its text.
#[derive(Debug, Clone, Copy)]
pub struct UploadFile<'a> {
    pub path: &'a str,
    /// Empty for files without text.
    pub text: &'a str,
    /// A digest of the file's bytes.
    pub hash: [u8; 32],
    pub size_bytes: u64,
    /// Stored by the service beside the publisher's files, such as the source of a rendered page.
    pub is_reserved: bool,
}

impl<'a> UploadTexts<'a> {
    /// The files in the form that the phishing check takes.
    pub fn files(&self) -> Vec<File<'a>> {
        self.files.iter().map(|file| File { path: file.path, text: file.text }).collect()
    }
}

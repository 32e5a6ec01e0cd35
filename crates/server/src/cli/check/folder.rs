//! Reads the files of a folder that `dropleaf publish` would send, as a .zip of them would be read.

use super::problem::FileProblem;
use crate::cli::remote::{FolderFile, FolderListing};
use dropleaf_content::{Limits, decode_for_check, find_archive_root, is_text_name};
use dropleaf_core::{Code, Error};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The files of a page in a folder.
pub(super) struct Folder {
    /// The inner folder that holds everything, with its slash; usually empty.
    pub(super) root: String,
    /// Paths below the root with their texts; files that are not checked have an empty text.
    pub(super) texts: Vec<(String, String)>,
    /// Why an archive of it would be refused.
    pub(super) problem: Option<FileProblem>,
    /// What would not be sent, and why.
    pub(super) warnings: Vec<String>,
}

pub(super) fn read(folder: &Path, limits: &Limits) -> Result<Folder, FileProblem> {
    let listing = FolderListing::walk(folder)
        .map_err(|error| FileProblem { code: "unreadable", why: format!("{error:#}") })?;
    let Limits { files, unpacked_bytes, .. } = *limits;
    if listing.files.len() > files {
        return Err(Error::new(Code::TooManyFiles, format!("it has more than {files} files")).into());
    }
    if listing.total_size() > unpacked_bytes {
        return Err(Error::new(Code::TooLarge, format!("its files exceed {unpacked_bytes} bytes")).into());
    }
    let names: Vec<String> = listing.files.iter().map(|file| file.name.clone()).collect();
    let (root, problem) = match find_archive_root(&names, limits) {
        Ok(root) => (root, None),
        Err(refusal) => {
            let why = refusal.to_string().replace("The archive has", "An archive of this folder has");
            (String::new(), Some(FileProblem { code: refusal.code.as_str(), why }))
        }
    };
    let mut texts = Vec::with_capacity(listing.files.len());
    for file in &listing.files {
        let text = text(file).map_err(|error| FileProblem::unreadable(&error))?;
        texts.push((file.name.strip_prefix(&root).unwrap_or(&file.name).to_owned(), text));
    }
    let warnings = listing.skipped.iter().map(|skipped| {
        format!("{} would not be sent: it is {}.", folder.join(&skipped.name).display(), skipped.why)
    });
    Ok(Folder { root, texts, problem, warnings: warnings.collect() })
}

/// The text of a file, or an empty one if files of its kind are not checked.
fn text(file: &FolderFile) -> io::Result<String> {
    if !is_text_name(&file.name) {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile ends where it ended when it was listed.
    File::open(&file.from)?.take(file.size).read_to_end(&mut bytes)?;
    Ok(decode_for_check(&file.name, bytes).text)
}

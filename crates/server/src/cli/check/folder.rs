//! Reads a folder with the files of a page as a .zip of it would be read.

use super::problem::FileProblem;
use dropleaf_content::{Limits, decode_for_check, find_archive_root, is_excluded, is_text_name};
use dropleaf_core::{Code, Error};
use std::fs;
use std::io;
use std::path::Path;

/// The files of a page in a folder.
pub(super) struct Folder {
    /// The inner folder that holds everything, with its slash; usually empty.
    pub(super) root: String,
    /// Paths below the root with their texts; files that are not checked have an empty text.
    pub(super) texts: Vec<(String, String)>,
    /// Why an archive of it would be refused.
    pub(super) problem: Option<FileProblem>,
}

pub(super) fn read(folder: &Path, limits: &Limits) -> Result<Folder, FileProblem> {
    let mut reader =
        FolderReader { limits, names: Vec::new(), texts: Vec::new(), room: limits.unpacked_bytes };
    reader.collect(folder, "")?;
    let (root, problem) = match find_archive_root(&reader.names, limits) {
        Ok(root) => (root, None),
        Err(refusal) => {
            let why = refusal.to_string().replace("The archive has", "An archive of this folder has");
            (String::new(), Some(FileProblem { code: refusal.code.as_str(), why }))
        }
    };
    let below = |path: String| path.strip_prefix(&root).map(str::to_owned).unwrap_or(path);
    let texts = reader.texts.into_iter().map(|(path, text)| (below(path), text)).collect();
    Ok(Folder { root, texts, problem })
}

struct FolderReader<'a> {
    limits: &'a Limits,
    /// The names of all files and folders.
    names: Vec<String>,
    texts: Vec<(String, String)>,
    room: u64,
}

impl FolderReader<'_> {
    fn collect(&mut self, folder: &Path, inside: &str) -> Result<(), FileProblem> {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = entries.map_err(|error| FileProblem::unreadable(&error))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{inside}{name}");
            if is_excluded(&path) {
                continue;
            }
            let kind = entry.file_type().map_err(|error| FileProblem::unreadable(&error))?;
            // A link to a folder may lead back here, so only links to files are followed.
            if kind.is_dir() {
                let path = format!("{path}/");
                self.collect(&entry.path(), &path)?;
                self.names.push(path);
            } else if entry.path().is_file() {
                self.take(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, file: &Path, path: String) -> Result<(), FileProblem> {
        let Limits { files, unpacked_bytes, .. } = *self.limits;
        if self.texts.len() >= files {
            return Err(Error::new(Code::TooManyFiles, format!("it has more than {files} files")).into());
        }
        let read = || -> io::Result<(u64, String)> {
            let size = fs::metadata(file)?.len();
            let is_read = is_text_name(&path) && size <= self.room;
            Ok((size, if is_read { decode_for_check(&path, fs::read(file)?).text } else { String::new() }))
        };
        let (size, text) = read().map_err(|error| FileProblem::unreadable(&error))?;
        self.room = self.room.checked_sub(size).ok_or_else(|| {
            let why = format!("its files exceed {unpacked_bytes} bytes");
            FileProblem::from(Error::new(Code::TooLarge, why))
        })?;
        self.names.push(path.clone());
        self.texts.push((path, text));
        Ok(())
    }
}

//! A folder with the files of a page, read as a .zip of it would be.

use dropleaf_content::{Limits, is_read, read_loose};
use std::fs;
use std::io;
use std::path::Path;

/// The files of a page in a folder.
pub(super) struct Folder {
    /// Paths inside it with their texts; what is not read has none.
    pub(super) texts: Vec<(String, String)>,
    /// What whoever packs it should know.
    pub(super) warnings: Vec<String>,
}

pub(super) fn read(folder: &Path, limits: &Limits) -> io::Result<Folder> {
    let mut found = Found { hidden: 0, files: Vec::new(), room: limits.unpacked_bytes };
    found.collect(folder, "", limits)?;
    let mut warnings = Vec::new();
    if found.hidden > 0 {
        warnings.push(format!(
            "{} hidden files were left out; an archive that has any is refused.",
            found.hidden
        ));
    }
    if !found.files.iter().any(|(path, _)| path == "index.html") {
        warnings.push("There is no index.html at the top: an archive of this folder is refused.".to_owned());
    }
    Ok(Folder { texts: found.files, warnings })
}

struct Found {
    hidden: usize,
    files: Vec<(String, String)>,
    room: u64,
}

impl Found {
    fn collect(&mut self, folder: &Path, inside: &str, limits: &Limits) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_junk(&name) {
                continue;
            }
            if name.starts_with('.') && name != ".well-known" {
                self.hidden += 1;
                continue;
            }
            let path = format!("{inside}{name}");
            // A link to a folder may lead back here, so only links to files are followed.
            if entry.file_type()?.is_dir() {
                self.collect(&entry.path(), &format!("{path}/"), limits)?;
            } else if entry.path().is_file() {
                self.take(&entry.path(), path, limits)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, file: &Path, path: String, limits: &Limits) -> io::Result<()> {
        if self.files.len() >= limits.files {
            return Err(io::Error::other(format!("it has more than {} files", limits.files)));
        }
        let size = fs::metadata(file)?.len();
        self.room = self.room.checked_sub(size).ok_or_else(|| {
            io::Error::other(format!("its files have more than {} bytes", limits.unpacked_bytes))
        })?;
        let text = if is_read(&path) { read_loose(&path, fs::read(file)?).text } else { String::new() };
        self.files.push((path, text));
        Ok(())
    }
}

/// What operating systems add on their own.
fn is_junk(name: &str) -> bool {
    name == "__MACOSX" || name == ".DS_Store" || name.eq_ignore_ascii_case("Thumbs.db")
}

//! Loads the project's own test pages: `harvest/` and `honest/`, a file or a folder each, named `category-number…`.

use std::io;
use std::path::Path;

use crate::{Sample, corpus};

pub(crate) fn read(folder: &Path) -> io::Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for (side, harvest) in [("harvest", true), ("honest", false)] {
        let mut entries: Vec<_> = std::fs::read_dir(folder.join(side))?.collect::<io::Result<_>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let category = name.split('-').next().unwrap_or_default().to_owned();
            let mut files = Vec::new();
            collect(&entry.path(), "", &mut files)?;
            let language = corpus::language_of(&files[0].1);
            samples.push(Sample { source: name.clone(), name, category, language, harvest, files });
        }
    }
    Ok(samples)
}

fn collect(path: &Path, inside: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    if !path.is_dir() {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        files.push((format!("{inside}{name}"), String::from_utf8_lossy(&std::fs::read(path)?).into_owned()));
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let folder = entry.path().is_dir();
        let below = if folder {
            format!("{inside}{}/", entry.file_name().to_string_lossy())
        } else {
            inside.to_owned()
        };
        collect(&entry.path(), &below, files)?;
    }
    Ok(())
}

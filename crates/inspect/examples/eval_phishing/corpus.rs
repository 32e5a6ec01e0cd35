//! Reads pages from a folder: `harvest/SOURCE/…` and `honest/SOURCE/…`. Each page is a sample with the files beside it
//! that it may load, and the folder of its source says which pages were made by the same people.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::{Sample, paths};

pub(crate) fn read(folder: &Path) -> io::Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for (side, harvest) in [("harvest", true), ("honest", false)] {
        let Ok(entries) = std::fs::read_dir(folder.join(side)) else { continue };
        let mut sources: Vec<_> = entries.collect::<io::Result<_>>()?;
        sources.sort_by_key(std::fs::DirEntry::path);
        for source in sources.into_iter().filter(|entry| entry.path().is_dir()) {
            let mut pages = Vec::new();
            paths::collect(&source.path(), &mut pages)?;
            pages.sort();
            for page in pages {
                let name = page.strip_prefix(folder).unwrap_or(&page).display().to_string();
                let files = paths::files_of(&page)?;
                let language = language_of(&files[0].1);
                samples.push(Sample {
                    name,
                    category: side.to_owned(),
                    source: source.file_name().to_string_lossy().into_owned(),
                    language,
                    harvest,
                    files,
                });
            }
        }
    }
    Ok(samples)
}

/// The pages of each folder together, as if they were published as one archive.
pub(crate) fn folders(samples: &[Sample]) -> Vec<Sample> {
    let mut folders: BTreeMap<String, Sample> = BTreeMap::new();
    for sample in samples {
        let name = sample.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let empty = || Sample { name: name.to_owned(), files: Vec::new(), ..sample.clone() };
        let folder = folders.entry(name.to_owned()).or_insert_with(empty);
        for file in &sample.files {
            if !folder.files.iter().any(|(path, _)| *path == file.0) {
                folder.files.push(file.clone());
            }
        }
    }
    folders.into_values().collect()
}

/// What the page says its language is.
pub(crate) fn language_of(page: &str) -> String {
    let head =
        page.get(..page.floor_char_boundary(4000.min(page.len()))).unwrap_or_default().to_ascii_lowercase();
    let tag = head.split_once("<html").map_or("", |(_, rest)| rest.split('>').next().unwrap_or_default());
    let value = tag.split_once("lang=").map_or("", |(_, rest)| rest.trim_start_matches(['"', '\'']));
    value.chars().take_while(char::is_ascii_alphabetic).take(2).collect()
}

//! Packs the files of a folder into a zip archive in an unnamed temporary file. The same files give the same bytes: names are
//! sorted, and neither times nor permissions of the files are stored.

use super::folder::{FolderFile, FolderListing};
use anyhow::{Context, Result, ensure};
use dropleaf_content::{is_compressible, mime_of};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// Files below this size fit the format without its 64-bit extension.
const LARGE: u64 = u32::MAX as u64;
const LEVEL: i64 = 6;

pub(super) fn pack(listing: &FolderListing) -> Result<File> {
    let file = tempfile::tempfile().context("cannot create a temporary file")?;
    let mut archive = ZipWriter::new(BufWriter::new(file));
    for file in &listing.files {
        add(&mut archive, file).with_context(|| format!("cannot pack {}", file.name))?;
    }
    let mut writer = archive.finish().context("cannot finish the archive")?;
    writer.flush()?;
    writer.into_inner().map_err(io::IntoInnerError::into_error).context("cannot write the archive")
}

fn add(archive: &mut ZipWriter<impl Write + Seek>, entry: &FolderFile) -> Result<()> {
    let file = File::open(&entry.from)?;
    // It may have been replaced since it was listed; a pipe would block.
    ensure!(file.metadata()?.is_file(), "it is no longer a file");
    let is_packed_well = is_compressible(mime_of(&entry.name));
    let options = SimpleFileOptions::default()
        .compression_method(if is_packed_well {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        })
        .compression_level(is_packed_well.then_some(LEVEL))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .system(System::Unix)
        .large_file(entry.size >= LARGE);
    archive.start_file(entry.name.as_str(), options)?;
    // A file that grows while it is read, such as a log, ends where it ended when it was listed.
    let copied = io::copy(&mut file.take(entry.size), archive)?;
    ensure!(copied == entry.size, "it became shorter while it was read");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn bytes(mut file: File) -> Vec<u8> {
        let mut out = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn the_same_folder_gives_the_same_bytes() {
        let packed = |names: [&str; 4]| {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("img")).unwrap();
            for name in names {
                fs::write(dir.path().join(name), format!("<p>{name}").repeat(100)).unwrap();
            }
            bytes(pack(&FolderListing::read(dir.path()).unwrap()).unwrap())
        };
        let one = packed(["index.html", "a.css", "img/é.png", "img/z.png"]);
        assert_eq!(one, packed(["img/z.png", "img/é.png", "a.css", "index.html"]));
        assert!(one.starts_with(b"PK\x03\x04"));
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.html");
        fs::write(&path, "<p>long").unwrap();
        let listing = FolderListing::read(dir.path()).unwrap();
        fs::write(&path, "<p>").unwrap();
        let error = format!("{:#}", pack(&listing).unwrap_err());
        assert!(error.contains("index.html") && error.contains("shorter"), "{error}");
    }
}

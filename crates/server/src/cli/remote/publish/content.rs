//! The bytes to publish: an open file, a packed folder or what came from standard input, and the name under which they are sent.

use super::archive;
use super::folder::{FolderListing, Skipped};
use super::path::{PathKind, PublishPath};
use crate::cli::encrypt;
use crate::cli::exit::WrongUse;
use crate::cli::output::Size;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_client::UploadLimits;
use dropleaf_content::{StandaloneFile, classify_standalone_file};
use dropleaf_core::Minter;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The number of leading bytes that publishing reads to detect the kind.
const HEAD: usize = 1024;
/// The most that is read from standard input when the server does not tell its limit.
const MOST_INPUT: u64 = 1 << 30;
/// The viewer opens no larger encrypted page.
const MOST_ENCRYPTED: u64 = 256 << 20;

#[derive(Debug)]
pub(super) struct Content {
    pub(super) name: String,
    pub(super) file: File,
    pub(super) skipped: Vec<Skipped>,
}

/// What is known of a target before it is read.
#[derive(Debug)]
pub(super) enum Outline {
    File(File),
    Folder(FolderListing),
    Stdin,
}

impl Outline {
    pub(super) fn of(target: &PublishPath) -> Result<Self> {
        Ok(match target.kind {
            PathKind::File => Self::File(
                File::open(&target.path).with_context(|| format!("cannot read {}", target.path.display()))?,
            ),
            PathKind::Folder => Self::Folder(FolderListing::read(&target.absolute)?),
            PathKind::Stdin => Self::Stdin,
        })
    }

    /// The number of files and their size; `None` if that is not known yet.
    pub(super) fn extent(&self) -> Result<Option<(u64, u64)>> {
        Ok(match self {
            Self::File(file) => Some((1, file.metadata()?.len())),
            Self::Folder(listing) => Some((listing.files.len() as u64, listing.total_size())),
            Self::Stdin => None,
        })
    }

    /// Reads or packs it. Fails before anything is sent if the server would refuse it for its size.
    pub(super) fn read(
        self,
        target: &PublishPath,
        name: Option<&str>,
        limits: &UploadLimits,
    ) -> Result<Content> {
        let content = match self {
            Self::File(file) => Content { name: last_part(&target.absolute), file, skipped: Vec::new() },
            Self::Folder(listing) => {
                listing.check(&target.path, limits)?;
                let file = archive::pack(&listing)?;
                let name = format!("{}.zip", last_part(&target.absolute));
                Content { name, file, skipped: listing.skipped }
            }
            Self::Stdin => {
                let file = spool(io::stdin().lock(), limits.upload_bytes.unwrap_or(MOST_INPUT))?;
                let name = name.map_or_else(|| detect_name(&file), |name| Ok(name.to_owned()))?;
                Content { name, file, skipped: Vec::new() }
            }
        };
        let length = content.file.metadata()?.len();
        ensure!(length > 0, "{} is empty", target.shown());
        if let Some(most) = limits.upload_bytes.filter(|most| length > *most) {
            let packed = if target.kind == PathKind::Folder { ", packed" } else { "" };
            let shown = target.shown();
            bail!(
                "{shown} is {}{packed}; the server accepts at most {}",
                Size::from(length),
                Size::from(most)
            );
        }
        Ok(content)
    }
}

impl Content {
    /// Identifies the content, to tell whether it changed.
    pub(super) fn hash(&self) -> Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.name.as_bytes()).update(b"\n");
        (&self.file).rewind()?;
        io::copy(&mut &self.file, &mut hasher).context("cannot read the content")?;
        Ok(hasher.finalize())
    }

    /// The payload of an encrypted page. Its name does not reach the server.
    pub(super) fn encrypted(&self, secret: [u8; 32], minter: &Minter) -> Result<File> {
        let mut plain = Vec::new();
        (&self.file).rewind()?;
        (&self.file).take(MOST_ENCRYPTED + 1).read_to_end(&mut plain).context("cannot read the content")?;
        ensure!(
            plain.len() as u64 <= MOST_ENCRYPTED,
            "an encrypted page can have at most {}",
            Size::from(MOST_ENCRYPTED)
        );
        let payload = encrypt::seal_page(Path::new(&self.name), plain, secret, minter)?;
        let mut file = tempfile::tempfile().context("cannot create a temporary file")?;
        file.write_all(&payload).context("cannot write a temporary file")?;
        Ok(file)
    }
}

fn last_part(path: &Path) -> String {
    path.file_name().map_or_else(|| "page".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn spool(input: impl Read, most: u64) -> Result<File> {
    let mut file = tempfile::tempfile().context("cannot create a temporary file")?;
    // One byte more than allowed is enough to know that it is too large.
    let copied =
        io::copy(&mut input.take(most.saturating_add(1)), &mut file).context("cannot read standard input")?;
    ensure!(
        copied <= most,
        "standard input is larger than {}; the server does not accept it",
        Size::from(most)
    );
    Ok(file)
}

/// A file name for content without one, as the server would detect it.
fn detect_name(mut file: &File) -> Result<String> {
    let mut head = Vec::new();
    file.rewind()?;
    file.take(HEAD as u64).read_to_end(&mut head)?;
    let name = match classify_standalone_file("", &head) {
        StandaloneFile::Page => "page.html",
        StandaloneFile::Packed if head.starts_with(b"%PDF-") => "page.pdf",
        StandaloneFile::Packed => "page.zip",
        StandaloneFile::NotAPage { .. } if head.is_empty() => bail!("standard input is empty"),
        StandaloneFile::NotAPage { .. } => {
            let text = "cannot tell what kind of file standard input is; only HTML, PDF and zip are recognized without a \
                        name. Add one, for example: --name notes.md";
            bail!(WrongUse(text.to_owned()));
        }
    };
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> File {
        spool(bytes, 1000).unwrap()
    }

    #[test]
    fn standard_input_is_recognized_as_the_server_would() {
        for (bytes, name) in [
            (&b"\n <!doctype html>"[..], "page.html"),
            (b"%PDF-1.7", "page.pdf"),
            (b"PK\x03\x04", "page.zip"),
        ] {
            assert_eq!(detect_name(&file(bytes)).unwrap(), name);
        }
        let error = detect_name(&file(b"# Notes")).unwrap_err().to_string();
        assert!(error.contains("--name notes.md"), "{error}");
        assert!(detect_name(&file(b"")).unwrap_err().to_string().contains("is empty"));
    }

    #[test]
    fn no_more_is_read_than_the_server_accepts() {
        assert!(spool(io::repeat(b'x'), 1000).unwrap_err().to_string().contains("larger than 1000 bytes"));
        assert!(spool(&[b'x'; 1000][..], 1000).is_ok());
    }

    #[test]
    fn only_the_content_and_its_name_count() {
        let content =
            |name: &str, bytes| Content { name: name.to_owned(), file: file(bytes), skipped: Vec::new() };
        let hash = |name, bytes| content(name, bytes).hash().unwrap();
        assert_eq!(hash("a", b"x"), hash("a", b"x"));
        assert_ne!(hash("a", b"x"), hash("a", b"y"));
        assert_ne!(hash("a", b"x"), hash("b", b"x"));
        let encrypted = content("a.html", b"<p>").encrypted([1; 32], &Minter::seeded(1)).unwrap();
        assert_eq!(encrypted.metadata().unwrap().len(), 40 + 3 + 16);
    }
}

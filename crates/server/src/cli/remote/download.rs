//! `dropleaf download PAGE`: saves the files of a version, a folder for an archive.

use super::session::explained;
use super::target::PageArgs;
use super::{ClientEnvironment, visible};
use crate::cli::exit::WrongUse;
use crate::cli::output::{print_json, print_line};
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_client::{Client, DownloadError, Downloaded, UnpackError, UnpackLimits, safe_path, unpack};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The largest download that is accepted from a server.
const MOST_BYTES: u64 = 4 << 30;

#[derive(Debug, Args)]
pub(crate) struct Download {
    #[command(flatten)]
    page: PageArgs,
    /// The version (default: the current one)
    #[arg(long, value_name = "N")]
    version: Option<i64>,
    /// Where to save it: a file, or a folder for an archive (default: the name that the page has)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Save an archive as a zip file instead of unpacking it
    #[arg(long)]
    zip: bool,
    /// Overwrite existing files
    #[arg(long, requires = "output")]
    force: bool,
}

impl Download {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        if self.version.is_some_and(|version| version < 1) {
            return Err(WrongUse("--version must be at least 1".to_owned()).into());
        }
        let page = self.page.target(environment).await?;
        let folder =
            self.output.as_deref().and_then(Path::parent).filter(|path| !path.as_os_str().is_empty());
        let (mut file, found) = fetch(&page.client, &page.name, self.version, folder).await?;
        let (saved, files) = if found.is_archive && !self.zip {
            let name = found.name.strip_suffix(".zip").unwrap_or(&found.name);
            let to = self.target(name, "page")?;
            // The server must not choose a folder to which files are added.
            if self.output.is_none() && std::fs::symlink_metadata(&to).is_ok() {
                return Err(taken(&to));
            }
            let count = unpack(reopened(&file)?, &to, self.force, UnpackLimits::default());
            let count = count.map_err(|error| match error {
                UnpackError::Exists(path) => taken(&path),
                error => anyhow::Error::from(error).context("cannot unpack the download"),
            })?;
            (to, count)
        } else {
            let to = self.target(&found.name, "download")?;
            file.as_file_mut().sync_all()?;
            let kept = if self.force {
                file.persist(&to).map_err(|failed| failed.error)
            } else {
                file.persist_noclobber(&to).map_err(|failed| failed.error)
            };
            kept.map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => taken(&to),
                _ => anyhow::Error::from(error).context(format!("cannot write `{}`", to.display())),
            })?;
            (to, 1)
        };
        if self.page.server.json {
            let shown = serde_json::json!({
                "path": saved.display().to_string(), "files": files, "bytes": found.bytes, "is_archive": found.is_archive,
            });
            return print_json(&shown);
        }
        print_line(&visible(&saved.display().to_string()))
    }

    /// Where it is saved: the named path, or the server's name in the current folder.
    fn target(&self, suggested: &str, otherwise: &str) -> Result<PathBuf> {
        if let Some(path) = &self.output {
            return Ok(path.clone());
        }
        let name = if suggested.is_empty() { otherwise } else { suggested };
        let path = safe_path(name).filter(|path| path.components().count() == 1);
        path.ok_or_else(|| WrongUse("the server suggests a forbidden name; use --output".to_owned()).into())
    }
}

/// Nothing is overwritten unless the user says so and names it.
fn taken(path: &Path) -> anyhow::Error {
    let path = path.display();
    WrongUse(format!(
        "`{path}` exists; name another path with --output, or overwrite it with --output and --force"
    ))
    .into()
}

/// Downloads a version into a temporary file, in the folder where it will be kept.
pub(super) async fn fetch(
    client: &Client,
    page: &str,
    version: Option<i64>,
    folder: Option<&Path>,
) -> Result<(tempfile::NamedTempFile, Downloaded)> {
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".dropleaf-")
        .tempfile_in(folder)
        .with_context(|| format!("cannot write to `{}`", folder.display()))?;
    let found = client.download(page, version, MOST_BYTES, file.as_file_mut()).await;
    let found = found.map_err(|error| match error {
        DownloadError::Server(error) => explained(error, client.server()),
        error => error.into(),
    })?;
    file.as_file_mut().flush()?;
    file.as_file_mut().seek(SeekFrom::Start(0))?;
    Ok((file, found))
}

/// The downloaded file, for reading.
pub(super) fn reopened(file: &tempfile::NamedTempFile) -> Result<File> {
    file.reopen().context("cannot read the download")
}

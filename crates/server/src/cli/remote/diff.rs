//! `dropleaf diff PAGE`: compares two versions of a page, or a version with local files.

use super::ClientEnvironment;
use super::download::{fetch, reopened};
use super::file_set::FileSet;
use super::target::{PageArgs, Target};
use super::text_diff::{Change, colour, compare};
use crate::cli::exit::WrongUse;
use crate::cli::output::print_json;
use anyhow::Result;
use clap::Args;
use dropleaf_client::Client;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    page: PageArgs,
    /// The older version, or a local file or folder to compare the page with (default: the version before the current one)
    #[arg(value_name = "FROM|PATH")]
    from: Option<String>,
    /// The newer version (default: the current one)
    #[arg(value_name = "TO")]
    to: Option<i64>,
}

/// What is compared, in words.
struct Sides {
    old: String,
    new: String,
}

impl Diff {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let Target { client, name: page } = self.page.target(environment).await?;
        let from = self.from.as_deref().map(|text| (text, text.parse::<i64>()));
        let (old, new, sides) = match (from, self.to) {
            (Some((_, Ok(old))), new) => {
                let new = match new {
                    Some(new) => new,
                    None => current_version(&client, &page).await?,
                };
                self.two_versions(&client, &page, old, new).await?
            }
            (Some((path, Err(_))), None) => {
                let path = PathBuf::from(path);
                let new = FileSet::local(&path)?;
                let version = current_version(&client, &page).await?;
                let old = published(&client, &page, version).await?;
                let sides = Sides { old: format!("version {version}"), new: path.display().to_string() };
                (old, new, sides)
            }
            (Some((path, Err(_))), Some(_)) => {
                let why =
                    format!("`{path}` is not a version; a local path is compared with the current version");
                return Err(WrongUse(why).into());
            }
            (None, _) => {
                let versions = client.list_version_numbers(&page).await?;
                let [new, old, ..] = versions[..] else {
                    return Err(WrongUse("the page has only one version".to_owned()).into());
                };
                self.two_versions(&client, &page, old, new).await?
            }
        };
        self.show(old, new, &sides)
    }

    async fn two_versions(
        &self,
        client: &Client,
        page: &str,
        old: i64,
        new: i64,
    ) -> Result<(FileSet, FileSet, Sides)> {
        if old < 1 || new < 1 {
            return Err(WrongUse("a version is at least 1".to_owned()).into());
        }
        let sides = Sides { old: format!("version {old}"), new: format!("version {new}") };
        Ok((published(client, page, old).await?, published(client, page, new).await?, sides))
    }

    /// Compares file by file, so that two files at most are in memory.
    fn show(&self, mut old: FileSet, mut new: FileSet, sides: &Sides) -> Result<()> {
        // A page that is one file is compared with a local file whatever their names are.
        if let (Some(single), Some(_)) = (new.single_name(), old.single_name()) {
            old.rename_single(&single);
        }
        let paths: BTreeSet<String> = old.paths().chain(new.paths()).collect();
        let is_terminal = std::io::stdout().is_terminal();
        let mut changed = Vec::new();
        for path in paths {
            let (before, after) = (old.read(&path)?, new.read(&path)?);
            let Some(change) = compare(&path, before.as_deref(), after.as_deref()) else { continue };
            if self.page.server.json {
                changed.push(change_json(&path, &change));
            } else {
                print_change(&change, is_terminal)?;
            }
        }
        if self.page.server.json {
            let all = json!({"from": sides.old, "to": sides.new, "files": changed});
            print_json(&all)?;
        }
        Ok(())
    }
}

fn change_json(path: &str, change: &Change) -> serde_json::Value {
    json!({"path": path, "status": change.status.as_str(), "is_binary": change.diff.is_none(), "diff": change.diff})
}

fn print_change(change: &Change, is_terminal: bool) -> Result<()> {
    let text = change.text();
    let shown = if is_terminal { colour(&text) } else { text };
    let mut out = std::io::stdout().lock();
    match out.write_all(shown.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

async fn current_version(client: &Client, page: &str) -> Result<i64> {
    let versions = client.list_version_numbers(page).await?;
    versions.first().copied().ok_or_else(|| WrongUse("the page has no version".to_owned()).into())
}

async fn published(client: &Client, page: &str, version: i64) -> Result<FileSet> {
    let folder: &Path = &tempfile::env::temp_dir();
    let (file, found) = fetch(client, page, Some(version), Some(folder)).await?;
    if found.is_archive {
        FileSet::archive(reopened(&file)?)
    } else {
        FileSet::single(&found.name, file.path())
    }
}

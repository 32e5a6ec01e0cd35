//! `dropleaf diff PAGE`: compares two versions of a page, or a version with local files.

use super::ClientEnvironment;
use super::download::{fetch, reopened};
use super::file_set::FileSet;
use super::target::{PageArgs, Target};
use super::text_diff::{Change, colour, compare, found_by_server};
use crate::cli::exit::WrongUse;
use crate::cli::output::{is_terminal, print_json, print_line, visible};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
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
        let target = self.page.target(environment).await?;
        let from = self.from.as_deref().map(|text| (text, text.parse::<i64>()));
        let (old, new) = match (from, self.to) {
            (Some((_, Ok(old))), new) => {
                let new = match new {
                    Some(new) => new,
                    None => current_version(&target).await?,
                };
                (old, new)
            }
            (Some((path, Err(_))), None) => {
                let path = PathBuf::from(path);
                let new = FileSet::local(&path)?;
                let version = current_version(&target).await?;
                let old = published(&target, version).await?;
                let sides = Sides { old: format!("version {version}"), new: path.display().to_string() };
                return self.show(old, new, &sides);
            }
            (Some((path, Err(_))), Some(_)) => {
                let why = format!(
                    "`{}` is not a version; a local path is compared with the current one",
                    visible(path)
                );
                return Err(WrongUse(why).into());
            }
            (None, _) => {
                let mut versions = list_versions(&target).await?.into_iter();
                let pair = versions.next().zip(versions.next());
                let (new, old) = pair.context("there is no older version")?;
                (old, new)
            }
        };
        if old < 1 || new < 1 {
            return Err(WrongUse("a version is at least 1".to_owned()).into());
        }
        let sides = Sides { old: format!("version {old}"), new: format!("version {new}") };
        if let Some(changes) = compared_by_server(&target, old, new).await {
            return self.print(&changes, &sides);
        }
        let (old, new) = (published(&target, old).await?, published(&target, new).await?);
        self.show(old, new, &sides)
    }

    fn print(&self, changes: &[Change], sides: &Sides) -> Result<()> {
        if self.page.server.json {
            let files: Vec<_> = changes.iter().map(|change| change_json(&change.path, change)).collect();
            return print_json(&json!({"from": sides.old, "to": sides.new, "files": files}));
        }
        changes.iter().try_for_each(print_change)
    }

    /// Compares file by file, so that two files at most are in memory.
    fn show(&self, mut old: FileSet, mut new: FileSet, sides: &Sides) -> Result<()> {
        // A page that is one file is compared with a local file whatever their names are.
        if let (Some(single), Some(_)) = (new.single_name(), old.single_name()) {
            old.rename_single(&single);
        }
        let paths: BTreeSet<String> = old.paths().chain(new.paths()).collect();
        let mut changed = Vec::new();
        for path in paths {
            let (before, after) = (old.read(&path)?, new.read(&path)?);
            let Some(change) = compare(&path, before.as_deref(), after.as_deref()) else { continue };
            if self.page.server.json {
                changed.push(change_json(&path, &change));
            } else {
                print_change(&change)?;
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

fn print_change(change: &Change) -> Result<()> {
    let text = change.text();
    if is_terminal() {
        return print_line(colour(&text).trim_end_matches('\n'));
    }
    // A program gets the lines as they are, so that the difference can be applied.
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// What the server says about two versions. None if it cannot compare them or left something out; then both are downloaded
/// and compared here, which also explains what is wrong.
async fn compared_by_server(target: &Target, old: i64, new: i64) -> Option<Vec<Change>> {
    let found = target.client.diff_versions(&target.name, old, new).await.ok()?.value;
    if found.truncated {
        return None;
    }
    found.files.iter().map(found_by_server).collect()
}

/// The numbers of the page's versions, newest first. The first one is shown now.
async fn list_versions(target: &Target) -> Result<Vec<i64>> {
    let found = target.client.list_versions(&target.name).await.map_err(|error| target.explained(error))?;
    Ok(found.value.versions.iter().map(|version| version.version).collect())
}

async fn current_version(target: &Target) -> Result<i64> {
    list_versions(target).await?.first().copied().context("the page has no version")
}

async fn published(target: &Target, version: i64) -> Result<FileSet> {
    let folder: &Path = &tempfile::env::temp_dir();
    let (file, found) = fetch(&target.client, &target.name, Some(version), Some(folder)).await?;
    if found.is_archive {
        FileSet::archive(reopened(&file)?)
    } else {
        FileSet::single(&found.name, file.path())
    }
}

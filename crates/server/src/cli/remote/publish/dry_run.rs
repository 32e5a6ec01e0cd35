//! `dropleaf publish --dry-run`: lists what would be sent. Needs no server.

use super::content::Outline;
use super::folder::FolderListing;
use super::path::{PathKind, PublishPath};
use super::report;
use crate::cli::output::{Size, print_json, print_line, shortened};
use anyhow::Result;
use dropleaf_client::UploadLimits;
use serde_json::{Value, json};

/// The most characters of a name that are shown.
const NAME_CHARACTERS: usize = 1000;

pub(super) fn run(targets: &[PublishPath], name: Option<&str>, as_json: bool) -> Result<()> {
    let mut listed = Vec::new();
    for target in targets {
        let outline = Outline::of(target)?;
        let (files, skipped) = match outline {
            Outline::Folder(FolderListing { files, skipped }) => {
                (files.into_iter().map(|file| (file.name, file.size)).collect(), skipped)
            }
            other => {
                let content = other.read(target, name, &UploadLimits::default())?;
                (vec![(content.name.clone(), content.file.metadata()?.len())], content.skipped)
            }
        };
        if as_json {
            let skipped: Vec<Value> =
                skipped.iter().map(|skipped| json!({"name": skipped.name, "why": skipped.why})).collect();
            let total: u64 = files.iter().map(|(_, size)| size).sum();
            let files: Vec<Value> =
                files.iter().map(|(name, size)| json!({"name": name, "size": size})).collect();
            listed.push(
                json!({"path": target.path.display().to_string(), "files": files, "bytes": total, "skipped": skipped}),
            );
        } else {
            print_files(target, &files)?;
            report::print_skipped(&skipped);
        }
    }
    match listed.as_slice() {
        [] => Ok(()),
        [one] if targets.len() == 1 => print_json(one),
        many => print_json(&many),
    }
}

fn print_files(target: &PublishPath, files: &[(String, u64)]) -> Result<()> {
    for (name, bytes) in files {
        print_line(&format!("{:>10}  {}", Size::from(*bytes).to_string(), shortened(name, NAME_CHARACTERS)))?;
    }
    let total = Size::from(files.iter().map(|(_, size)| size).sum::<u64>());
    let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    let before = if target.kind == PathKind::Folder { " before packing" } else { "" };
    eprintln!("{}: {count}, {total}{before}. Nothing was sent.", target.shown());
    Ok(())
}

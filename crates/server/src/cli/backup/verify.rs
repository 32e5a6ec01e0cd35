//! `dropleaf backup verify`: compares a backup with its checksums.

use super::list::backup_json;
use super::place::{Place, temporary_folder};
use super::progress::show;
use super::{choose, contents, given, report_json};
use crate::cli::output::{clear_progress, print_json};
use crate::config::Config;
use anyhow::Result;
use clap::Args;
use dropleaf_core::iso;
use dropleaf_store::backup::{self, Depth, Repository};
use serde_json::json;

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// <s3://BUCKET/PREFIX> or a folder (default: `backup.to`)
    from: Option<String>,
    /// The ID of the backup, or its beginning, such as 20261115 (default: the newest)
    #[arg(long, value_name = "BACKUP")]
    at: Option<String>,
    /// Check the database and that every large file is there, without reading the large files
    #[arg(long)]
    quick: bool,
    /// Delete large files that are damaged, so that the next backup copies them again
    #[arg(long, conflicts_with = "quick")]
    delete_damaged: bool,
    /// Accept a backup that is not encrypted although `backup.key_file` is set: one from before there was a key
    #[arg(long)]
    unencrypted: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) async fn run(self, config: &Config) -> Result<()> {
        match Place::to_read(&given(self.from, config)?, config)? {
            Place::Folder(dir) => {
                let done = backup::verify_folder(&dir, &show).await;
                clear_progress();
                let (taken_at, report) = done?;
                if self.json {
                    let mut backup = report_json(&report);
                    backup["taken_at"] = json!(taken_at);
                    backup["taken_at_iso"] = json!(iso::format(taken_at));
                    return print_json(&json!({"from": dir, "backup": backup}));
                }
                eprintln!("The backup from {} is complete.{}", iso::format(taken_at), contents(&report));
            }
            Place::Repository(destination) => {
                let repository =
                    Repository::open_existing(&destination)?.accept_unencrypted(self.unencrypted);
                let info = choose(&repository, self.at.as_deref()).await?;
                let depth = if self.quick {
                    Depth::Presence
                } else {
                    Depth::Contents { delete_damaged: self.delete_damaged }
                };
                let work = temporary_folder(config)?;
                let done = backup::verify_in(&repository, &info, depth, work.path(), &show).await;
                clear_progress();
                done?;
                if self.json {
                    let (from, backup) = (repository.name(), backup_json(&info));
                    return print_json(&json!({"from": from, "backup": backup}));
                }
                eprintln!("Backup {} is complete.{}", info.id, contents(&info.report));
            }
        }
        Ok(())
    }
}

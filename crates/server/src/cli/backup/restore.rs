//! `dropleaf backup restore`: restores a backup from a folder or a repository.

use super::list::backup_json;
use super::place::{Place, temporary_folder};
use super::progress::show;
use super::{choose, contents, given, open, report_json};
use crate::cli::output::{clear_progress, print_json};
use crate::config::Config;
use crate::tls;
use anyhow::Result;
use clap::Args;
use dropleaf_store::backup::{self, Repository};
use serde_json::json;

#[derive(Debug, Args)]
pub(in crate::cli) struct Restore {
    /// <s3://BUCKET/PREFIX>, or a folder that `backup` wrote (default: `backup.to`)
    from: Option<String>,
    /// The ID of the backup, or its beginning, such as 20261115 (default: the newest)
    #[arg(long, value_name = "BACKUP")]
    at: Option<String>,
    /// Replace the existing data
    #[arg(long)]
    replace: bool,
    /// Accept a backup that is not encrypted although `backup.key_file` is set: one from before there was a key
    #[arg(long)]
    unencrypted: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub(in crate::cli) async fn run(self, config: Config) -> Result<()> {
        tls::install_provider();
        match Place::to_read(&given(self.from, &config)?, &config)? {
            Place::Folder(dir) => {
                let (store, now) = Box::pin(open(config)).await?;
                let done = backup::restore(&store.db, &store.blobs, &dir, self.replace, now, &show).await;
                clear_progress();
                store.db.close().await;
                let report = done?;
                if self.json {
                    print_json(&json!({"from": dir, "backup": report_json(&report)}))?;
                } else {
                    eprintln!("Restored from {}.{}", dir.display(), contents(&report));
                }
            }
            Place::Repository(destination) => {
                let repository =
                    Repository::open_existing(&destination)?.accept_unencrypted(self.unencrypted);
                let info = choose(&repository, self.at.as_deref()).await?;
                let (store, now) = Box::pin(open(config.clone())).await?;
                let work = temporary_folder(&config)?;
                let from = (&repository, &info);
                let done = backup::restore_from(
                    &store.db,
                    &store.blobs,
                    from,
                    self.replace,
                    now,
                    work.path(),
                    &show,
                )
                .await;
                clear_progress();
                store.db.close().await;
                done?;
                let from = repository.name();
                if self.json {
                    print_json(&json!({"from": from, "backup": backup_json(&info)}))?;
                } else {
                    eprintln!("Restored backup {} from {from}.{}", info.id, contents(&info.report));
                }
            }
        }
        eprintln!(
            "Page hosts and encrypted responses depend on secret.key (or `secret_key`). Keep it with your backups."
        );
        Ok(())
    }
}

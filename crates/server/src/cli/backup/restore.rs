//! `dropleaf backup restore`: restores a backup from a folder or a repository.

use super::place::{Place, temporary_folder};
use super::progress::{end_line, show};
use super::{contents, given, open};
use crate::config::Config;
use crate::tls;
use anyhow::Result;
use clap::Args;
use dropleaf_store::backup::{self, Repository};

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
}

impl Restore {
    pub(in crate::cli) async fn run(self, config: Config) -> Result<()> {
        tls::install_provider();
        match Place::to_read(&given(self.from, &config)?, &config)? {
            Place::Folder(dir) => {
                let (store, now) = open(config).await?;
                let done = backup::restore(&store.db, &store.blobs, &dir, self.replace, now, &show).await;
                end_line();
                store.db.close().await;
                eprintln!("Restored from {}.{}", dir.display(), contents(&done?));
            }
            Place::Repository(destination) => {
                let repository = Repository::open_existing(&destination)?;
                let info = repository.find(self.at.as_deref()).await?;
                let (store, now) = open(config.clone()).await?;
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
                end_line();
                store.db.close().await;
                done?;
                eprintln!(
                    "Restored backup {} from {}.{}",
                    info.id,
                    repository.name(),
                    contents(&info.report)
                );
            }
        }
        eprintln!(
            "Page hosts and encrypted responses depend on secret.key (or `secret_key`). Keep it with your backups."
        );
        Ok(())
    }
}

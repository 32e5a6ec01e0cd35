//! `dropleaf backup`: backs up the service into a folder or a repository, lists, verifies and restores backups.

mod place;
mod progress;
mod restore;

use super::exit::WrongUse;
use super::output::{print_line, shortened};
use crate::config::Config;
use crate::serve::wait_for_signal;
use crate::{startup, tls};
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_core::{Clock, Minter, SystemClock, iso};
use dropleaf_pages::{Moment, Size};
use dropleaf_store::backup::{
    self, BackupInfo, BackupList, Depth, Destination, NewBackup, Report, Repository,
};
use dropleaf_store::backup_state;
use place::Place;
use progress::{end_line, show};
use restore::Restore;
use serde_json::json;
use std::path::Path;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Backup {
    #[command(subcommand)]
    command: Option<Command>,
    /// <s3://BUCKET/PREFIX> or <file:PATH> for a place that holds many backups, or a folder for one that does not exist or is
    /// empty (default: `backup.to`)
    to: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the backups in a place
    List {
        /// <s3://BUCKET/PREFIX> or a folder (default: `backup.to`)
        from: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read a backup completely and compare it with its checksums; exits with 3 if it is damaged
    Verify(Verify),
    /// Restore a backup
    Restore(Restore),
}

#[derive(Debug, Args)]
struct Verify {
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
}

impl Backup {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        tls::install_provider();
        match self.command {
            Some(Command::List { from, json }) => list(from, json, &config).await,
            Some(Command::Verify(verify)) => verify.run(&config).await,
            Some(Command::Restore(restore)) => restore.run(config).await,
            None => {
                let to = given(self.to, &config)?;
                match Place::to_write(&to, &config)? {
                    Place::Folder(dir) => Box::pin(into_folder(&dir, config)).await,
                    Place::Repository(destination) => Box::pin(into_repository(&destination, config)).await,
                }
            }
        }
    }
}

async fn into_folder(dir: &Path, config: Config) -> Result<()> {
    let (store, now) = open(config).await?;
    let done = backup::backup(&store.db, &store.blobs, dir, now, &show).await;
    end_line();
    store.db.close().await;
    let report = done?;
    eprintln!(
        "Backup written to {}. Sites: {}. Large files: {}.",
        dir.display(),
        sites(&report),
        report.objects
    );
    Ok(())
}

async fn into_repository(destination: &Destination, config: Config) -> Result<()> {
    let scheduled = config.backup.to.split('?').next().unwrap_or_default().to_owned();
    let repository = Repository::open(destination)?;
    let port = config.public_listen()?.port;
    let resolved = config.resolve(port)?;
    let now = SystemClock::default().now();
    let store = startup::open_store(&resolved, now).await?;
    let work_dir = resolved.data_dir.join("backup-work");
    let service = resolved.hosts.base.url();
    let new = NewBackup { now, work_dir: &work_dir, service: &service, minter: &Minter::system() };
    let stop = async {
        // Without signals there is nothing to stop it.
        if wait_for_signal().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    // Boxed because the state of a backup is large.
    let done = backup::backup_to(&store.db, &store.blobs, &repository, new, stop, &show);
    let done = Box::pin(done).await;
    end_line();
    if let (Ok(info), true) = (&done, scheduled == destination.name()) {
        // The schedule counts from here.
        let bytes = i64::try_from(info.stored_bytes()).unwrap_or(i64::MAX);
        let id = backup_state::destination_id(destination.name());
        let mut stmts = backup_state::set_destination(id, now);
        stmts.extend(backup_state::record_success(bytes, now));
        store.commit(stmts).await?;
    }
    store.db.close().await;
    let info = done?;
    eprintln!(
        "Backup {} written to {}. Sites: {}. Large files: {} ({} new, {}). Database: {}.",
        info.id,
        repository.name(),
        sites(&info.report),
        info.report.objects,
        info.new_objects,
        size(info.new_object_bytes),
        size(info.database_stored_bytes),
    );
    if info.key_id.is_none() {
        eprintln!("It is not encrypted: set `backup.key_file` to encrypt backups.");
    }
    Ok(())
}

async fn list(from: Option<String>, json: bool, config: &Config) -> Result<()> {
    let repository = match Place::to_read(&given(from, config)?, config)? {
        Place::Repository(destination) => Repository::open_existing(&destination)?,
        Place::Folder(dir) => {
            let text = format!("{} is one backup, not a place that holds several", dir.display());
            return Err(WrongUse(text).into());
        }
    };
    let found = repository.list().await?;
    if json {
        let all: Vec<_> = found.complete.iter().map(as_json).collect();
        let page = json!({"backups": all, "incomplete": found.incomplete});
        return print_line(&serde_json::to_string_pretty(&page)?);
    }
    print_line(table(&found, repository.name()).trim_end_matches('\n'))
}

fn as_json(info: &BackupInfo) -> serde_json::Value {
    json!({
        "id": info.id,
        "taken_at": iso::format(info.taken_at),
        "service": info.service,
        "schema": info.schema,
        "encrypted_with": info.key_id,
        "sites": sites(&info.report),
        "large_files": info.report.objects,
        "bytes": info.stored_bytes(),
        "new_bytes": info.new_object_bytes + info.database_stored_bytes,
    })
}

fn table(found: &BackupList, name: &str) -> String {
    if found.complete.is_empty() && found.incomplete.is_empty() {
        return format!("No backups in {name}.\n");
    }
    let head = format!(
        "{:<26}{:<22}{:>8}{:>12}{:>12}  {:<11}service",
        "id", "taken", "sites", "size", "new", "encrypted"
    );
    let lines = found.complete.iter().map(|info| {
        format!(
            "{:<26}{:<22}{:>8}{:>12}{:>12}  {:<11}{}",
            info.id,
            Moment(info.taken_at).to_string(),
            sites(&info.report),
            size(info.stored_bytes()),
            size(info.new_object_bytes + info.database_stored_bytes),
            if info.key_id.is_some() { "yes" } else { "no" },
            shortened(&info.service, 100),
        )
    });
    let incomplete = found.incomplete.iter().map(|id| format!("{:<26}incomplete", shortened(id, 100)));
    let all: Vec<String> = std::iter::once(head).chain(lines).chain(incomplete).collect();
    all.join("\n") + "\n"
}

impl Verify {
    async fn run(self, config: &Config) -> Result<()> {
        match Place::to_read(&given(self.from, config)?, config)? {
            Place::Folder(dir) => {
                let done = backup::verify_folder(&dir, &show).await;
                end_line();
                let (taken_at, report) = done?;
                eprintln!("The backup from {} is complete.{}", iso::format(taken_at), contents(&report));
            }
            Place::Repository(destination) => {
                let repository = Repository::open_existing(&destination)?;
                let info = repository.find(self.at.as_deref()).await?;
                let depth = if self.quick {
                    Depth::Presence
                } else {
                    Depth::Contents { delete_damaged: self.delete_damaged }
                };
                let work = place::temporary_folder(config)?;
                let done = backup::verify_in(&repository, &info, depth, work.path(), &show).await;
                end_line();
                done?;
                eprintln!("Backup {} is complete.{}", info.id, contents(&info.report));
            }
        }
        Ok(())
    }
}

/// The place on the command line, or the configured one.
fn given(place: Option<String>, config: &Config) -> Result<String> {
    match place {
        Some(place) => Ok(place),
        None if config.backup.to.is_empty() => {
            Err(WrongUse("say where: a folder or s3://BUCKET/PREFIX, or set `backup.to`".to_owned()).into())
        }
        None => Ok(config.backup.to.clone()),
    }
}

async fn open(config: Config) -> Result<(dropleaf_store::Store, i64)> {
    let port = config.public_listen()?.port;
    let now = SystemClock::default().now();
    Ok((startup::open_store(&config.resolve(port)?, now).await?, now))
}

fn sites(report: &Report) -> u64 {
    report.rows.get("sites").copied().unwrap_or_default()
}

fn contents(report: &Report) -> String {
    format!(" Sites: {}. Large files: {}.", sites(report), report.objects)
}

fn size(bytes: u64) -> String {
    Size(i64::try_from(bytes).unwrap_or(i64::MAX)).to_string()
}

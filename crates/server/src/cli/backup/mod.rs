//! `dropleaf backup`: backs up the service into a folder or a repository, lists, verifies and restores backups.

mod list;
mod place;
mod progress;
mod restore;
mod verify;

use super::exit::WrongUse;
use super::output::{clear_progress, print_json, shortened, size};
use crate::config::Config;
use crate::serve::wait_for_signal;
use crate::{startup, tls};
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_core::{Clock, Minter, SystemClock};
use dropleaf_store::backup::{self, BackupInfo, Depth, Destination, NewBackup, Report, Repository};
use dropleaf_store::backup_state;
use list::{List, backup_json};
use place::{Place, temporary_folder};
use progress::show;
use restore::Restore;
use serde_json::{Value, json};
use std::path::Path;
use verify::Verify;

/// Backups that are named in a message at most.
const NAMED_MOST: usize = 5;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Backup {
    #[command(subcommand)]
    command: Option<Command>,
    /// <s3://BUCKET/PREFIX> or <file:PATH> for a place that holds many backups, or a folder for one that does not exist or is
    /// empty (default: `backup.to`)
    to: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the backups in a place
    List(List),
    /// Read a backup completely and compare it with its checksums; exits with 3 if it is damaged
    Verify(Verify),
    /// Restore a backup
    Restore(Restore),
}

impl Backup {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        tls::install_provider();
        match self.command {
            Some(Command::List(list)) => list.run(&config).await,
            Some(Command::Verify(verify)) => verify.run(&config).await,
            Some(Command::Restore(restore)) => Box::pin(restore.run(config)).await,
            None => {
                let to = given(self.to, &config)?;
                match Place::to_write(&to, &config)? {
                    Place::Folder(dir) => Box::pin(into_folder(&dir, config, self.json)).await,
                    Place::Repository(destination) => {
                        Box::pin(into_repository(&destination, config, self.json)).await
                    }
                }
            }
        }
    }
}

async fn into_folder(dir: &Path, config: Config, json: bool) -> Result<()> {
    let (store, now) = Box::pin(open(config)).await?;
    let done = backup::backup(&store.db, &store.blobs, dir, now, &show).await;
    clear_progress();
    store.db.close().await;
    let report = done?;
    if json {
        return print_json(&json!({"to": dir, "backup": report_json(&report)}));
    }
    eprintln!(
        "Backup written to {}. Sites: {}. Large files: {}.",
        dir.display(),
        sites(&report),
        report.objects
    );
    Ok(())
}

async fn into_repository(destination: &Destination, config: Config, json: bool) -> Result<()> {
    let scheduled = config.backup.to.split('?').next().unwrap_or_default().to_owned();
    let repository = Repository::open(destination)?;
    let port = config.public_listen()?.port;
    let resolved = config.clone().resolve(port)?;
    let clock = SystemClock::default();
    let store = startup::open_store(&resolved, clock.now()).await?;
    let work_dir = resolved.data_dir.join("backup-work");
    let service = resolved.hosts.base.url();
    let new = NewBackup { clock: &clock, work_dir: &work_dir, service: &service, minter: &Minter::system() };
    let stop = async {
        // Without signals there is nothing to stop it.
        if wait_for_signal().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    // Boxed because the state of a backup is large.
    let done = backup::backup_to(&store.db, &store.blobs, &repository, new, stop, &show);
    let mut done = Box::pin(done).await;
    if let Ok(info) = &done {
        let work = temporary_folder(&config)?;
        let verified = backup::verify_in(&repository, info, Depth::Presence, work.path(), &show);
        if let Err(error) = Box::pin(verified).await {
            done = Err(error);
        }
    }
    clear_progress();
    if let (Ok(info), true) = (&done, scheduled == destination.name()) {
        // The schedule counts from here.
        let bytes = i64::try_from(info.stored_bytes()).unwrap_or(i64::MAX);
        let id = backup_state::destination_id(destination.name());
        let mut stmts = backup_state::set_destination(id, info.taken_at);
        stmts.extend(backup_state::record_success(bytes, info.taken_at));
        store.commit(stmts).await?;
    }
    store.db.close().await;
    let info = done?;
    if json {
        return print_json(&json!({"to": repository.name(), "backup": backup_json(&info)}));
    }
    eprintln!(
        "Backup {} written to {} and verified. Sites: {}. Large files: {} ({} new, {}). Database: {}.",
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

/// The backup to read. Newer ones that cannot be used are named, so that an older one is never mistaken for the newest.
async fn choose(repository: &Repository, at: Option<&str>) -> Result<BackupInfo> {
    let list = repository.list().await?;
    let info = repository.choose(&list, at)?;
    let is_newer = |id: &str| id.starts_with(at.unwrap_or_default()) && *id > *info.id;
    let unreadable = list.unreadable.iter().filter(|other| is_newer(&other.id));
    let unreadable = unreadable.map(|other| other.why.clone());
    let plain = list.complete.iter().filter(|other| is_newer(&other.id));
    let plain = plain.filter(|other| repository.is_unexpected_plaintext(other));
    let plain = plain.map(|other| format!("backup {} is not encrypted, but a key is configured", other.id));
    for why in unreadable.chain(plain).take(NAMED_MOST) {
        eprintln!("Skipped a newer backup: {}.", shortened(&why, 300));
    }
    Ok(info)
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

fn report_json(report: &Report) -> Value {
    json!({"sites": sites(report), "large_files": report.objects})
}

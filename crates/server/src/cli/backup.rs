//! `dropleaf backup DIR` and `dropleaf restore DIR`, with progress on a terminal.

use crate::config::Config;
use crate::{startup, tls};
use anyhow::Result;
use clap::Args;
use dropleaf_core::{Clock, SystemClock};
use dropleaf_store::backup::{self, Progress, Report};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// A folder that does not exist or is empty
    dir: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// A folder that `backup` wrote
    dir: PathBuf,
    /// Replace the existing data
    #[arg(long)]
    replace: bool,
}

impl Backup {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        let (store, now) = open(config).await?;
        let report = backup::backup(&store.db, &store.blobs, &self.dir, now, &show).await?;
        end_line();
        eprintln!(
            "Backup written to {}. Sites: {}. Large files: {}.",
            self.dir.display(),
            sites(&report),
            report.objects,
        );
        store.db.close().await;
        Ok(())
    }
}

impl Restore {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        let (store, now) = open(config).await?;
        let report = backup::restore(&store.db, &store.blobs, &self.dir, self.replace, now, &show).await?;
        end_line();
        eprintln!(
            "Restored from {}. Sites: {}. Large files: {}.",
            self.dir.display(),
            sites(&report),
            report.objects,
        );
        eprintln!(
            "Page hosts and encrypted responses depend on secret.key (or `secret_key`). Keep it with your backups."
        );
        store.db.close().await;
        Ok(())
    }
}

async fn open(config: Config) -> Result<(dropleaf_store::Store, i64)> {
    tls::install_provider();
    let port = config.public_listen()?.port;
    let now = SystemClock::default().now();
    Ok((startup::open_store(&config.resolve(port)?, now).await?, now))
}

fn sites(report: &Report) -> u64 {
    report.rows.get("sites").copied().unwrap_or_default()
}

/// A progress line that overwrites itself; silent if standard error is not a terminal.
fn show(progress: Progress) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let bar = |done: u64, total: u64| {
        let filled = usize::try_from(done * 30 / total.max(1)).unwrap_or(30);
        format!("[{:<30}] {done}/{total}", "#".repeat(filled.min(30)))
    };
    match progress {
        Progress::Verifying { done, total } => eprint!("\rchecking     {}\x1b[K", bar(done, total)),
        Progress::Database => eprint!("\rdatabase …\x1b[K"),
        Progress::Objects { done, total } => eprint!("\rlarge files  {}\x1b[K", bar(done, total)),
    }
    let _ = std::io::stderr().flush();
}

fn end_line() {
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
}

//! `dropleaf export ACCOUNT FILE` and `dropleaf import FILE`: move one account between servers. They work while the server
//! runs.

use super::exit::WrongUse;
use super::output::{clear_progress, print_json, print_line, shortened, show_progress, visible};
use super::{account, name, with_app};
use crate::config::Config;
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_app::{COMMAND_LINE, ImportTarget, TransferProgress};
use serde_json::json;
use std::fs::File;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Its email address or ID
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    account: String,
    /// The file to write; it must not exist
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// A file that `export` wrote
    file: PathBuf,
    /// The email address of the account that gets the pages; it is created if it does not exist (default: the address in the
    /// export, which must not have an account here)
    #[arg(long, value_name = "EMAIL", allow_hyphen_values = true, value_parser = name::parse)]
    account: Option<String>,
    /// The plan of a new account (default: `accounts.default_plan`)
    #[arg(long)]
    plan: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Export {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        with_app(config, async |app| {
            let account = account::named(app, &self.account).await?;
            let folder = self.file.parent().filter(|path| !path.as_os_str().is_empty());
            // Readable by its owner alone, and under its name only when it is complete.
            let file = tempfile::Builder::new()
                .prefix(".dropleaf-export-")
                .tempfile_in(folder.unwrap_or(Path::new(".")))
                .with_context(|| format!("cannot write to the folder of `{}`", self.file.display()))?;
            let taken = || WrongUse(format!("`{}` exists; name another file", self.file.display()));
            anyhow::ensure!(std::fs::symlink_metadata(&self.file).is_err(), taken());
            let to = file.as_file().try_clone()?;
            let exported = Box::pin(app.export_account(COMMAND_LINE, &account, to, show)).await;
            clear_progress();
            let exported = exported?;
            file.persist_noclobber(&self.file).map_err(|failed| match failed.error.kind() {
                std::io::ErrorKind::AlreadyExists => anyhow::Error::from(taken()),
                _ => anyhow::Error::from(failed.error)
                    .context(format!("cannot write `{}`", self.file.display())),
            })?;
            if self.json {
                return print_json(&json!({
                    "id": account.id, "path": self.file.display().to_string(), "pages": exported.pages,
                    "versions": exported.versions, "files": exported.bodies,
                }));
            }
            eprintln!(
                "Exported {}. Pages: {}. Versions: {}. Files: {}.",
                account.id, exported.pages, exported.versions, exported.bodies
            );
            eprintln!(
                "Passwords of pages, API keys and share links are not part of an export. Keep the file private: it contains the \
                 pages and their links."
            );
            Ok(())
        })
        .await
    }
}

impl Import {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        let file =
            File::open(&self.file).with_context(|| format!("cannot read `{}`", self.file.display()))?;
        let target = ImportTarget { email: self.account, plan: self.plan };
        with_app(config, async |app| {
            let outcome = app.import_account(COMMAND_LINE, file, &target, show).await;
            clear_progress();
            let imported = outcome.map_err(|error| {
                let code = error.code.as_str();
                anyhow::Error::from(error).context(format!("nothing was imported ({code})"))
            })?;
            if self.json {
                return print_json(&json!({
                    "id": imported.account.id, "email": imported.account.email, "plan": imported.account.plan,
                    "pages": imported.pages, "versions": imported.versions, "comments": imported.feedback,
                    "domains": imported.domains, "warnings": imported.warnings,
                }));
            }
            for warning in &imported.warnings {
                eprintln!("{}", shortened(warning, 500));
            }
            eprintln!(
                "Imported into {} ({}, plan {}). Pages: {}. Versions: {}. Comments: {}. Domains: {}.",
                visible(imported.account.email.as_deref().unwrap_or("-")),
                imported.account.id,
                visible(&imported.account.plan),
                imported.pages,
                imported.versions,
                imported.feedback,
                imported.domains
            );
            print_line(&imported.account.id)
        })
        .await
    }
}

fn show(progress: TransferProgress) {
    show_progress(&format!("Pages: {}/{}", progress.done, progress.total));
}

//! `dropleaf evidence`: lists the sealed evidence of taken-down pages, opens it with a reason, or erases it early.

use super::{name, print_line, with_app};
use crate::config::Config;
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_app::{App, COMMAND_LINE, OpenEvidence};
use dropleaf_core::iso;
use futures_util::TryStreamExt;
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Evidence {
    /// The page: its ID, slug, token or address
    #[arg(required_unless_present = "list", allow_hyphen_values = true, value_parser = name::parse)]
    page: Option<String>,
    /// List the evidence, newest first
    #[arg(long, conflicts_with = "page")]
    list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    json: bool,
    /// The reason; recorded in the audit log
    #[arg(long, required_unless_present = "list")]
    reason: Option<String>,
    /// Where to write the zip archive; the content may be harmful
    #[arg(long, value_name = "FILE", required_unless_present_any = ["list", "erase"])]
    out: Option<PathBuf>,
    /// Erase the evidence instead, before its retention period ends
    #[arg(long, conflicts_with = "out")]
    erase: bool,
}

/// The most entries to list.
const MOST: i64 = 10_000;

impl Evidence {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        with_app(config, async |app| self.act(app).await).await
    }

    async fn act(&self, app: &App) -> Result<()> {
        let (Some(page), Some(reason)) = (&self.page, &self.reason) else { return self.show(app).await };
        let Some(out) = &self.out else {
            let kept = app.erase_evidence(COMMAND_LINE, page, reason).await?;
            print_line(&format!("{}: evidence erased.", kept.site_id))?;
            return Ok(());
        };
        // Created first, so that evidence is not opened if it cannot be written.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(out);
        let file = file.with_context(|| format!("cannot write {}", out.display()))?;
        let written = async {
            let opened = app.open_evidence(COMMAND_LINE, page, reason).await?;
            let site_id = opened.site_id.clone();
            Ok::<_, anyhow::Error>((site_id, write(opened, file, out).await?))
        };
        match written.await {
            Ok((site_id, bytes)) => {
                print_line(&format!("{site_id}: {bytes} bytes written to {}", out.display()))?;
                Ok(())
            }
            Err(error) => {
                // An incomplete file would look like an archive.
                let _ = fs::remove_file(out);
                Err(error)
            }
        }
    }

    async fn show(&self, app: &App) -> Result<()> {
        let kept = app.list_evidence(MOST).await?;
        if self.json {
            let all: Vec<_> = kept
                .iter()
                .map(|kept| {
                    json!({
                        "site_id": kept.site_id,
                        "sealed_bytes": kept.size_bytes,
                        "created_at": kept.created_at,
                        "erase_after": kept.erase_after,
                        "erased_at": kept.erased_at,
                    })
                })
                .collect();
            print_line(&serde_json::to_string_pretty(&json!({"evidence": all}))?)?;
            return Ok(());
        }
        if kept.is_empty() {
            print_line("No stored evidence.")?;
            return Ok(());
        }
        print_line(&format!("{:<27}{:>12}  {:<22}until", "page", "bytes", "sealed"))?;
        for kept in kept {
            let until = match kept.erased_at {
                Some(at) => format!("erased {}", iso::format(at)),
                None => iso::format(kept.erase_after),
            };
            let (bytes, at) = (kept.size_bytes, iso::format(kept.created_at));
            print_line(&format!("{:<27}{bytes:>12}  {at:<22}{until}", kept.site_id))?;
        }
        Ok(())
    }
}

async fn write(mut opened: OpenEvidence, mut file: fs::File, out: &Path) -> Result<u64> {
    let failed = || format!("cannot write {}", out.display());
    let mut written = 0;
    while let Some(bytes) = opened.stream.try_next().await? {
        file.write_all(&bytes).with_context(failed)?;
        written += bytes.len() as u64;
    }
    file.sync_all().with_context(failed)?;
    Ok(written)
}

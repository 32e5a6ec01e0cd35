//! `dropleaf evidence`: lists the sealed evidence of taken-down pages, opens it with a reason, or erases it early.

use super::output::{Column, Now, Size, Table, print_json, print_line};
use super::{name, with_app};
use crate::config::Config;
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_app::{App, COMMAND_LINE, OpenEvidence};
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
    /// Print JSON
    #[arg(long)]
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
            if self.json {
                return print_json(&json!({"site_id": kept.site_id, "erased": true}));
            }
            return print_line(&format!("{}: evidence erased.", kept.site_id));
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
                if self.json {
                    let out = out.display().to_string();
                    return print_json(&json!({"site_id": site_id, "bytes": bytes, "out": out}));
                }
                print_line(&format!("{site_id}: {bytes} bytes written to {}", out.display()))
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
            return print_json(&json!({"evidence": all}));
        }
        if kept.is_empty() {
            print_line("No stored evidence.")?;
            return Ok(());
        }
        let now = Now::read();
        let mut table = Table::new([
            Column::fixed("page"),
            Column::number("size"),
            Column::fixed("sealed"),
            Column::fixed("until"),
        ]);
        for kept in kept {
            let until = match kept.erased_at {
                Some(at) => format!("erased {}", now.short(at)),
                None => now.short(kept.erase_after),
            };
            let size = Size(kept.size_bytes).to_string();
            table.row([
                kept.site_id.as_str().into(),
                size.into(),
                now.short(kept.created_at).into(),
                until.into(),
            ]);
        }
        print_line(&table.render())?;
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

//! `dropleaf unwanted`: lists content that was taken down and is refused if published again, and removes mistaken entries.

use super::{name, plain, print_line, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{App, BlockedContent, COMMAND_LINE};
use dropleaf_core::iso;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List blocked content by the page that was taken down, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Unblock the content of a page, so that it can be published again; the page itself stays offline
    Forget {
        /// The ID of the blocked content, or the ID, slug, token or address of the page that was taken down
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        name: String,
        /// The reason; recorded in the audit log
        #[arg(long)]
        reason: String,
        /// Only this file; the others stay blocked
        #[arg(long, value_name = "PATH")]
        page: Option<String>,
    },
}

/// The most entries to list.
const MOST: i64 = 10_000;
/// The most marked pages to name.
const SHOWN: usize = 5;

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    with_app(config, async |app| act(app, command).await).await
}

async fn act(app: &App, command: Command) -> Result<()> {
    match command {
        Command::List { json } => {
            let (all, pages) = (app.list_blocked_content(MOST).await?, app.list_marked_pages().await?);
            let pages =
                |blocked: &BlockedContent| pages.get(&blocked.id).map(Vec::as_slice).unwrap_or_default();
            if json {
                let all: Vec<_> = all.iter().map(|blocked| as_json(blocked, pages(blocked))).collect();
                print_line(&serde_json::to_string_pretty(&json!({"unwanted": all}))?)?;
            } else if all.is_empty() {
                print_line("No blocked content.")?;
            } else {
                print_line(&format!("{:<26}{:<27}{:<22}reason (pages)", "id", "page", "taken down"))?;
                for blocked in &all {
                    let (at, reason) = (iso::format(blocked.created_at), plain(&blocked.reason, usize::MAX));
                    let pages = shown(pages(blocked));
                    print_line(&format!(
                        "{:<26}{:<27}{at:<22}{reason} ({pages})",
                        blocked.id, blocked.site_id
                    ))?;
                }
            }
        }
        Command::Forget { name, reason, page: Some(page) } => {
            let blocked = app.unblock_page(COMMAND_LINE, &name, page.trim(), &reason).await?;
            print_line(&format!(
                "{}: {} can be published again.",
                blocked.site_id,
                plain(page.trim(), usize::MAX)
            ))?;
        }
        Command::Forget { name, reason, page: None } => {
            let blocked = app.unblock_content(COMMAND_LINE, &name, &reason).await?;
            print_line(&format!("{}: its content can be published again.", blocked.site_id))?;
        }
    }
    Ok(())
}

fn as_json(blocked: &BlockedContent, pages: &[String]) -> serde_json::Value {
    json!({
        "id": blocked.id,
        "site_id": blocked.site_id,
        "reason": blocked.reason,
        "created_at": blocked.created_at,
        "pages": pages,
    })
}

/// Some of the paths; they are untrusted text, so control characters are escaped.
pub(super) fn shown(pages: &[String]) -> String {
    let mut some: Vec<String> = pages.iter().take(SHOWN).map(|path| plain(path, usize::MAX)).collect();
    if pages.len() > SHOWN {
        some.push(format!("and {} more", pages.len() - SHOWN));
    }
    if some.is_empty() { "identified by its complete content".to_owned() } else { some.join(", ") }
}

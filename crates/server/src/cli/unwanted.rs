//! `dropleaf unwanted`: lists content that was taken down and is refused if published again, and removes mistaken entries.

use super::output::{Column, Now, Table, print_json, print_line, visible};
use super::{name, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{App, BlockedContent, COMMAND_LINE};
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
        /// Print JSON
        #[arg(long)]
        json: bool,
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
                print_json(&json!({"unwanted": all}))?;
            } else if all.is_empty() {
                print_line("No blocked content.")?;
            } else {
                let now = Now::read();
                let mut table = Table::new([
                    Column::fixed("id"),
                    Column::fixed("page"),
                    Column::fixed("taken down"),
                    Column::flexible("reason (pages)"),
                ]);
                for blocked in &all {
                    let pages = shown(pages(blocked));
                    table.row([
                        blocked.id.as_str().into(),
                        blocked.site_id.as_str().into(),
                        now.short(blocked.created_at).into(),
                        format!("{} ({pages})", blocked.reason).into(),
                    ]);
                }
                print_line(&table.render())?;
            }
        }
        Command::Forget { name, reason, page, json } => {
            let page = page.as_deref().map(str::trim);
            let blocked = match page {
                Some(page) => app.unblock_page(COMMAND_LINE, &name, page, &reason).await?,
                None => app.unblock_content(COMMAND_LINE, &name, &reason).await?,
            };
            if json {
                return print_json(&json!({"id": blocked.id, "site_id": blocked.site_id, "page": page}));
            }
            let what = page.map_or_else(|| "its content".to_owned(), visible);
            print_line(&format!("{}: {what} can be published again.", blocked.site_id))?;
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
    let mut some: Vec<String> = pages.iter().take(SHOWN).map(|path| visible(path)).collect();
    if pages.len() > SHOWN {
        some.push(format!("and {} more", pages.len() - SHOWN));
    }
    if some.is_empty() { "identified by its complete content".to_owned() } else { some.join(", ") }
}

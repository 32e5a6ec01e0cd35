//! `dropleaf unwanted`: lists content that was taken down and is refused if published again, and removes mistaken entries.

use super::{name, plain, print_line, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{App, COMMAND_LINE, Unwanted};
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
        /// The id of the blocked content, or the id, slug, token or address of the page that was taken down
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
            let (all, pages) = (app.list_unwanted(MOST).await?, app.list_marked_pages().await?);
            let pages = |noted: &Unwanted| pages.get(&noted.id).map(Vec::as_slice).unwrap_or_default();
            if json {
                let all: Vec<_> = all.iter().map(|noted| as_json(noted, pages(noted))).collect();
                print_line(&serde_json::to_string_pretty(&json!({"unwanted": all}))?)?;
            } else if all.is_empty() {
                print_line("No blocked content.")?;
            } else {
                print_line(&format!("{:<26}{:<27}{:<22}reason (pages)", "id", "page", "taken down"))?;
                for noted in &all {
                    let (at, reason) = (iso::format(noted.created_at), plain(&noted.reason, usize::MAX));
                    let pages = shown(pages(noted));
                    print_line(&format!("{:<26}{:<27}{at:<22}{reason} ({pages})", noted.id, noted.site_id))?;
                }
            }
        }
        Command::Forget { name, reason, page: Some(page) } => {
            let noted = app.forget_unwanted_page(COMMAND_LINE, &name, page.trim(), &reason).await?;
            print_line(&format!(
                "{}: {} can be published again.",
                noted.site_id,
                plain(page.trim(), usize::MAX)
            ))?;
        }
        Command::Forget { name, reason, page: None } => {
            let noted = app.forget_unwanted(COMMAND_LINE, &name, &reason).await?;
            print_line(&format!("{}: its content can be published again.", noted.site_id))?;
        }
    }
    Ok(())
}

fn as_json(noted: &Unwanted, pages: &[String]) -> serde_json::Value {
    json!({
        "id": noted.id,
        "site_id": noted.site_id,
        "reason": noted.reason,
        "created_at": noted.created_at,
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

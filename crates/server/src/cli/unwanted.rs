//! `dropleaf unwanted`: content that was taken down and is refused when it comes back; listed, and forgotten when that was a
//! mistake.

use super::with_app;
use crate::config::Config;
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{App, COMMAND_LINE};
use dropleaf_core::iso;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List it by the pages it was taken down with, newest first
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let the content of a page be published again; the page itself stays down
    Forget {
        /// The id of the page it was taken down with
        page: String,
        /// Why; kept in the audit list
        #[arg(long)]
        reason: String,
    },
}

/// As many as are listed.
const MOST: i64 = 10_000;

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    with_app(config, async |app| act(app, command).await).await
}

async fn act(app: &App, command: Command) -> Result<()> {
    match command {
        Command::List { json: true } => {
            let all: Vec<_> = app
                .list_unwanted(MOST)
                .await?
                .iter()
                .map(|noted| {
                    json!({"site_id": noted.site_id, "reason": noted.reason, "created_at": noted.created_at})
                })
                .collect();
            println!("{}", serde_json::to_string_pretty(&json!({"unwanted": all}))?);
        }
        Command::List { json: false } => {
            let all = app.list_unwanted(MOST).await?;
            if all.is_empty() {
                println!("Nothing is refused because it was taken down before.");
                return Ok(());
            }
            println!("{:<27}{:<22}reason", "page", "taken down");
            for noted in all {
                let reason: String = noted.reason.chars().flat_map(char::escape_debug).collect();
                println!("{:<27}{:<22}{reason}", noted.site_id, iso::format(noted.created_at));
            }
        }
        Command::Forget { page, reason } => {
            app.forget_unwanted(COMMAND_LINE, page.trim(), &reason).await?;
            println!("{}: its content may be published again.", page.trim());
        }
    }
    Ok(())
}

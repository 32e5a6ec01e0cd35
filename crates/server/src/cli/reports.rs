//! `dropleaf reports`: lists viewers' reports about pages and closes them. Works while the server runs.

use super::{name, plain, print_line, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, DismissedReports, ReportedPage};
use dropleaf_core::iso;
use dropleaf_core::report::Outcome;
use serde_json::json;

/// The most characters of a comment in a table row.
const SHOWN: usize = 60;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Reports {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Close the open reports about a page and keep the page
    Dismiss {
        /// The page: its ID, slug, token or address
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        page: String,
        /// The reason to keep it; recorded in the audit log
        #[arg(long, default_value = "")]
        reason: String,
    },
}

#[derive(Debug, Args)]
struct List {
    /// Only open reports
    #[arg(long)]
    open: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// How many to show
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

impl Reports {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        let Some(Command::Dismiss { page, reason }) = self.command else {
            return self.list.run(config).await;
        };
        let act = async |app: &App| Ok(app.dismiss_reports(COMMAND_LINE, &page, &reason).await?);
        let DismissedReports { site, url, count } = with_app(config, act).await?;
        let closed =
            if count == 1 { "1 report closed".to_owned() } else { format!("{count} reports closed") };
        print_line(&format!("{}: {closed}; the page stays online: {url}", site.id))?;
        Ok(())
    }
}

impl List {
    async fn run(self, config: Config) -> Result<()> {
        let found = with_app(config, async |app| Ok(app.list_reports(self.open, self.limit).await?)).await?;
        if self.json {
            let reports: Vec<_> = found.iter().map(as_json).collect();
            print_line(&serde_json::to_string_pretty(&json!({"reports": reports}))?)?;
        } else {
            print_line(table(&found, self.open).trim_end_matches('\n'))?;
        }
        Ok(())
    }
}

fn as_json(page: &ReportedPage) -> serde_json::Value {
    let ReportedPage { report, url, state, account_id } = page;
    json!({
        "id": report.id,
        "site_id": report.site_id,
        "version": report.version,
        "url": url,
        "state": state,
        "account_id": account_id,
        "reason": report.content.reason.as_str(),
        "comment": report.content.comment,
        "contact": report.content.contact,
        "created_at": report.created_at,
        "closed_at": report.closed.map(|closed| closed.at),
        "outcome": report.closed.and_then(|closed| closed.outcome).map(Outcome::as_str),
    })
}

fn table(found: &[ReportedPage], open: bool) -> String {
    if found.is_empty() {
        let nothing = if open { "No open reports." } else { "No reports." };
        return format!("{nothing}\n");
    }
    let head = format!("{:<21}{:<12}{:<26}{:<11}{:<11}comment", "when", "reason", "site", "page", "report");
    let lines = found.iter().map(|ReportedPage { report, state, .. }| {
        let comment = plain(report.content.comment.as_deref().unwrap_or_default(), SHOWN);
        let (when, reason) = (iso::format(report.created_at), report.content.reason.as_str());
        let standing = report.status();
        format!("{when:<21}{reason:<12}{:<26}{state:<11}{standing:<11}{comment}", report.site_id)
    });
    let lines: Vec<String> = std::iter::once(head).chain(lines).collect();
    lines.join("\n") + "\n"
}

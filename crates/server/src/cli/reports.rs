//! `dropleaf reports`: lists reports about pages, by viewers and because of signals, and closes them. Works while the server runs.

use super::output::{Column, Now, Table, print_json, print_line, shortened};
use super::{name, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, DismissedReports, ReportedPage};
use dropleaf_core::attention::Signal;
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
        /// Print JSON
        #[arg(long)]
        json: bool,
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
        let Some(Command::Dismiss { page, reason, json }) = self.command else {
            return self.list.run(config).await;
        };
        let act = async |app: &App| Ok(app.dismiss_reports(COMMAND_LINE, &page, &reason).await?);
        let DismissedReports { site, url, count } = with_app(config, act).await?;
        if json {
            return print_json(&json!({"site_id": site.id, "url": url, "closed": count}));
        }
        let closed =
            if count == 1 { "1 report closed".to_owned() } else { format!("{count} reports closed") };
        print_line(&format!("{}: {closed}; the page stays online: {url}", site.id))
    }
}

impl List {
    async fn run(self, config: Config) -> Result<()> {
        let found = with_app(config, async |app| Ok(app.list_reports(self.open, self.limit).await?)).await?;
        if self.json {
            let reports: Vec<_> = found.iter().map(as_json).collect();
            print_json(&json!({"reports": reports}))
        } else {
            print_line(&table(&found, self.open))
        }
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
        "signal": report.signal.map(Signal::as_str),
        "comment": report.content.comment,
        "contact": report.content.contact,
        "created_at": report.created_at,
        "closed_at": report.closed.map(|closed| closed.at),
        "outcome": report.closed.and_then(|closed| closed.outcome).map(Outcome::as_str),
    })
}

fn table(found: &[ReportedPage], open: bool) -> String {
    if found.is_empty() {
        return (if open { "No open reports." } else { "No reports." }).to_owned();
    }
    let now = Now::read();
    let mut table = Table::new([
        Column::fixed("when"),
        Column::fixed("reason"),
        Column::fixed("site"),
        Column::fixed("page"),
        Column::fixed("report"),
        Column::flexible("comment"),
    ]);
    for ReportedPage { report, state, .. } in found {
        table.row([
            now.short(report.created_at).into(),
            report.signal.map_or(report.content.reason.as_str(), Signal::as_str).into(),
            report.site_id.as_str().into(),
            (*state).into(),
            report.status().into(),
            shortened(report.content.comment.as_deref().unwrap_or_default(), SHOWN).into(),
        ]);
    }
    table.render()
}

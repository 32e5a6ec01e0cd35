//! `dropleaf ledger audit`: checks the ledger. Works while the server runs.

use super::{print_line, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{LedgerAudit, LedgerFault};
use std::fmt;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check the whole ledger; exits with 0 if it is consistent, 3 if it is not
    Audit,
}

/// The error of `ledger audit`, after it has printed the faults.
#[derive(Debug)]
pub(super) struct Unbalanced;

impl fmt::Display for Unbalanced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ledger check failed")
    }
}

impl std::error::Error for Unbalanced {}

pub(super) async fn run(command: &Command, config: Config) -> Result<()> {
    let Command::Audit = command;
    let audit = with_app(config, async |app| Ok(app.audit_ledger().await?)).await?;
    print_line(report(&audit).trim_end_matches('\n'))?;
    if audit.faults.is_empty() { Ok(()) } else { Err(Unbalanced.into()) }
}

fn report(audit: &LedgerAudit) -> String {
    let LedgerAudit { booked, faults, took } = audit;
    let summary = format!("{booked} transactions checked in {} ms.", took.as_millis());
    if faults.is_empty() {
        return format!("Ledger check passed: {summary}\n");
    }
    let lines = faults.iter().map(|LedgerFault { what, subject, found, right }| {
        format!("{what}: {subject} (found {found}, expected {right})")
    });
    let lines: Vec<String> = lines.chain([summary]).collect();
    lines.join("\n") + "\n"
}

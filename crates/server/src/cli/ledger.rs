//! `dropleaf ledger audit`: checks the ledger. Works while the server runs.

use super::output::{print_json, print_line};
use super::with_app;
use crate::config::Config;
use anyhow::Result;
use clap::Subcommand;
use dropleaf_app::{LedgerAudit, LedgerFault};
use serde_json::{Value, json};
use std::fmt;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check the whole ledger; exits with 0 if it is consistent, 3 if it is not
    Audit {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
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
    let Command::Audit { json } = command;
    let audit = with_app(config, async |app| Ok(app.audit_ledger().await?)).await?;
    if *json {
        print_json(&as_json(&audit))?;
    } else {
        print_line(report(&audit).trim_end_matches('\n'))?;
    }
    if audit.faults.is_empty() { Ok(()) } else { Err(Unbalanced.into()) }
}

fn as_json(audit: &LedgerAudit) -> Value {
    let fault = |LedgerFault { what, subject, found, right }: &LedgerFault| json!({"fault": what, "subject": subject, "found": found, "expected": right});
    json!({
        "consistent": audit.faults.is_empty(),
        "transactions": audit.booked,
        "faults": audit.faults.iter().map(fault).collect::<Vec<_>>(),
    })
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

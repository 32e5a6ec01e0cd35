//! `dropleaf takedown` and `dropleaf audit`: removes a page for abuse, and shows what operators did. Both work while the
//! server runs.

use super::output::{Column, Now, Table, print_json, print_line};
use super::{name, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::Args;
use dropleaf_app::{App, COMMAND_LINE, CaseFile};
use dropleaf_core::audit::AuditEntry;
use dropleaf_core::iso;
use serde_json::json;

#[derive(Debug, Args)]
pub(super) struct Takedown {
    /// The page: its ID, slug, token or address
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    page: String,
    /// The reason; recorded in the audit log
    #[arg(long)]
    reason: String,
    /// A file of the page to block from being published again; can be given several times
    #[arg(long = "page", value_name = "PATH")]
    pages: Vec<String>,
    /// Also suspend the account that published it
    #[arg(long)]
    suspend: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Audit {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only entries about the page or account with this ID
    #[arg(long, value_name = "ID", allow_hyphen_values = true, value_parser = name::parse)]
    subject: Option<String>,
    /// How many to show
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

impl Takedown {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        let (page, reason) = (&self.page, &self.reason);
        let act = async |app: &App| {
            let (pages, suspend) = (&self.pages, self.suspend);
            let down = app.take_down_with_account(COMMAND_LINE, page, reason, pages, suspend).await?;
            let marked = app.find_marked_pages(&down.site.id).await?;
            let case = app.open_case(&down.site.id).await?;
            Ok((down, marked, case))
        };
        let (down, marked, case) = with_app(config, act).await?;
        if self.json {
            return print_json(&json!({
                "site_id": down.site.id,
                "url": down.url,
                "already": down.already,
                "account_id": down.site.account_id,
                "suspended": down.suspended,
                "blocked_pages": marked,
                "blocked": case.blocked_content.is_some(),
            }));
        }
        let when = if down.already { "was already taken down" } else { "was taken down" };
        print_line(&format!("{} {when}: {}", down.site.id, down.url))?;
        print_line(&became(&case))?;
        match &down.site.account_id {
            Some(account) if down.suspended => print_line(&format!("Its account {account} was suspended."))?,
            Some(_) if self.suspend => {
                print_line("Its account is an operator account and was not suspended.")?;
            }
            None if self.suspend => print_line("It has no account to suspend.")?,
            _ => {}
        }
        if !marked.is_empty() {
            print_line(&format!("Blocked from being published again: {}", super::unwanted::shown(&marked)))?;
        }
        Ok(())
    }
}

/// Where the content is now.
fn became(case: &CaseFile) -> String {
    let kept = match &case.evidence {
        Some(kept) if kept.erased_at.is_none() => {
            format!("Its content is stored as encrypted evidence until {}", iso::format(kept.erase_after))
        }
        _ if case.site.purged_at.is_some() => "Its content was erased".to_owned(),
        _ => "Its content will be encrypted as evidence by the server's next cleanup".to_owned(),
    };
    let again =
        if case.blocked_content.is_some() { " and is blocked from being published again." } else { "." };
    kept + again
}

impl Audit {
    pub(super) async fn run(self, config: Config) -> Result<()> {
        let subject = self.subject.as_deref();
        let found = with_app(config, async |app| match subject {
            Some(subject) => Ok(app.list_audit_about(subject, self.limit).await?),
            None => Ok(app.list_audit(self.limit).await?),
        })
        .await?;
        if self.json {
            let lines: Vec<_> = found.iter().map(as_json).collect();
            print_json(&json!({"audit": lines}))?;
        } else {
            print_line(&table(&found))?;
        }
        Ok(())
    }
}

fn as_json(entry: &AuditEntry) -> serde_json::Value {
    json!({
        "id": entry.id,
        "at": entry.at,
        "actor": entry.actor,
        "act": entry.action.as_str(),
        "subject": entry.subject,
        "reason": entry.reason,
    })
}

fn table(found: &[AuditEntry]) -> String {
    if found.is_empty() {
        return "The audit log is empty.".to_owned();
    }
    let now = Now::read();
    let mut table = Table::new([
        Column::fixed("time"),
        Column::fixed("actor"),
        Column::fixed("action"),
        Column::fixed("subject"),
        Column::flexible("reason"),
    ]);
    for entry in found {
        table.row([
            now.short(entry.at).into(),
            entry.actor.as_str().into(),
            entry.action.as_str().into(),
            entry.subject.as_str().into(),
            // It may repeat untrusted text.
            entry.reason.as_deref().unwrap_or_default().into(),
        ]);
    }
    table.render()
}

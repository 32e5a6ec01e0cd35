//! `dropleaf appeals`: pages that were refused and whose publishers ask for a second look. Works while the server runs.

use super::with_app;
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE};
use dropleaf_core::appeal::{Appeal, Decision, State};
use dropleaf_core::finding::Finding;
use dropleaf_core::iso;
use serde_json::{Value, json};

/// As much of a text as a line of the table holds.
const SHOWN: usize = 60;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Appeals {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Those that wait, the longest first
    List(List),
    /// One of them, with the reasons of the refusal and the publisher's words
    Show {
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Accept this content from now on, wherever it is published
    Allow(Answer),
    /// Leave it refused
    Uphold(Answer),
}

#[derive(Debug, Args)]
struct List {
    /// Decided ones too, newest first
    #[arg(long)]
    all: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// How many to show
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

#[derive(Debug, Args)]
struct Answer {
    id: String,
    /// The words that the publisher reads; kept in the audit list too
    #[arg(long)]
    answer: String,
}

pub(super) async fn run(appeals: Appeals, config: Config) -> Result<()> {
    match appeals.command {
        None => appeals.list.run(config).await,
        Some(Command::List(list)) => list.run(config).await,
        Some(Command::Show { id, json }) => {
            let appeal = with_app(config, async |app| Ok(app.get_appeal(&id).await?)).await?;
            if json {
                println!("{}", serde_json::to_string_pretty(&as_json(&appeal))?);
            } else {
                print!("{}", shown(&appeal));
            }
            Ok(())
        }
        Some(Command::Allow(answer)) => answer.decide(config, Decision::Allow).await,
        Some(Command::Uphold(answer)) => answer.decide(config, Decision::Uphold).await,
    }
}

impl List {
    async fn run(self, config: Config) -> Result<()> {
        let act = async |app: &App| {
            Ok(if self.all {
                app.list_appeals(self.limit).await?
            } else {
                app.list_open_appeals(self.limit).await?
            })
        };
        let found = with_app(config, act).await?;
        if self.json {
            let appeals: Vec<_> = found.iter().map(as_json).collect();
            println!("{}", serde_json::to_string_pretty(&json!({"appeals": appeals}))?);
        } else {
            print!("{}", table(&found));
        }
        Ok(())
    }
}

impl Answer {
    async fn decide(self, config: Config, decision: Decision) -> Result<()> {
        let act =
            async |app: &App| Ok(app.decide_appeal(COMMAND_LINE, &self.id, decision, &self.answer).await?);
        let appeal = with_app(config, act).await?;
        println!("{} is {}; its content is erased here", appeal.id, appeal.state.as_str());
        if decision == Decision::Allow && was_taken_down(&appeal) {
            println!(
                "It was taken down before and stays refused until `dropleaf unwanted forget` allows it again."
            );
        }
        Ok(())
    }
}

fn was_taken_down(appeal: &Appeal) -> bool {
    appeal.reasons.iter().any(|reason| reason.rule == "taken-down-before")
}

fn as_json(appeal: &Appeal) -> Value {
    let reason = |found: &Finding| json!({"rule": found.rule, "file": found.file, "line": found.line, "why": found.why, "fix": found.fix});
    let hash: String = appeal.digest.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "id": appeal.id,
        "status": appeal.state.as_str(),
        "title": appeal.title,
        "account_id": appeal.account_id,
        "content_hash": hash,
        "reasons": appeal.reasons.iter().map(reason).collect::<Vec<_>>(),
        "comment": appeal.plea.comment,
        "contact": appeal.plea.contact,
        "answer": appeal.answer,
        "created_at": appeal.created_at,
        "decided_at": appeal.decided_at,
    })
}

/// Strangers wrote this: what could move the cursor or turn the line around is shown as an escape.
fn plain(text: &str, most: usize) -> String {
    text.chars().take(most).flat_map(char::escape_debug).collect()
}

fn table(found: &[Appeal]) -> String {
    if found.is_empty() {
        return "No appeal is waiting.\n".to_owned();
    }
    let head = format!("{:<21}{:<27}{:<9}{:<26}comment", "when", "appeal", "status", "first reason");
    let lines = found.iter().map(|appeal| {
        let comment = plain(appeal.plea.comment.as_deref().unwrap_or_default(), SHOWN);
        let (when, state) = (iso::format(appeal.created_at), appeal.state.as_str());
        let reason = appeal.reasons.first().map_or("", |reason| reason.rule.as_str());
        format!("{when:<21}{:<27}{state:<9}{:<26}{comment}", appeal.id, plain(reason, 24))
    });
    let lines: Vec<String> = std::iter::once(head).chain(lines).collect();
    lines.join("\n") + "\n"
}

fn shown(appeal: &Appeal) -> String {
    let text = |text: Option<&str>| plain(text.unwrap_or("-"), usize::MAX);
    let mut lines = vec![
        format!("{}: {}, {}", appeal.id, appeal.state.as_str(), iso::format(appeal.created_at)),
        format!("title    {}", plain(&appeal.title, usize::MAX)),
        format!("account  {}", text(appeal.account_id.as_deref())),
        format!("contact  {}", text(appeal.plea.contact.as_deref())),
        format!("comment  {}", text(appeal.plea.comment.as_deref())),
    ];
    for reason in &appeal.reasons {
        let line = reason.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (file, why) = (plain(&reason.file, usize::MAX), plain(&reason.why, usize::MAX));
        lines.push(format!("reason   {} ({file}{line}): {why}", plain(&reason.rule, SHOWN)));
    }
    if appeal.state != State::Open {
        lines.push(format!("answer   {}", text(appeal.answer.as_deref())));
    }
    lines.join("\n") + "\n"
}

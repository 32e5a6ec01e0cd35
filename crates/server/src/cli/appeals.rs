//! `dropleaf appeals`: pages that were refused and whose publishers ask for a second look. Works while the server runs.

use super::{print_line, with_app};
use crate::config::Config;
use crate::http::error::finding_json;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, AppealCase, COMMAND_LINE};
use dropleaf_core::appeal::{Allowed, Appeal, Decision, State};
use dropleaf_core::{hex, iso};
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
    /// Leave one or several refused
    Uphold {
        #[arg(required = true)]
        ids: Vec<String>,
        /// The words that the publishers read; kept in the audit list too
        #[arg(long)]
        answer: String,
    },
    /// What was allowed, newest first
    Allowed {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// How many to show
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        limit: i64,
    },
    /// Take an allow back: the content is checked as any other, and what is published stays
    Disallow {
        /// The appeal it was allowed by, or the `content_hash`
        id: String,
        /// Why; kept in the audit list
        #[arg(long)]
        reason: String,
    },
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
            let act = async |app: &App| {
                let appeal = app.get_appeal(&id).await?;
                let case = app.appeal_case(&appeal).await?;
                Ok((appeal, case))
            };
            let (appeal, case) = with_app(config, act).await?;
            if json {
                print_line(&serde_json::to_string_pretty(&case_json(&appeal, &case))?)?;
            } else {
                print_line(shown(&appeal, &case).trim_end_matches('\n'))?;
            }
            Ok(())
        }
        Some(Command::Allow(answer)) => answer.allow(config).await,
        Some(Command::Uphold { ids, answer }) => uphold(config, &ids, &answer).await,
        Some(Command::Allowed { json, limit }) => {
            let found = with_app(config, async |app| Ok(app.list_allowed(limit).await?)).await?;
            if json {
                let allowed: Vec<_> = found.iter().map(allowed_json).collect();
                print_line(&serde_json::to_string_pretty(&json!({"allowed": allowed}))?)?;
            } else {
                print_line(allowed_table(&found).trim_end_matches('\n'))?;
            }
            Ok(())
        }
        Some(Command::Disallow { id, reason }) => {
            let act = async |app: &App| Ok(app.disallow(COMMAND_LINE, id.trim(), &reason).await?);
            let allowed = with_app(config, act).await?;
            print_line(&format!("{} is checked as any other content again", hex::encode(&allowed.digest)))?;
            Ok(())
        }
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
            print_line(&serde_json::to_string_pretty(&json!({"appeals": appeals}))?)?;
        } else {
            print_line(table(&found).trim_end_matches('\n'))?;
        }
        Ok(())
    }
}

impl Answer {
    async fn allow(self, config: Config) -> Result<()> {
        let act = async |app: &App| {
            Ok(app.decide_appeal(COMMAND_LINE, &self.id, Decision::Allow, &self.answer).await?)
        };
        let appeal = with_app(config, act).await?;
        print_line(&format!("{} is {}; its content is erased here", appeal.id, appeal.state.as_str()))
    }
}

async fn uphold(config: Config, ids: &[String], answer: &str) -> Result<()> {
    let act = async |app: &App| {
        // Of one, it is told why not.
        if let [id] = ids {
            app.decide_appeal(COMMAND_LINE, id, Decision::Uphold, answer).await?;
            return Ok(1);
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        Ok(app.uphold_appeals(COMMAND_LINE, &ids, answer).await?)
    };
    let count = with_app(config, act).await?;
    match ids {
        [id] => print_line(&format!("{id} is upheld; its content is erased here")),
        _ => print_line(&format!("{count} of {} are upheld; the others were decided before", ids.len())),
    }
}

fn as_json(appeal: &Appeal) -> Value {
    json!({
        "id": appeal.id,
        "status": appeal.state.as_str(),
        "title": appeal.title,
        "account_id": appeal.account_id,
        "content_hash": hex::encode(&appeal.digest),
        "reasons": appeal.reasons.iter().map(finding_json).collect::<Vec<_>>(),
        "comment": appeal.plea.comment,
        "contact": appeal.plea.contact,
        "answer": appeal.answer,
        "created_at": appeal.created_at,
        "decided_at": appeal.decided_at,
    })
}

/// The same with what else there is to know.
fn case_json(appeal: &Appeal, case: &AppealCase) -> Value {
    let mut json = as_json(appeal);
    json["like_site"] = json!(case.like_site);
    json["is_allowed"] = json!(case.allowed.is_some());
    json["earlier"] = case.earlier.iter().map(as_json).collect();
    let joined = case.joined.iter().map(|joined| {
        let (comment, contact) = (&joined.plea.comment, &joined.plea.contact);
        json!({"account_id": joined.account_id, "comment": comment, "contact": contact, "created_at": joined.created_at})
    });
    json["joined"] = joined.collect();
    json
}

fn allowed_json(allowed: &Allowed) -> Value {
    json!({
        "appeal_id": allowed.appeal_id,
        "content_hash": hex::encode(&allowed.digest),
        "reason": allowed.reason,
        "created_at": allowed.created_at,
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

fn allowed_table(found: &[Allowed]) -> String {
    if found.is_empty() {
        return "Nothing is allowed against the checks.\n".to_owned();
    }
    let head = format!("{:<21}{:<27}{:<19}reason", "since", "appeal", "content_hash");
    let lines = found.iter().map(|allowed| {
        let (since, hash) = (iso::format(allowed.created_at), hex::encode(&allowed.digest[..8]));
        let appeal = allowed.appeal_id.as_deref().unwrap_or("-");
        format!("{since:<21}{appeal:<27}{hash}…  {}", plain(&allowed.reason, SHOWN))
    });
    let lines: Vec<String> = std::iter::once(head).chain(lines).collect();
    lines.join("\n") + "\n"
}

fn shown(appeal: &Appeal, case: &AppealCase) -> String {
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
    for joined in &case.joined {
        let (comment, contact) = (text(joined.plea.comment.as_deref()), text(joined.plea.contact.as_deref()));
        lines.push(format!("again    {}, {contact}: {comment}", iso::format(joined.created_at)));
    }
    if let Some(site) = &case.like_site {
        lines.push(format!("like     {site}, which was taken down (dropleaf unwanted forget {site})"));
    }
    for earlier in &case.earlier {
        let (when, state) = (iso::format(earlier.created_at), earlier.state.as_str());
        lines.push(format!("before   {}, {when}: {state}: {}", earlier.id, text(earlier.answer.as_deref())));
    }
    if appeal.state != State::Open {
        lines.push(format!("answer   {}", text(appeal.answer.as_deref())));
    }
    lines.join("\n") + "\n"
}

//! `dropleaf appeals`: lists and decides appeals against refused pages. Works while the server runs.

mod print;

use super::output::{print_json, print_line};
use super::{name, with_app};
use crate::config::Config;
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE};
use dropleaf_core::appeal::Decision;
use dropleaf_core::hex;
use print::{allowed_json, allowed_table, as_json, case_json, shown, table};
use serde_json::json;

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
    /// List open appeals, oldest first
    List(List),
    /// Show one appeal, with the reasons for the refusal and the publisher's comment
    Show {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Allow this content from now on, for any publisher
    Allow(AllowAppeal),
    /// Uphold one or more refusals
    Uphold {
        #[arg(required = true)]
        ids: Vec<String>,
        /// The reply to the publishers; also recorded in the audit log
        #[arg(long)]
        answer: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List allowed content, newest first
    Allowed {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// How many to show
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        limit: i64,
    },
    /// Revoke an approval: the content is checked again from now on; published pages stay online
    Disallow {
        /// The appeal that allowed it, or the `content_hash`
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        id: String,
        /// The reason; recorded in the audit log
        #[arg(long)]
        reason: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct List {
    /// Include decided appeals, newest first
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// How many to show
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

#[derive(Debug, Args)]
struct AllowAppeal {
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    id: String,
    /// The reply to the publisher; also recorded in the audit log
    #[arg(long)]
    answer: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
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
                print_json(&case_json(&appeal, &case))?;
            } else {
                print_line(shown(&appeal, &case).trim_end_matches('\n'))?;
            }
            Ok(())
        }
        Some(Command::Allow(answer)) => answer.allow(config).await,
        Some(Command::Uphold { ids, answer, json }) => uphold(config, &ids, &answer, json).await,
        Some(Command::Allowed { json, limit }) => {
            let found = with_app(config, async |app| Ok(app.list_allowed(limit).await?)).await?;
            if json {
                let allowed: Vec<_> = found.iter().map(allowed_json).collect();
                print_json(&json!({"allowed": allowed}))?;
            } else {
                print_line(&allowed_table(&found))?;
            }
            Ok(())
        }
        Some(Command::Disallow { id, reason, json }) => {
            let act = async |app: &App| Ok(app.revoke_allowed(COMMAND_LINE, id.trim(), &reason).await?);
            let allowed = with_app(config, act).await?;
            if json {
                return print_json(&json!({"content_hash": hex::encode(&allowed.digest), "allowed": false}));
            }
            print_line(&format!(
                "{} is no longer allowed and is checked like any other content",
                hex::encode(&allowed.digest)
            ))?;
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
            print_json(&json!({"appeals": appeals}))?;
        } else {
            print_line(&table(&found))?;
        }
        Ok(())
    }
}

impl AllowAppeal {
    async fn allow(self, config: Config) -> Result<()> {
        let act = async |app: &App| {
            Ok(app.decide_appeal(COMMAND_LINE, &self.id, Decision::Allow, &self.answer).await?)
        };
        let appeal = with_app(config, act).await?;
        if self.json {
            return print_json(&as_json(&appeal));
        }
        print_line(&format!("{} is {}; the stored copy was erased", appeal.id, appeal.state.as_str()))
    }
}

async fn uphold(config: Config, ids: &[String], answer: &str, json: bool) -> Result<()> {
    let act = async |app: &App| {
        // A single failure is reported with its reason.
        if let [id] = ids {
            app.decide_appeal(COMMAND_LINE, id, Decision::Uphold, answer).await?;
            return Ok(1);
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        Ok(app.uphold_appeals(COMMAND_LINE, &ids, answer).await?)
    };
    let count = with_app(config, act).await?;
    if json {
        return print_json(&json!({"upheld": count, "ids": ids}));
    }
    match ids {
        [id] => print_line(&format!("{id}: refusal upheld; the stored copy was erased")),
        _ => print_line(&format!(
            "{count} of {} refusals upheld; appeals that were already decided were skipped",
            ids.len()
        )),
    }
}

//! `dropleaf feedback`: lists the comments of viewers on a page, and resolves them; `feedback_threads` answers them.

use super::ClientEnvironment;
use super::feedback_threads::{Filters, Reopen, Reply, write_replies};
use super::session::explained;
use super::target::{ServerArgs, target, warn};
use crate::cli::exit::WrongUse;
use crate::cli::name;
use crate::cli::output::{FAINT, GOOD, HEADING, Now, WARNING, print_json, print_line, visible};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use dropleaf_client::{Client, Comment};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The most comments in one response of the server.
const PART: u32 = 200;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Feedback {
    #[command(subcommand)]
    command: Option<Command>,
    /// The page: its ID, slug, token or URL
    #[arg(required = true, allow_hyphen_values = true, value_parser = name::parse)]
    page: Option<String>,
    /// Only comments that are not resolved
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    filters: Filters,
    /// In which order; unresolved ones always come first
    #[arg(long, value_parser = ["newest", "oldest", "severity"])]
    order: Option<String>,
    /// How many to show: unresolved first, then newest
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Mark comments as resolved
    Resolve(Resolve),
    /// Reply to a comment; viewers can read it
    Reply(Reply),
    /// Reopen a resolved comment
    Reopen(Reopen),
}

#[derive(Debug, Args)]
struct Resolve {
    /// The IDs of the comments
    #[arg(required_unless_present = "page", conflicts_with = "page", value_name = "ID")]
    ids: Vec<String>,
    /// Instead of IDs: the page whose unresolved comments to resolve, with a filter or --all
    #[arg(long, allow_hyphen_values = true, value_parser = name::parse)]
    page: Option<String>,
    /// All unresolved comments of the page
    #[arg(long, requires = "page")]
    all: bool,
    #[command(flatten)]
    filters: Filters,
    /// What was done about them
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

impl Feedback {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        match self.command {
            Some(Command::Resolve(resolve)) => return resolve.run(environment).await,
            Some(Command::Reply(reply)) => return reply.run(environment).await,
            Some(Command::Reopen(reopen)) => return reopen.run(environment).await,
            None => {}
        }
        let mut filter = self.filters.filter();
        filter.order = self.order.clone();
        if self.open && filter.state.is_none() {
            filter.state = Some("open".to_owned());
        }
        let page = self.page.as_deref().context("name a page")?;
        let target = target(environment, &self.server, page).await?;
        let (mut comments, mut raw): (Vec<Comment>, Vec<Value>) = (Vec::new(), Vec::new());
        let (mut cursor, mut notice): (Option<String>, Option<String>) = (None, None);
        let mut has_more = true;
        while has_more {
            let room = self.limit.saturating_sub(u32::try_from(comments.len()).unwrap_or(u32::MAX));
            if room == 0 {
                break;
            }
            let part =
                target.client.list_feedback(&target.name, &filter, room.min(PART), cursor.as_deref()).await;
            let part = part.map_err(|error| target.explained(error))?;
            let json = part.json["feedback"].as_array().into_iter().flatten();
            // Unresolved comments come first, so the first resolved one ends them.
            let is_wanted = |comment: &Comment| !self.open || comment.resolved_at.is_none();
            let is_end = part.value.feedback.iter().any(|comment| !is_wanted(comment));
            for (comment, json) in part.value.feedback.into_iter().zip(json).filter(|(it, _)| is_wanted(it)) {
                comments.push(comment);
                raw.push(json.clone());
            }
            notice = notice.or(part.value.notice);
            cursor = part.value.next_cursor;
            has_more = part.value.has_more && cursor.is_some() && !is_end;
        }
        if self.server.json {
            return print_json(&json!({ "feedback": raw, "has_more": has_more, "notice": notice }));
        }
        if comments.is_empty() {
            return print_line(if self.open { "No unresolved comments." } else { "No comments." });
        }
        print_line(&text(&comments, Now::read()))?;
        if has_more {
            eprintln!("There are more comments; use --limit to see them.");
        }
        if let Some(notice) = notice {
            eprintln!("{}", visible(&notice));
        }
        Ok(())
    }
}

impl Resolve {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        if let Some(page) = &self.page {
            return self.resolve_page(environment, page).await;
        }
        if self.filters.filter().pairs().next().is_some() {
            return Err(WrongUse("filters need --page instead of IDs".to_owned()).into());
        }
        let client = self.server.client(environment)?;
        let mut answers = Vec::new();
        let outcome = self.resolve_all(&client, &mut answers).await;
        // Comments before one that failed are resolved all the same.
        match answers.as_slice() {
            [] => {}
            [one] if self.ids.len() == 1 => print_json(one)?,
            many => print_json(&many)?,
        }
        outcome
    }

    /// Resolves the unresolved comments of a page that the filters select.
    async fn resolve_page(&self, environment: &ClientEnvironment, page: &str) -> Result<()> {
        let mut filter = self.filters.filter();
        if filter.pairs().next().is_none() {
            if !self.all {
                return Err(WrongUse("name a filter, such as --severity, or use --all".to_owned()).into());
            }
            filter.state = Some("open".to_owned());
        }
        let target = target(environment, &self.server, page).await?;
        let resolved = target.client.resolve_feedback_by(&target.name, &filter, self.note.as_deref()).await;
        let resolved = resolved.map_err(|error| target.explained(error))?;
        if self.server.json {
            return print_json(&resolved.json);
        }
        warn(&resolved.value.warnings);
        match resolved.value.ids.len() {
            0 => print_line("No unresolved comments match."),
            1 => print_line("1 comment is resolved."),
            many => print_line(&format!("{many} comments are resolved.")),
        }
    }

    /// Resolves the comments up to the first that fails; `answers` gets the responses for `--json`.
    async fn resolve_all(&self, client: &Client, answers: &mut Vec<Value>) -> Result<()> {
        for id in &self.ids {
            let resolved = client.resolve_feedback(id, self.note.as_deref()).await;
            let resolved = resolved
                .map_err(|error| explained(error, client.server()))
                .with_context(|| format!("{} was not resolved", visible(id)))?;
            if self.server.json {
                answers.push(resolved.json);
                continue;
            }
            print_line(&format!("{} is resolved.", visible(&resolved.value.id)))?;
            warn(&resolved.value.warnings);
        }
        Ok(())
    }
}

/// Complete comments, one below the other: they are often longer than a line.
fn text(comments: &[Comment], now: Now) -> String {
    let mut text = String::new();
    for comment in comments {
        let (state, style) = match (comment.resolved_at, comment.state.as_str()) {
            (Some(_), _) => ("resolved", GOOD),
            (None, "reopened") => ("reopened", WARNING),
            (None, _) => ("open", WARNING),
        };
        let asks: Vec<String> =
            [&comment.intent, &comment.severity].into_iter().flatten().map(|word| visible(word)).collect();
        let asks = if asks.is_empty() { String::new() } else { format!("  {}", asks.join(", ")) };
        let (id, when) = (visible(&comment.id), now.long(comment.created_at));
        let _ =
            writeln!(text, "{HEADING}{id}{HEADING:#}  {style}{state}{style:#}{asks}  {FAINT}{when}{FAINT:#}");
        let about = comment.selected_text.as_ref().or(comment.element.as_ref());
        if let Some(about) = about.filter(|about| !about.trim().is_empty()) {
            let _ = writeln!(text, "  {FAINT}on: {}{FAINT:#}", visible(about.trim()));
        }
        for line in comment.comment.lines() {
            let _ = writeln!(text, "  {}", visible(line));
        }
        write_replies(&mut text, comment, now);
        if let Some(note) = &comment.resolved_note {
            let _ = writeln!(text, "  {FAINT}note: {}{FAINT:#}", visible(note));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

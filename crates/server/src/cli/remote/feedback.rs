//! `dropleaf feedback`: lists the comments of viewers on a page, and resolves them.

use super::ClientEnvironment;
use super::session::explained;
use super::target::{ServerArgs, target, warn};
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
}

#[derive(Debug, Args)]
struct Resolve {
    /// The IDs of the comments
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// What was done about them
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

impl Feedback {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        if let Some(Command::Resolve(resolve)) = self.command {
            return resolve.run(environment).await;
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
            let part = target.client.list_feedback(&target.name, room.min(PART), cursor.as_deref()).await;
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
        let (state, style) =
            if comment.resolved_at.is_some() { ("resolved", GOOD) } else { ("open", WARNING) };
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
        if let Some(note) = &comment.resolved_note {
            let _ = writeln!(text, "  {FAINT}note: {}{FAINT:#}", visible(note));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

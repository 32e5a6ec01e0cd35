//! `dropleaf feedback reply` and `dropleaf feedback reopen`, and what the feedback commands share: filters, and replies as
//! text.

use super::ClientEnvironment;
use super::target::{ServerArgs, target, warn};
use crate::cli::name;
use crate::cli::output::{FAINT, Now, print_json, print_line, visible};
use anyhow::Result;
use clap::Args;
use dropleaf_client::{Comment, CommentFilter};
use std::fmt::Write as _;

// Doc comments on this type would replace the description of the command that contains it.
#[derive(Debug, Args)]
pub(super) struct Filters {
    /// Only comments in this state; open includes reopened
    #[arg(long, value_parser = ["open", "reopened", "resolved", "all"])]
    state: Option<String>,
    /// Only comments of this severity
    #[arg(long, value_parser = ["blocking", "important", "suggestion"])]
    severity: Option<String>,
    /// Only comments with this intent
    #[arg(long, value_parser = ["fix", "change", "question", "approve"])]
    intent: Option<String>,
    /// Only comments that contain this text
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
}

impl Filters {
    pub(super) fn filter(&self) -> CommentFilter {
        CommentFilter {
            state: self.state.clone(),
            severity: self.severity.clone(),
            intent: self.intent.clone(),
            query: self.query.clone(),
            order: None,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Reply {
    /// The page: its ID, slug, token or URL
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    page: String,
    /// The ID of the comment
    id: String,
    /// The reply
    text: String,
    /// Who is shown as its author
    #[arg(long = "as", value_name = "AUTHOR", default_value = "owner", value_parser = ["owner", "agent"])]
    author: String,
    /// Also resolve the comment
    #[arg(long)]
    resolve: bool,
    #[command(flatten)]
    server: ServerArgs,
}

impl Reply {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = target(environment, &self.server, &self.page).await?;
        let client = &target.client;
        let sent =
            client.reply_to_feedback(&target.name, &self.id, &self.text, &self.author, self.resolve).await;
        let sent = sent.map_err(|error| target.explained(error))?;
        if self.server.json {
            return print_json(&sent.json);
        }
        warn(&sent.value.warnings);
        print_line(&format!(
            "Replied to {}, which is {}.",
            visible(&sent.value.id),
            visible(&sent.value.state)
        ))
    }
}

#[derive(Debug, Args)]
pub(super) struct Reopen {
    /// The page: its ID, slug, token or URL
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    page: String,
    /// The ID of the comment
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

impl Reopen {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let target = target(environment, &self.server, &self.page).await?;
        let reopened = target.client.reopen_feedback(&target.name, &self.id).await;
        let reopened = reopened.map_err(|error| target.explained(error))?;
        if self.server.json {
            return print_json(&reopened.json);
        }
        print_line(&format!("{} is {}.", visible(&reopened.value.id), visible(&reopened.value.state)))
    }
}

/// Writes the replies to a comment below it.
pub(super) fn write_replies(text: &mut String, comment: &Comment, now: Now) {
    let hidden = comment.reply_count - i64::try_from(comment.replies.len()).unwrap_or_default();
    if hidden > 0 {
        let _ = writeln!(text, "    {FAINT}({hidden} earlier replies){FAINT:#}");
    }
    for reply in &comment.replies {
        let name = reply.name.as_deref().map(|name| format!(" {}", visible(name))).unwrap_or_default();
        let when = now.long(reply.created_at);
        let _ = writeln!(text, "    {FAINT}{}{name}, {when}:{FAINT:#}", visible(&reply.author));
        for line in reply.text.lines() {
            let _ = writeln!(text, "    {}", visible(line));
        }
    }
}

//! What `dropleaf publish` prints: links on standard output, everything for people on standard error.

use super::folder::Skipped;
use super::send::Sent;
use super::visible;
use crate::cli::output::{print_line, shortened};
use anyhow::Result;
use dropleaf_client::{ClientError, Reason};
use serde_json::Value;
use std::path::Path;

/// The most skipped files that are named.
const MOST_NAMED: usize = 10;
const NAME_CHARACTERS: usize = 1000;

/// Whether a page was refused for its content, which is not a failure of the command.
pub(in crate::cli) fn is_refusal(error: &ClientError) -> bool {
    error.status() == Some(422) && !error.reasons().is_empty()
}

/// Prints all reasons against a page, for its author to fix; the error itself contains only the first.
pub(super) fn print_reasons(error: &ClientError, path: &Path, server: &str) {
    for Reason { rule, file, line, why, fix } in error.reasons() {
        let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
        eprintln!("{place}: {why}\n    {fix} [{rule}]");
    }
    // Only if the server says that it accepts appeals, and the file can be sent as it is.
    if path.is_file() && error.body().is_some_and(|body| body["appeal_url"].is_string()) {
        eprintln!(
            "If this is a mistake, request a review from the operator of the server:\n  \
             curl -F {} -F comment=WHY {server}/appeals",
            quoted(&format!("file=@{}", path.display())),
        );
    }
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=@./_-".contains(c);
    let word = visible(word);
    if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

pub(super) fn print_skipped(skipped: &[Skipped]) {
    for Skipped { name, why } in skipped.iter().take(MOST_NAMED) {
        eprintln!("note: not sent: {} ({why})", shortened(name, NAME_CHARACTERS));
    }
    if let Some(more) = skipped.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        eprintln!("note: not sent: {more} more; --dry-run --json lists all");
    }
}

pub(super) fn print_gone(url: &str) {
    eprintln!("note: {url} is gone; publishing a new page, with only the settings given now");
}

/// Prints the link for scripts, the rest for people.
pub(super) fn print_link(sent: &Sent, server: &str) -> Result<()> {
    print_line(&visible(&sent.link))?;
    print_warnings(sent);
    if let Some(claim) = &sent.site.claim_url {
        let expiry = sent.site.expires_at_iso.as_deref();
        let until = expiry.map_or_else(String::new, |at| format!(" until {}", visible(at)));
        eprintln!(
            "Published without an account. The page stays online{until}. To keep it, sign in and open\n  {}\n\
             or run `dropleaf login {server}` and publish it again.",
            visible(claim),
        );
        if sent.site.more.get("agentation").and_then(Value::as_bool).unwrap_or_default() {
            eprintln!(
                "Comments are shown on the page. To reply to them and resolve them, the page needs an account."
            );
        }
    }
    Ok(())
}

pub(super) fn print_warnings(sent: &Sent) {
    for warning in &sent.site.warnings {
        eprintln!("note: {}", visible(warning));
    }
}

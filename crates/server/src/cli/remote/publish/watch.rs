//! `dropleaf publish --watch`: publishes again when files change, until Ctrl-C. A refused version or an unreachable server does
//! not end it.

use super::changes::Changes;
use super::report;
use super::send::{Job, Sender, Sent};
use crate::cli::exit::error_text;
use anyhow::Result;
use dropleaf_client::{ClientError, PageOptions};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A server may ask for a longer pause, up to this.
const LONGEST_REQUESTED: Duration = Duration::from_mins(5);

/// A path, what was last published from it, and whether its settings were sent.
#[derive(Debug)]
pub(super) struct WatchedJob {
    pub(super) job: Job,
    hash: Option<blake3::Hash>,
    has_settings: bool,
}

impl WatchedJob {
    pub(super) const fn new(job: Job) -> Self {
        Self { job, hash: None, has_settings: false }
    }
}

/// Publishes what is watched, and prints each new version.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    pub(super) sender: &'a Sender,
    pub(super) options: &'a PageOptions,
    pub(super) jobs: Vec<WatchedJob>,
    pub(super) as_json: bool,
}

impl Watch<'_> {
    /// Publishes everything once. Content that is refused can be corrected while it is watched; any other error ends the
    /// command.
    pub(super) async fn start(&mut self, on_first: impl Fn(&Sent)) -> Result<()> {
        for at in 0..self.jobs.len() {
            match self.publish(at).await {
                Ok(Some(sent)) => on_first(&sent),
                Ok(None) => {}
                Err(error) if is_about_content(&error) => eprintln!("dropleaf: {}", error_text(&error)),
                Err(error) => return Err(error),
            }
        }
        eprintln!("Watching for changes. Press Ctrl-C to stop.");
        Ok(())
    }

    /// Runs until it is dropped.
    pub(super) async fn follow(&mut self, changes: &mut Changes) {
        let mut pending = BTreeSet::new();
        let mut pause = FIRST_PAUSE;
        loop {
            if pending.is_empty() {
                changes.settle().await;
            } else {
                tokio::select! {
                    () = changes.settle() => {}
                    () = sleep(pause) => {}
                }
            }
            pending.extend(changes.take());
            let was_waiting = pause > FIRST_PAUSE;
            let mut requested = None;
            for at in std::mem::take(&mut pending) {
                match self.publish(at).await {
                    Ok(_) => {}
                    Err(error) if is_temporary(&error) => {
                        if !was_waiting {
                            eprintln!("dropleaf: {}; trying again until it works", error_text(&error));
                        }
                        requested = requested.max(retry_after(&error));
                        pending.insert(at);
                    }
                    Err(error) => eprintln!("dropleaf: {}", error_text(&error)),
                }
            }
            pause = if pending.is_empty() { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            pause = pause.max(requested.unwrap_or_default().min(LONGEST_REQUESTED));
        }
    }

    /// Publishes a path unless its content is the same as last time.
    async fn publish(&mut self, at: usize) -> Result<Option<Sent>> {
        let WatchedJob { job, hash, has_settings } = &mut self.jobs[at];
        let content = self.sender.read(&job.target).await?;
        let new_hash = content.hash()?;
        if *hash == Some(new_hash) {
            return Ok(None);
        }
        let is_first = hash.is_none();
        if is_first {
            report::print_skipped(&content.skipped);
        }
        let id = job.page.as_ref().map(|page| page.id.clone());
        // Settings are sent once: repeating them would undo changes made elsewhere, such as a new expiry.
        let outcome = self.sender.send(job, &content, self.options, *has_settings).await;
        // Content that was refused is not sent again until it changes.
        if outcome.is_ok() || outcome.as_ref().is_err_and(is_about_content) {
            *hash = Some(new_hash);
        }
        let sent = outcome?;
        *has_settings = true;
        let is_other_page = id.as_ref() != Some(&sent.site.id);
        if self.as_json {
            crate::cli::output::print_line(&serde_json::to_string(&sent.site)?)?;
        } else if is_first || is_other_page {
            report::print_link(&sent, self.sender.client.server())?;
        } else {
            report::print_warnings(&sent);
        }
        if !is_first {
            let version = sent.site.more.get("version").and_then(serde_json::Value::as_i64);
            eprintln!("Published version {} of {}", version.unwrap_or_default(), job.target.shown());
        }
        Ok(Some(sent))
    }
}

fn response(error: &anyhow::Error) -> Option<&ClientError> {
    error.downcast_ref::<ClientError>()
}

/// Whether other content could be accepted.
fn is_about_content(error: &anyhow::Error) -> bool {
    response(error)
        .and_then(ClientError::status)
        .is_some_and(|status| matches!(status, 400 | 413 | 415 | 422))
}

/// Whether the same request may succeed later.
fn is_temporary(error: &anyhow::Error) -> bool {
    match response(error) {
        Some(ClientError::Unreachable { .. } | ClientError::File(_)) => true,
        // The first attempt is still in progress there.
        Some(error) if error.code() == Some("idempotency_in_flight") => true,
        Some(error) => error.status().is_some_and(|status| matches!(status, 408 | 429 | 500..)),
        None => false,
    }
}

fn retry_after(error: &anyhow::Error) -> Option<Duration> {
    match response(error) {
        Some(ClientError::Refused { retry_after, .. }) => retry_after.map(Duration::from_secs),
        _ => None,
    }
}

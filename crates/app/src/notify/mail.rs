//! Sends email through a [`Mailer`] with a bounded queue. The transport (SMTP or a folder) is implemented in the server.

use crate::app::App;
use futures_util::future::BoxFuture;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Emails that may wait for sending; more are dropped and logged.
const QUEUE_LENGTH: usize = 256;
const CONCURRENT_SENDS: usize = 4;
const SEND_TIMEOUT: Duration = Duration::from_secs(15);

/// An email to one person. It never contains untrusted input; it may contain text by operators, and titles of the
/// recipient's own pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Email {
    /// Unique id of the email.
    pub id: String,
    /// Epoch seconds.
    pub written_at: i64,
    pub to: String,
    pub subject: String,
    pub text: String,
    /// Where its recipient ends emails of this kind, for those that were not requested one by one.
    pub unsubscribe: Option<String>,
}

/// Why an email was not sent. Contains no address, because it is logged.
#[derive(Debug)]
pub enum MailError {
    /// Permanent failure.
    Permanent(String),
    /// Temporary failure; a retry may succeed.
    Temporary(String),
    /// It may have been sent.
    Ambiguous(String),
}

impl MailError {
    fn why(&self) -> &str {
        let (Self::Permanent(why) | Self::Temporary(why) | Self::Ambiguous(why)) = self;
        why
    }
}

/// Sends emails: by SMTP, or into a folder.
pub trait Mailer: Send + Sync + std::fmt::Debug + 'static {
    /// Whether emails can be sent at all.
    fn is_ready(&self) -> bool;
    fn send<'a>(&'a self, email: &'a Email) -> BoxFuture<'a, Result<(), MailError>>;
}

/// What happened to emails since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailCounts {
    pub sent: u64,
    pub failed: u64,
    /// Not attempted, because too many were waiting.
    pub dropped: u64,
    /// Being sent or waiting for it, now.
    pub waiting: i64,
}

#[derive(Debug)]
pub(crate) struct MailQueue {
    queue: Semaphore,
    permits: Semaphore,
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl Default for MailQueue {
    fn default() -> Self {
        Self {
            queue: Semaphore::new(CONCURRENT_SENDS + QUEUE_LENGTH),
            permits: Semaphore::new(CONCURRENT_SENDS),
            sent: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }
}

impl App {
    pub fn mail_counts(&self) -> MailCounts {
        let MailQueue { queue, sent, failed, dropped, .. } = &self.notify.mail_queue;
        let busy = (CONCURRENT_SENDS + QUEUE_LENGTH).saturating_sub(queue.available_permits());
        MailCounts {
            sent: sent.load(Ordering::Relaxed),
            failed: failed.load(Ordering::Relaxed),
            dropped: dropped.load(Ordering::Relaxed),
            waiting: i64::try_from(busy).unwrap_or(i64::MAX),
        }
    }

    /// Sends an email. Call it in a background task: if the request waited for it, the response time would reveal whether
    /// one was sent.
    pub async fn send_email_logged(&self, email: Email) {
        // The outcome is logged.
        let _ = self.send_email(&email).await;
    }

    /// Sends an email and returns the outcome.
    pub(crate) async fn send_email(&self, email: &Email) -> Result<(), MailError> {
        let later = |why: &str| MailError::Temporary(why.to_owned());
        let Some(mailer) = &self.notify.mailer else { return Err(later("mail is turned off")) };
        let Ok(_slot) = self.notify.mail_queue.queue.try_acquire() else {
            self.notify.mail_queue.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::warn!("outgoing mail queue full, email dropped");
            return Err(later("outgoing mail queue full"));
        };
        let Ok(_permit) = self.notify.mail_queue.permits.acquire().await else {
            return Err(later("mail queue closed"));
        };
        let outcome = tokio::time::timeout(SEND_TIMEOUT, mailer.send(email)).await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(MailError::Ambiguous("the mail server took too long".into())));
        let counts = &self.notify.mail_queue;
        let counter = if outcome.is_ok() { &counts.sent } else { &counts.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        match &outcome {
            Ok(()) => tracing::debug!(letter = email.id, "email sent"),
            Err(error) => {
                tracing::warn!(letter = email.id, why = error.why(), "email not sent");
            }
        }
        outcome
    }
}

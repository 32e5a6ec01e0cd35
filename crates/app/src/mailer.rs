//! Mail that the service sends: a letter, and whoever takes it away. How it travels is the server's business.

use crate::app::App;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Letters that may wait for a turn; more are dropped, and the log says so.
const WAITING: usize = 256;
const AT_ONCE: usize = 4;
const PATIENCE: Duration = Duration::from_secs(15);

/// A message to one person. It never holds text of a stranger; of operators it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Names this letter among all.
    pub id: String,
    /// Epoch seconds.
    pub written_at: i64,
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Why a letter did not leave. Holds no address: it goes to the log.
#[derive(Debug)]
pub enum MailError {
    /// It never will.
    Refused(String),
    /// Not now; another time it may.
    Later(String),
    /// It may have left all the same.
    Unclear(String),
}

impl MailError {
    fn why(&self) -> &str {
        let (Self::Refused(why) | Self::Later(why) | Self::Unclear(why)) = self;
        why
    }
}

/// Takes letters away: by SMTP, or into a folder.
pub trait Mailer: Send + Sync + std::fmt::Debug + 'static {
    /// Whether it makes sense to write a letter at all.
    fn is_ready(&self) -> bool;
    fn send<'a>(&'a self, letter: &'a Letter) -> BoxFuture<'a, Result<(), MailError>>;
}

#[derive(Debug)]
pub(crate) struct PostOffice {
    queue: Semaphore,
    turns: Semaphore,
}

impl Default for PostOffice {
    fn default() -> Self {
        Self { queue: Semaphore::new(AT_ONCE + WAITING), turns: Semaphore::new(AT_ONCE) }
    }
}

impl App {
    /// Sends a letter. For a task in the background: nobody who asked for it waits, or they could tell by the time.
    pub async fn deliver(&self, letter: Letter) {
        // What came of it is in the log.
        let _ = self.post(&letter).await;
    }

    /// The same for who wants to know what came of it.
    pub(crate) async fn post(&self, letter: &Letter) -> Result<(), MailError> {
        let later = |why: &str| MailError::Later(why.to_owned());
        let Some(mailer) = &self.mailer else { return Err(later("no mail leaves")) };
        let Ok(_place) = self.post.queue.try_acquire() else {
            tracing::warn!("too many letters wait to be sent; one was dropped");
            return Err(later("too many wait"));
        };
        let Ok(_turn) = self.post.turns.acquire().await else { return Err(later("no mail leaves any more")) };
        let outcome = tokio::time::timeout(PATIENCE, mailer.send(letter)).await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(MailError::Unclear("the mail server took too long".into())));
        match &outcome {
            Ok(()) => tracing::debug!(letter = letter.id, "a letter was sent"),
            Err(error) => {
                tracing::warn!(letter = letter.id, why = error.why(), "a letter could not be sent");
            }
        }
        outcome
    }
}

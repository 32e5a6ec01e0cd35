//! Queries the operator's external checker. Off unless configured; never used for encrypted content.

use super::checker::{Checker, understood};
use super::{ContentScan, refusal};
use crate::app::App;
use crate::infra::permit_queue::PermitQueue;
use crate::publish::staging::busy;
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::OnFailure;
use dropleaf_core::{Code, Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Minimum interval in seconds between log messages about a checker that does not respond.
const TOLD_EVERY: i64 = 60;
/// `Retry-After` in seconds.
const RETRY: i64 = 30;

/// Uploads checked concurrently, those that wait, and for how long: each holds its texts in memory.
const ASKED: usize = 8;
const WAITING: usize = 24;
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The same for dry runs and appeals.
const DRY_ASKED: usize = 2;
const DRY_WAITING: usize = 8;

/// The external checker, and when its failure was last logged.
#[derive(Debug)]
pub(crate) struct ExternalCheck {
    checker: Option<Arc<dyn Checker>>,
    told_at: AtomicI64,
    published: PermitQueue,
    dry: PermitQueue,
}

impl ExternalCheck {
    pub(crate) fn new(checker: Option<Arc<dyn Checker>>) -> Self {
        Self {
            checker,
            told_at: AtomicI64::new(i64::MIN),
            published: PermitQueue::new(ASKED, WAITING),
            dry: PermitQueue::new(DRY_ASKED, DRY_WAITING),
        }
    }
}

impl App {
    pub(super) async fn run_external_check(&self, reading: &ContentScan) -> Result<()> {
        let (Some(checker), Some(question)) = (&self.moderation.external_check.checker, &reading.question)
        else {
            return Ok(());
        };
        let queue = if reading.is_dry {
            &self.moderation.external_check.dry
        } else {
            &self.moderation.external_check.published
        };
        let Some(_turn) = queue.enter_within(LONGEST_WAIT).await else {
            // A dry run can be repeated; this is not a failure of the checker.
            if reading.is_dry {
                return Err(busy());
            }
            return self.on_checker_failure(reading, "too many wait for it").await;
        };
        let answer = match checker.ask(question.clone()).await {
            Ok(reply) => understood(&reply),
            Err(lost) => Err(lost.0),
        };
        match answer {
            Ok(reasons) if reasons.is_empty() => Ok(()),
            Ok(reasons) => self.external_refusal(reading, reasons).await,
            Err(why) => self.on_checker_failure(reading, &why).await,
        }
    }

    /// Content that an operator allowed after an appeal is exempt from this check too.
    async fn external_refusal(&self, reading: &ContentScan, reasons: Vec<Finding>) -> Result<()> {
        if self.is_allowed(reading).await? {
            return Ok(());
        }
        Err(refusal(Code::ContentBlocked, reasons, reading))
    }

    /// Applies the failure policy. Content that an operator allowed needs no answer.
    async fn on_checker_failure(&self, reading: &ContentScan, why: &str) -> Result<()> {
        let now = self.now();
        let told = self.moderation.external_check.told_at.load(Ordering::Relaxed);
        // Rate-limited, because any client can trigger this at will.
        if told <= now - TOLD_EVERY || told > now {
            self.moderation.external_check.told_at.store(now, Ordering::Relaxed);
            tracing::warn!(why, "the outside check does not answer");
        }
        match self.settings.safety.checker.map(|set| set.on_failure) {
            Some(OnFailure::Refuse) if !self.is_allowed(reading).await? => {
                Err(Error::plain(Code::CheckUnavailable).retry_after(RETRY))
            }
            _ => Ok(()),
        }
    }
}

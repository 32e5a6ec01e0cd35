//! Queries the operator's external checker. Off unless configured; never used for encrypted content.

use super::checker::{Checker, parse_response};
use super::{ContentScan, refusal};
use crate::app::App;
use crate::infra::permit_queue::PermitQueue;
use crate::publish::staging::overloaded;
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::OnFailure;
use dropleaf_core::{Code, Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Minimum interval in seconds between log messages about a checker that does not respond.
const LOG_INTERVAL: i64 = 60;
/// `Retry-After` in seconds.
const RETRY: i64 = 30;

/// Uploads checked concurrently, those that wait, and for how long: each holds its texts in memory.
const CONCURRENT_CHECKS: usize = 8;
const CHECKS_WAITING: usize = 24;
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The same for dry runs and appeals.
const CONCURRENT_DRY_CHECKS: usize = 2;
const DRY_CHECKS_WAITING: usize = 8;

/// The external checker, and when its failure was last logged.
#[derive(Debug)]
pub(crate) struct ExternalCheck {
    checker: Option<Arc<dyn Checker>>,
    logged_at: AtomicI64,
    published: PermitQueue,
    dry: PermitQueue,
}

impl ExternalCheck {
    pub(crate) fn new(checker: Option<Arc<dyn Checker>>) -> Self {
        Self {
            checker,
            logged_at: AtomicI64::new(i64::MIN),
            published: PermitQueue::new(CONCURRENT_CHECKS, CHECKS_WAITING),
            dry: PermitQueue::new(CONCURRENT_DRY_CHECKS, DRY_CHECKS_WAITING),
        }
    }
}

impl App {
    pub(super) async fn run_external_check(&self, scan: &ContentScan) -> Result<()> {
        let (Some(checker), Some(checker_request)) =
            (&self.moderation.external_check.checker, &scan.checker_request)
        else {
            return Ok(());
        };
        let queue = if scan.is_dry {
            &self.moderation.external_check.dry
        } else {
            &self.moderation.external_check.published
        };
        let Some(_permit) = queue.acquire_within(LONGEST_WAIT).await else {
            // A dry run can be repeated; this is not a failure of the checker.
            if scan.is_dry {
                return Err(overloaded());
            }
            return self.on_checker_failure(scan, "too many requests are waiting").await;
        };
        let answer = match checker.check(checker_request.clone()).await {
            Ok(body) => parse_response(&body),
            Err(lost) => Err(lost.0),
        };
        match answer {
            Ok(reasons) if reasons.is_empty() => Ok(()),
            Ok(reasons) => self.external_refusal(scan, reasons).await,
            Err(why) => self.on_checker_failure(scan, &why).await,
        }
    }

    /// Content that an operator allowed after an appeal is exempt from this check too.
    async fn external_refusal(&self, scan: &ContentScan, reasons: Vec<Finding>) -> Result<()> {
        if self.is_allowed(scan).await? {
            return Ok(());
        }
        Err(refusal(Code::ContentBlocked, reasons, scan))
    }

    /// Applies the failure policy. Content that an operator allowed needs no answer.
    async fn on_checker_failure(&self, scan: &ContentScan, why: &str) -> Result<()> {
        let now = self.now();
        let logged = self.moderation.external_check.logged_at.load(Ordering::Relaxed);
        // Rate-limited, because any client can trigger this at will.
        if logged <= now - LOG_INTERVAL || logged > now {
            self.moderation.external_check.logged_at.store(now, Ordering::Relaxed);
            tracing::warn!(why, "external content checker unavailable");
        }
        match self.settings.safety.checker.map(|set| set.on_failure) {
            Some(OnFailure::Refuse) if !self.is_allowed(scan).await? => {
                Err(Error::plain(Code::CheckUnavailable).retry_after(RETRY))
            }
            _ => Ok(()),
        }
    }
}

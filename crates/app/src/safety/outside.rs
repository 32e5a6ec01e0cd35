//! Asks the operator's own check, if there is one. Off unless it is set; never asked about what is encrypted.

use super::checker::{Checker, understood};
use super::{Reading, refusal};
use crate::app::App;
use dropleaf_core::finding::Finding;
use dropleaf_core::safety::OnFailure;
use dropleaf_core::{Code, Error, Result};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A check that does not answer is told of so often, in seconds.
const TOLD_EVERY: i64 = 60;
/// How soon it makes sense to publish again.
const RETRY: i64 = 30;

/// The operator's check, and when the log last said that it does not answer.
#[derive(Debug)]
pub(crate) struct Outside {
    checker: Option<Arc<dyn Checker>>,
    told_at: AtomicI64,
}

impl Outside {
    pub(crate) const fn new(checker: Option<Arc<dyn Checker>>) -> Self {
        Self { checker, told_at: AtomicI64::new(i64::MIN) }
    }
}

impl App {
    pub(super) async fn ask_outside(&self, reading: &Reading) -> Result<()> {
        let (Some(checker), Some(question)) = (&self.outside.checker, &reading.question) else {
            return Ok(());
        };
        let mut question = question.clone();
        question["content_hash"] = json!(reading.content_hash());
        let answer = match checker.ask(question.to_string()).await {
            Ok(reply) => understood(&reply),
            Err(lost) => Err(lost.0),
        };
        match answer {
            Ok(reasons) if reasons.is_empty() => Ok(()),
            Ok(reasons) => self.refused_outside(reading, reasons).await,
            Err(why) => self.without_answer(&why),
        }
    }

    /// What an operator allowed after an appeal is allowed against this check too.
    async fn refused_outside(&self, reading: &Reading, reasons: Vec<Finding>) -> Result<()> {
        if self.is_allowed(reading).await? {
            return Ok(());
        }
        Err(refusal(Code::ContentBlocked, reasons, reading))
    }

    fn without_answer(&self, why: &str) -> Result<()> {
        let now = self.now();
        let told = self.outside.told_at.load(Ordering::Relaxed);
        // Anybody can bring this about, as often as they like.
        if told <= now - TOLD_EVERY || told > now {
            self.outside.told_at.store(now, Ordering::Relaxed);
            tracing::warn!(why, "the outside check does not answer");
        }
        match self.settings.safety.checker.map(|set| set.on_failure) {
            Some(OnFailure::Refuse) => Err(Error::plain(Code::CheckUnavailable).retry_after(RETRY)),
            Some(OnFailure::Accept) | None => Ok(()),
        }
    }
}

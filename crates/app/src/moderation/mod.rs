//! Moderation: content checks, reports, signals after publishing, appeals, takedowns, evidence and the audit log.

pub(crate) mod appeal_queue;
pub(crate) mod appeals;
pub(crate) mod attention;
pub(crate) mod audit;
pub(crate) mod case_file;
pub(crate) mod evidence;
pub(crate) mod reports;
pub(crate) mod safe_preview;
pub(crate) mod safety;
pub(crate) mod takedown;

use crate::infra::permit_queue::PermitQueue;
use safety::{BlocklistCache, Checker, CleanContent, ExternalCheck};
use std::sync::Arc;

/// Dry runs and appeals that are read concurrently, and those that may wait. Small pages bypass this queue.
const CHECKS: usize = 1;
const CHECKS_WAITING: usize = 8;
const APPEALS_WAITING: usize = 8;

/// The state of content checks and appeals on this node.
#[derive(Debug)]
pub(crate) struct Moderation {
    pub(crate) external_check: ExternalCheck,
    pub(crate) blocklist: BlocklistCache,
    pub(crate) clean_content: Arc<CleanContent>,
    /// For dry runs and appeals, so that they never delay publishers.
    pub(crate) check_queue: PermitQueue,
    /// For appeals whose content is being stored.
    pub(crate) appeal_queue: PermitQueue,
}

impl Moderation {
    pub(crate) fn new(checker: Option<Arc<dyn Checker>>) -> Self {
        Self {
            external_check: ExternalCheck::new(checker),
            blocklist: BlocklistCache::default(),
            clean_content: Arc::default(),
            check_queue: PermitQueue::new(CHECKS, CHECKS_WAITING),
            appeal_queue: PermitQueue::new(1, APPEALS_WAITING),
        }
    }
}

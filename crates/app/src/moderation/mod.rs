//! Moderation: content checks, reports, appeals, takedowns, evidence and the audit log.

pub(crate) mod appeal_queue;
pub(crate) mod appeals;
pub(crate) mod audit;
pub(crate) mod case_file;
pub(crate) mod evidence;
pub(crate) mod reports;
pub(crate) mod safe_preview;
pub(crate) mod safety;
pub(crate) mod takedown;

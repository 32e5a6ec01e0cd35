//! The result of one check, and of all of them.

use super::{Check, Group};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Ok,
    /// It works, but not as well or not for long.
    Warning,
    /// Something does not work for people who use the server, or data may be lost.
    Problem,
    /// Nothing can be said, and why.
    NotChecked,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::NotChecked => "not_checked",
        }
    }

    /// For people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::NotChecked => "not checked",
            other => other.as_str(),
        }
    }

    /// How much it needs attention.
    const fn weight(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::NotChecked => 1,
            Self::Warning => 2,
            Self::Problem => 3,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    pub status: Status,
    /// What was found, in sentences.
    pub found: String,
    /// What to do, with the exact setting or command.
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: Check, found: impl Into<String>) -> Self {
        Self { check, status: Status::Ok, found: found.into(), fix: None }
    }

    pub(super) fn warning(check: Check, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Status::Warning, found: found.into(), fix: Some(fix.into()) }
    }

    pub(super) fn problem(check: Check, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Status::Problem, found: found.into(), fix: Some(fix.into()) }
    }

    pub fn not_checked(check: Check, found: impl Into<String>) -> Self {
        Self { check, status: Status::NotChecked, found: found.into(), fix: None }
    }

    #[must_use]
    pub(super) fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// A check that did not finish in time. Storage that does not answer in time is a problem; about the rest nothing is known.
    pub fn late(check: Check, seconds: u64) -> Self {
        let found = format!("There was no result within {seconds} seconds.");
        match check {
            Check::Database | Check::Bodies | Check::DataDir | Check::DiskSpace => Self::problem(
                check,
                found,
                "Check that the disk and the servers of the storage respond, then run the checks again.",
            ),
            _ => Self::not_checked(check, found),
        }
    }

    /// One finding for several parts of a check: with the most serious status and its sentences.
    pub(super) fn join(check: Check, parts: Vec<Self>) -> Option<Self> {
        let worst = parts.iter().map(|part| part.status).max_by_key(|status| status.weight())?;
        let mut found = Vec::new();
        let mut fixes = Vec::new();
        for part in parts.into_iter().filter(|part| part.status == worst) {
            if !found.contains(&part.found) {
                found.push(part.found);
            }
            fixes.extend(part.fix.filter(|fix| !fixes.contains(fix)));
        }
        let fix = (!fixes.is_empty()).then(|| fixes.join(" "));
        Some(Self { check, status: worst, found: found.join(" "), fix })
    }
}

/// The results of all checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// In the order of [`Check::ALL`].
    pub findings: Vec<Finding>,
    pub checked_at: i64,
}

impl Report {
    /// Sorts the findings; a check without one was not made.
    pub fn new(mut findings: Vec<Finding>, checked_at: i64) -> Self {
        let sorted = Check::ALL.iter().map(|check| {
            match findings.iter().position(|finding| finding.check == *check) {
                Some(at) => findings.swap_remove(at),
                None => Finding::not_checked(*check, "There was no result."),
            }
        });
        Self { findings: sorted.collect(), checked_at }
    }

    pub fn count(&self, status: Status) -> usize {
        self.findings.iter().filter(|finding| finding.status == status).count()
    }

    pub fn in_group(&self, group: Group) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.check.group() == group)
    }

    pub fn find(&self, check: Check) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.check == check)
    }
}

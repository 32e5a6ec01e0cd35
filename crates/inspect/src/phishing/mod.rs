//! Detects phishing: decides whether an upload would harvest passwords, card data, codes or recovery phrases. Pure:
//! it reads the files of the upload, fetches nothing, and reports what it found and how to fix it (Spec §1.9, §7).

pub(crate) mod detectors;
pub(crate) mod facts;
mod fold;
mod harmless;
mod line_numbers;
#[cfg(test)]
mod linear_tests;
mod reader;
mod reasons;
pub(crate) mod rules;
mod scored_page;
pub(crate) mod upload;
pub(crate) mod verdict;

pub use harmless::is_harmless;
pub use rules::own_lists::{Change, Fault, OwnLists};
pub use rules::{Lists, Rules};
pub use upload::File;
pub use verdict::check;

/// The result of checking an upload.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub refused: bool,
    /// For a refused upload: the reasons against every refused page, worst page and strongest reason first. For an
    /// upload that passes: the reasons against its worst page.
    pub reasons: Vec<Reason>,
    pub score: f64,
}

/// One reason against a page, worded for its publisher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The stable name of the rule.
    pub rule: &'static str,
    pub file: String,
    /// 1-based.
    pub line: usize,
    pub why: String,
    pub fix: String,
}

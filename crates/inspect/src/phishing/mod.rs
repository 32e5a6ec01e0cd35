//! Detects phishing: decides whether an upload would harvest passwords, card data, codes or recovery phrases. Pure:
//! it reads the files of the upload, fetches nothing, and reports what it found and how to fix it (Spec §1.9, §7).

mod attributes;
mod claims;
mod controls;
mod copies;
mod destinations;
pub(crate) mod facts;
mod fold;
pub(crate) mod hosts;
mod identity;
mod inside;
mod kinds;
#[cfg(test)]
mod linear_tests;
mod lists;
mod literals;
mod looks;
mod lures;
mod merge;
mod own_lists;
mod paths;
mod payload;
mod portals;
mod reader;
mod reasons;
mod redirects;
mod references;
mod rule;
mod rules;
pub(crate) mod score;
mod script;
pub(crate) mod script_words;
mod secrets;
pub(crate) mod site;
mod sites;
mod smuggled;
pub(crate) mod verdict;
mod weighing;
mod words;
mod xml;
mod xml_reader;

pub use own_lists::{Change, Fault, OwnLists};
pub use rules::{Lists, Rules};
pub use site::File;
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

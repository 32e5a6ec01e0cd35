//! Whether an upload would harvest secrets: passwords, cards, codes, recovery phrases. Pure: it reads the files of a
//! page, follows nothing outside them, and says what it found and what would help (Spec §1.9, §7).

mod attributes;
mod claims;
mod controls;
mod copies;
mod destinations;
mod elements;
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
mod raw_text;
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
mod tag;
pub(crate) mod tokens;
mod upload;
pub(crate) mod verdict;
mod weighing;
mod words;
mod xml;
mod xml_reader;

pub use own_lists::{Change, Fault, OwnLists};
pub use rules::{Lists, Rules};
pub use site::File;
pub use upload::check_bundle;
pub use verdict::check;

/// What the check says of an upload.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub refused: bool,
    /// What counts against each page that is refused, the worst page and its strongest reason first; of an upload that
    /// passes, what counts against its worst page.
    pub reasons: Vec<Reason>,
    pub score: f64,
}

/// One thing that counts against a page, in words for its publisher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The name of the rule, which does not change.
    pub rule: &'static str,
    pub file: String,
    /// From 1.
    pub line: usize,
    pub why: String,
    pub fix: String,
}

//! Detects pages that save a file embedded in their own text to the visitor's disk (HTML smuggling). Files generated from the
//! page's data, such as a table to download, are allowed.

use super::Hit;
use crate::phishing::facts::{Carried, Facts};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::Mark;

/// A page with more text than this has another purpose than the archive it saves.
const LONGEST_LURE: usize = 1500;

pub(crate) fn smuggled(facts: &Facts, hits: &mut Vec<Hit>) {
    let saves = facts.has(Mark::Download) || facts.has(Mark::Blob);
    // A link or URL that contains the file saves it when opened.
    let hands_out = saves || facts.carries_link || facts.has(Mark::Redirect);
    let named = facts.download.as_ref().filter(|_| facts.has(Mark::Blob) || facts.carries_link);
    let found = match (facts.carried, named) {
        (Some((Carried::Program, at)), _) if hands_out => Some((at, "a program")),
        (_, Some((_, at))) => Some((*at, "an executable file")),
        (Some((Carried::Archive, at)), None) if saves && facts.text.len() <= LONGEST_LURE => {
            Some((at, "an archive"))
        }
        (_, None) => None,
    };
    if let Some((at, detail)) = found {
        hits.push(Hit { rule: Rule::SmuggledDownload, at, detail: detail.to_owned() });
    }
}

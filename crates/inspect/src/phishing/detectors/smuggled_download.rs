//! Detects pages that save a file embedded in their own text to the visitor's disk (HTML smuggling). Files generated from the
//! page's data, such as a table to download, are allowed.

use super::RuleHit;
use crate::phishing::facts::{EmbeddedFile, PageFacts};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::ScriptMark;

/// A page with more text than this has another purpose than the archive it saves.
const LONGEST_LURE: usize = 1500;

pub(crate) fn smuggled(facts: &PageFacts, hits: &mut Vec<RuleHit>) {
    let saves = facts.has(ScriptMark::Download) || facts.has(ScriptMark::Blob);
    // A link or URL that contains the file saves it when opened.
    let hands_out = saves || facts.has_file_link || facts.has(ScriptMark::Redirect);
    let named = facts.download.as_ref().filter(|_| facts.has(ScriptMark::Blob) || facts.has_file_link);
    let found = match (facts.embedded_file, named) {
        (Some((EmbeddedFile::Program, at)), _) if hands_out => Some((at, "a program")),
        (_, Some((_, at))) => Some((*at, "an executable file")),
        (Some((EmbeddedFile::Archive, at)), None) if saves && facts.visible_len() <= LONGEST_LURE => {
            Some((at, "an archive"))
        }
        (_, None) => None,
    };
    if let Some((at, detail)) = found {
        hits.push(RuleHit { rule: Rule::SmuggledDownload, at, detail: detail.to_owned() });
    }
}

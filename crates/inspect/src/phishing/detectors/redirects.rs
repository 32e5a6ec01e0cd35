//! Detects pages that only redirect to another site, and so lend our address to a hidden destination.

use super::RuleHit;
use crate::phishing::facts::{PageFacts, ReferenceKind};
use crate::phishing::rules::hosts::Target;
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::ScriptMark;

/// A page with more letters than this has content of its own.
const FEW_LETTERS: usize = 400;
/// The most letters on a page whose script redirects at once.
const FEWEST_LETTERS: usize = 100;
/// The fewest letters of a notice that a page has moved.
const NOTICE_LETTERS: usize = 20;

pub(crate) fn redirects(facts: &PageFacts, hits: &mut Vec<RuleHit>) {
    if !facts.has_at_most_letters(FEW_LETTERS) || !facts.fields.is_empty() {
        return;
    }
    let shown = facts.redirects.iter().find(|(target, _)| !tells_where(facts, target));
    // A script may redirect because a person clicked something.
    let by_script = facts.marks.get(&ScriptMark::Redirect);
    let nothing_to_press =
        facts.links == 0 && facts.buttons == 0 && facts.has_at_most_letters(FEWEST_LETTERS);
    let scripted = by_script.filter(|_| nothing_to_press).and_then(|at| {
        // Other URLs that it fetches are what an application shows.
        let host = facts.scripted_redirects.iter().find_map(|(target, _)| target.host())?;
        Some((host, *at))
    });
    let found = shown.and_then(|(target, at)| Some((target.host()?, *at))).or(scripted);
    if let Some((host, at)) = found {
        hits.push(RuleHit { rule: Rule::OnlyRedirect, at, detail: host.to_owned() });
    }
}

/// Whether the page says that it has moved and links to the destination.
fn tells_where(facts: &PageFacts, target: &Target) -> bool {
    let same = |used: &Target| used.host().is_some() && used.host() == target.host();
    !facts.has_at_most_letters(NOTICE_LETTERS)
        && facts.external_references.iter().any(|used| used.kind == ReferenceKind::Link && same(&used.target))
}

//! Selects the reasons reported to the publisher of a refused upload: every refused page with its strongest reasons
//! first, so that one round of fixes is enough. Bounded, and shared fairly between pages when there are many.

use super::Reason;
use super::detectors::MOST_OCCURRENCES;
use super::line_numbers::LineNumbers;
use super::rules::Rules;
use super::rules::rule::Rule;
use super::scored_page::ScoredPage;

/// In total.
const MOST_REASONS: usize = 50;
/// Per page, at least, while there is room.
const FEWEST: usize = 3;
/// The reasons against pages that are sorted by score.
pub(crate) fn reasons<'f>(
    pages: &[ScoredPage<'f>],
    rules: &Rules,
    lines: &mut LineNumbers<'f>,
) -> Vec<Reason> {
    let share = (MOST_REASONS / pages.len().max(1)).max(FEWEST);
    let mut reported: Vec<Reason> = Vec::new();
    for page in pages {
        if reported.len() >= MOST_REASONS {
            break;
        }
        // A script loaded by several pages is reported once.
        let mut of_page = page_reasons(page, rules, lines);
        of_page.retain(|against| !reported.contains(&against.reason));
        // When there is no room for everything, another rule matters more than a second occurrence of the same rule.
        of_page.sort_by(|a, b| (a.place).cmp(&b.place).then(b.points.total_cmp(&a.points)));
        of_page.truncate(share);
        of_page.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.rule.cmp(&b.rule)));
        reported.extend(of_page.into_iter().map(|against| against.reason));
    }
    reported.truncate(MOST_REASONS);
    reported
}

struct PageReason {
    rule: Rule,
    points: f64,
    /// Which occurrence of its rule on the page it is, from 0.
    place: usize,
    reason: Reason,
}

/// The reasons against a page, with the first occurrences of each rule.
fn page_reasons<'f>(page: &ScoredPage<'f>, rules: &Rules, lines: &mut LineNumbers<'f>) -> Vec<PageReason> {
    let mut found: Vec<PageReason> = Vec::new();
    let mut hits: Vec<_> = page.hits.iter().collect();
    hits.sort_by_key(|(hit, file)| (file.path != page.file.path, file.path, hit.at));
    for (hit, file) in hits {
        let Some(weight) = rules.weight(hit.rule).filter(|weight| weight.points > 0.0) else { continue };
        let place = found.iter().filter(|known| known.rule == hit.rule).count();
        if place >= MOST_OCCURRENCES {
            continue;
        }
        let reason = Reason {
            rule: hit.rule.name(),
            file: file.path.to_owned(),
            line: lines.line_of(file, hit.at),
            why: weight.why.replace("{}", &hit.detail),
            fix: weight.fix.clone(),
        };
        if !found.iter().any(|known| known.reason == reason) {
            found.push(PageReason { rule: hit.rule, points: weight.points, place, reason });
        }
    }
    found
}

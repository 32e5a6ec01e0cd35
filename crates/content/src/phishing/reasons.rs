//! What the publisher of a refused upload is told: every page that is refused and what counts against it, strongest
//! first, so that one round of mending is enough. Bounded, and fair to pages when there are many.

use super::Reason;
use super::rule::Rule;
use super::rules::Rules;
use super::site::File;
use super::verdict::Page;

/// Told in all.
const MOST_REASONS: usize = 50;
/// Told of a page at least, while there is room.
const FEWEST: usize = 3;
/// So many places are named for a rule on a page: whoever mends it sees the pattern.
pub(crate) const MOST_PLACES: usize = 3;

/// The reasons against pages that stand in the order of their scores.
pub(crate) fn reasons(pages: &[Page<'_>], rules: &Rules) -> Vec<Reason> {
    let share = (MOST_REASONS / pages.len().max(1)).max(FEWEST);
    let mut told: Vec<Reason> = Vec::new();
    for page in pages {
        if told.len() >= MOST_REASONS {
            break;
        }
        // A script that several pages load is told of once.
        let mut of_page = against(page, rules);
        of_page.retain(|against| !told.contains(&against.reason));
        // Without room for everything, a second place of one rule matters less than another rule.
        of_page.sort_by(|a, b| (a.place).cmp(&b.place).then(b.points.total_cmp(&a.points)));
        of_page.truncate(share);
        of_page.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.rule.cmp(&b.rule)));
        told.extend(of_page.into_iter().map(|against| against.reason));
    }
    told.truncate(MOST_REASONS);
    told
}

struct Against {
    rule: Rule,
    points: f64,
    /// The how many-th place of its rule it is, from 0.
    place: usize,
    reason: Reason,
}

/// What counts against a page, of each rule the first places.
fn against(page: &Page<'_>, rules: &Rules) -> Vec<Against> {
    let mut found: Vec<Against> = Vec::new();
    let mut hits: Vec<_> = page.hits.iter().collect();
    hits.sort_by_key(|(hit, file)| (file.path != page.file.path, file.path, hit.at));
    for (hit, file) in hits {
        let Some(weight) = rules.weight(hit.rule).filter(|weight| weight.points > 0.0) else { continue };
        let place = found.iter().filter(|known| known.rule == hit.rule).count();
        if place >= MOST_PLACES {
            continue;
        }
        let reason = Reason {
            rule: hit.rule.name(),
            file: file.path.to_owned(),
            line: line_of(file, hit.at),
            why: weight.why.replace("{}", &hit.detail),
            fix: weight.fix.clone(),
        };
        if !found.iter().any(|known| known.reason == reason) {
            found.push(Against { rule: hit.rule, points: weight.points, place, reason });
        }
    }
    found
}

fn line_of(file: &File<'_>, at: usize) -> usize {
    let text = file.text.as_bytes();
    1 + memchr::memchr_iter(b'\n', &text[..at.min(text.len())]).count()
}

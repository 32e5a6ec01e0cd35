//! The verdict on an upload: its pages are judged one by one, and the worst of them counts.

use super::facts::Facts;
use super::rule::Rule;
use super::rules::Rules;
use super::score::{self, Hit, Judged};
use super::site::{File, Kind, Site};
use super::weighing::total;
use super::{Reason, Verdict};

/// Rounding must not decide.
const EPSILON: f64 = 1e-6;

pub(crate) const JUDGED: [Kind; 2] = [Kind::Page, Kind::Script];

/// Judges an upload of pages (HTML, SVG, rendered Markdown) and scripts. Other files are only known to be there.
pub fn check(files: &[File<'_>], rules: &Rules) -> Verdict {
    let site = Site::new(files);
    let mut jury = Jury::new(&site, rules);
    site.each(rules, &JUDGED, |file, _, facts| jury.judge(file, facts));
    jury.verdict()
}

/// Judges the pages of an upload as they are read.
pub(crate) struct Jury<'s, 'f> {
    site: &'s Site<'f>,
    rules: &'s Rules,
    pages: Vec<(&'f File<'f>, Judged)>,
}

impl<'s, 'f> Jury<'s, 'f> {
    pub(crate) fn new(site: &'s Site<'f>, rules: &'s Rules) -> Self {
        Self { site, rules, pages: Vec::new() }
    }

    pub(crate) fn judge(&mut self, file: &'f File<'f>, facts: &Facts) {
        let there = |path: &str| self.site.has(file.path, path);
        self.pages.push((file, score::judge(facts, &there, self.rules)));
    }

    pub(crate) fn verdict(mut self) -> Verdict {
        share_names(&mut self.pages);
        let mut worst: Option<(&File<'_>, Vec<Hit>, f64)> = None;
        for (file, judged) in self.pages {
            let score = total(&judged.hits, self.rules);
            if worst.as_ref().is_none_or(|(.., most)| score > *most) {
                worst = Some((file, judged.hits, score));
            }
        }
        let Some((file, hits, score)) = worst else {
            return Verdict { refused: false, reasons: Vec::new(), score: 0.0 };
        };
        let refused = score + EPSILON >= self.rules.refuse_at;
        Verdict { refused, reasons: reasons(file, &hits, self.rules), score }
    }
}

/// A second step of signing in often bears no name; the first one does.
fn share_names(pages: &mut [(&File<'_>, Judged)]) {
    let named = pages.iter().filter(|(_, judged)| judged.asks).find_map(|(_, judged)| {
        let strong = |rule| {
            matches!(
                rule,
                Rule::BrandInTitle | Rule::BrandAccount | Rule::BrandDisguised | Rule::BrandSignature
            )
        };
        judged.hits.iter().find(|hit| strong(hit.rule)).map(|hit| hit.detail.clone())
    });
    let Some(name) = named else { return };
    for (_, judged) in pages.iter_mut().filter(|(_, judged)| judged.asks) {
        if !judged.hits.iter().any(|hit| hit.rule.is_identity()) {
            judged.hits.push(Hit { rule: Rule::BrandElsewhere, at: 0, detail: name.clone() });
        }
    }
}

fn reasons(file: &File<'_>, hits: &[Hit], rules: &Rules) -> Vec<Reason> {
    let mut weighed: Vec<(f64, &Hit)> = hits
        .iter()
        .filter_map(|hit| rules.weight(hit.rule).map(|weight| (weight.points, hit)))
        .filter(|(weight, _)| *weight > 0.0)
        .collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut reasons: Vec<Reason> = Vec::new();
    for (_, hit) in weighed {
        let Some(weight) = rules.weight(hit.rule) else { continue };
        if reasons.iter().any(|reason| reason.rule == hit.rule.name()) {
            continue;
        }
        reasons.push(Reason {
            rule: hit.rule.name(),
            file: file.path.to_owned(),
            line: line_of(file.text, hit.at),
            why: weight.why.replace("{}", &hit.detail),
            fix: weight.fix.clone(),
        });
    }
    reasons
}

fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count()
}

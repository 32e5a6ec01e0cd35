//! Decides on an upload: its pages are scored one by one, and one refused page is enough to refuse it.

use super::Verdict;
use super::detectors::{self, Hit, Judged};
use super::facts::Facts;
use super::reasons::reasons;
use super::rules::Rules;
use super::rules::rule::Rule;
use super::scored_page::{ScoredPage, total};
use super::upload::{File, Kind, Site};

/// Tolerance for rounding errors.
const EPSILON: f64 = 1e-6;
/// Hits kept per rule and page. Fewer are reported.
const MOST_HITS: usize = 12;

pub(crate) const JUDGED: [Kind; 2] = [Kind::Page, Kind::Script];

/// Checks an upload of pages (HTML, SVG, rendered Markdown) and scripts. Of other files only the existence matters.
pub fn check(files: &[File<'_>], rules: &Rules) -> Verdict {
    let site = Site::new(files);
    let mut jury = Jury::new(&site, rules);
    site.each(rules, &JUDGED, |file, _, facts| jury.judge(file, facts));
    jury.verdict()
}

/// Scores the pages of an upload as they are read.
pub(crate) struct Jury<'s, 'f> {
    site: &'s Site<'f>,
    rules: &'s Rules,
    pages: Vec<ScoredPage<'f>>,
}

impl<'s, 'f> Jury<'s, 'f> {
    pub(crate) fn new(site: &'s Site<'f>, rules: &'s Rules) -> Self {
        Self { site, rules, pages: Vec::new() }
    }

    pub(crate) fn judge(&mut self, file: &'f File<'f>, facts: &Facts) {
        let there = |path: &str| self.site.has(file.path, path);
        let Judged { hits, asks } = detectors::judge(facts, &there, self.rules);
        let mut kept: Vec<(Hit, File<'f>)> = Vec::new();
        for hit in hits {
            if kept.iter().filter(|(known, _)| known.rule == hit.rule).count() < MOST_HITS {
                let (part, at) = self.site.place(file, facts, hit.at);
                kept.push((Hit { at, ..hit }, part));
            }
        }
        self.pages.push(ScoredPage { file: *file, hits: kept, asks, score: 0.0 });
    }

    pub(crate) fn verdict(mut self) -> Verdict {
        share_names(&mut self.pages);
        for page in &mut self.pages {
            page.score = total(&page.hits, self.rules);
        }
        self.pages.sort_by(|a, b| b.score.total_cmp(&a.score));
        let score = self.pages.first().map_or(0.0, |worst| worst.score);
        let refuses = |score: f64| score + EPSILON >= self.rules.refuse_at;
        // An upload that passes reports its worst page.
        let told = self.pages.iter().take_while(|page| refuses(page.score)).count().max(1);
        self.pages.truncate(told);
        Verdict { refused: refuses(score), reasons: reasons(&self.pages, self.rules), score }
    }
}

/// Shares a brand between pages: the second step of a sign-in often has no name, but the first one does.
fn share_names(pages: &mut [ScoredPage<'_>]) {
    let named = pages.iter().filter(|page| page.asks).find_map(|page| {
        let strong = |rule| {
            matches!(
                rule,
                Rule::BrandInTitle | Rule::BrandAccount | Rule::BrandDisguised | Rule::BrandSignature
            )
        };
        page.hits.iter().find(|(hit, _)| strong(hit.rule)).map(|(hit, _)| hit.detail.clone())
    });
    let Some(name) = named else { return };
    for page in pages.iter_mut().filter(|page| page.asks) {
        if !page.hits.iter().any(|(hit, _)| hit.rule.is_identity()) {
            page.hits.push((Hit { rule: Rule::BrandElsewhere, at: 0, detail: name.clone() }, page.file));
        }
    }
}

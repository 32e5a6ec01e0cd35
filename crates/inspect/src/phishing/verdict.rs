//! Decides on an upload: its pages are scored one by one, and one refused page is enough to refuse it.

use super::Verdict;
use super::detectors::{self, Evaluation, RuleHit};
use super::facts::PageFacts;
use super::line_numbers::LineNumbers;
use super::reasons::reasons;
use super::rules::Rules;
use super::rules::rule::Rule;
use super::scored_page::{ScoredPage, total_score};
use super::upload::{File, FileKind, Upload};

/// Tolerance for rounding errors.
const EPSILON: f64 = 1e-6;
/// Hits kept per rule and page. Fewer are reported.
const MOST_HITS: usize = 12;

pub(crate) const SCORED_KINDS: [FileKind; 2] = [FileKind::Page, FileKind::Script];

/// Checks an upload of pages (HTML, SVG, rendered Markdown) and scripts. Of other files only the existence matters.
pub fn check(files: &[File<'_>], rules: &Rules) -> Verdict {
    let upload = Upload::new(files);
    let mut scorer = UploadScorer::new(&upload, rules);
    upload.for_each_file(rules, &SCORED_KINDS, |file, _, facts| scorer.score_page(file, facts));
    scorer.finish()
}

/// Scores the pages of an upload as they are read.
pub(crate) struct UploadScorer<'s, 'f> {
    upload: &'s Upload<'f>,
    rules: &'s Rules,
    pages: Vec<ScoredPage<'f>>,
}

impl<'s, 'f> UploadScorer<'s, 'f> {
    pub(crate) fn new(upload: &'s Upload<'f>, rules: &'s Rules) -> Self {
        Self { upload, rules, pages: Vec::new() }
    }

    pub(crate) fn score_page(&mut self, file: &'f File<'f>, facts: &PageFacts) {
        let there = |path: &str| self.upload.has(file.path, path);
        let Evaluation { hits, asks, claimed } = detectors::evaluate(facts, &there, self.rules);
        let mut kept: Vec<(RuleHit, File<'f>)> = Vec::new();
        for hit in hits {
            if kept.iter().filter(|(known, _)| known.rule == hit.rule).count() < MOST_HITS {
                let (part, at) = self.upload.locate(file, facts, hit.at);
                kept.push((RuleHit { at, ..hit }, part));
            }
        }
        self.pages.push(ScoredPage { file: *file, hits: kept, asks, claimed, score: 0.0 });
    }

    pub(crate) fn finish(self) -> Verdict {
        self.finish_with(&mut LineNumbers::default())
    }

    pub(crate) fn finish_with(mut self, lines: &mut LineNumbers<'f>) -> Verdict {
        share_brands(&mut self.pages);
        for page in &mut self.pages {
            page.score = total_score(&page.hits, self.rules);
        }
        self.pages.sort_by(|a, b| b.score.total_cmp(&a.score));
        let score = self.pages.first().map_or(0.0, |worst| worst.score);
        let refuses = |score: f64| score + EPSILON >= self.rules.refuse_at;
        // An upload that passes reports its worst page.
        let reported = self.pages.iter().take_while(|page| refuses(page.score)).count().max(1);
        self.pages.truncate(reported);
        Verdict { refused: refuses(score), reasons: reasons(&self.pages, self.rules, lines), score }
    }
}

/// More pages are not the steps of a sign-in.
const MOST_STEPS: usize = 20;

/// Shares a brand between pages: the later steps of a sign-in often have no name, but the first one does, or the page that leads
/// to it and asks for nothing itself.
fn share_brands(pages: &mut [ScoredPage<'_>]) {
    let asking = pages.iter().filter(|page| page.asks).find_map(|page| {
        let strong = |rule| {
            matches!(
                rule,
                Rule::BrandInTitle | Rule::BrandAccount | Rule::BrandDisguised | Rule::BrandSignature
            )
        };
        page.hits.iter().find(|(hit, _)| strong(hit.rule)).map(|(hit, _)| hit.detail.clone())
    });
    // On a large site, a page that carries a name is one among others.
    let is_drawing =
        |path: &str| path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("svg"));
    let steps = pages.iter().filter(|page| !is_drawing(page.file.path)).count();
    let leading = || pages.iter().filter(|_| steps <= MOST_STEPS).find_map(|page| page.claimed.clone());
    let named = asking.or_else(leading);
    let Some(name) = named else { return };
    let weak = |rule: Rule| rule == Rule::BankWords || rule.kind() == Rule::BrandText;
    for page in pages.iter_mut().filter(|page| page.asks) {
        if !page.hits.iter().any(|(hit, _)| hit.rule.is_identity() && !weak(hit.rule)) {
            page.hits.push((RuleHit { rule: Rule::BrandElsewhere, at: 0, detail: name.clone() }, page.file));
        }
    }
}

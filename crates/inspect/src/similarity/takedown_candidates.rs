//! Determines which pages of an upload it may have been taken down for. An archive may contain innocent pages next to
//! the reported one, so not every page may be blocklisted.

use super::digests;
use super::page_collector::PageCollector;
use super::{COMPARED_KINDS, Fingerprints, Sketch};
use crate::phishing::detectors;
use crate::phishing::upload::Upload;
use crate::phishing::{File, Rules};
use crate::upload_texts::UploadTexts;

/// The fraction of the refusal threshold that counts as evidence; many innocent pages have less.
const SOMETHING: f64 = 0.5;

/// A page with evidence against it.
#[derive(Debug, Clone, PartialEq)]
pub struct TakedownCandidate {
    pub path: String,
    /// Its phishing score in points; 0 if it only asks its reader for something.
    pub points: f64,
}

impl Fingerprints {
    /// The digests that recognize a page alone or in another archive: of its bytes, and of its text if that is short.
    pub fn page_hashes(&self, path: &str) -> Vec<[u8; 32]> {
        self.parts
            .iter()
            .chain(&self.short_texts)
            .filter(|(part, _)| part == path)
            .map(|(_, hash)| *hash)
            .collect()
    }

    /// The sketch to store for a page, if it has enough text.
    pub fn page_sketch(&self, path: &str) -> Option<&Sketch> {
        let page = self.pages.iter().find(|page| page.path == path)?;
        Some(&page.sketch).filter(|sketch| sketch.is_enough())
    }

    /// The digest of the bundle as a whole.
    pub fn whole_hash(&self) -> [u8; 32] {
        self.exact
    }
}

/// Computes the fingerprints of a bundle, and lists the pages with evidence against them or that ask for something.
pub fn find_takedown_candidates(
    texts: &UploadTexts<'_>,
    rules: &Rules,
) -> (Fingerprints, Vec<TakedownCandidate>) {
    let files: Vec<File<'_>> = texts.files();
    let upload = Upload::new(&files);
    let mut collector = PageCollector::new(files.len());
    let mut candidates = Vec::new();
    upload.for_each_file(rules, &COMPARED_KINDS, |file, _, facts| {
        collector.add(file, facts);
        let there = |path: &str| upload.has(file.path, path);
        let hits = detectors::evaluate(facts, &there, rules).hits;
        let points: f64 =
            hits.iter().filter_map(|hit| rules.weight(hit.rule)).map(|weight| weight.points).sum();
        let points = if points >= SOMETHING * rules.refuse_at { points } else { 0.0 };
        if points > 0.0 || collector.last_prompts_action() {
            candidates.push(TakedownCandidate { path: file.path.to_owned(), points });
        }
    });
    (digests::fingerprints(texts, collector), candidates)
}

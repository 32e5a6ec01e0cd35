//! Recognizes content that was taken down when it is uploaded again: the same bytes, or nearly the same text in
//! disguise. Pure: it computes fingerprints of an upload and compares them with a blocklist; who decided on that list
//! is not known here.

mod blocklist;
mod digests;
mod page_collector;
mod shingles;
mod short_text;
mod sketch;
mod takedown_candidates;

pub use blocklist::Blocklist;
pub use sketch::Sketch;
pub use takedown_candidates::{TakedownCandidate, find_takedown_candidates};

use crate::phishing::upload::{FileKind, Upload};
use crate::phishing::verdict::{SCORED_KINDS, UploadScorer};
use crate::phishing::{File, Rules, Verdict};
use crate::upload_texts::UploadTexts;
use page_collector::PageCollector;
use shingles::Shingles;

/// The fingerprints of a bundle.
#[derive(Debug, Clone)]
pub struct Fingerprints {
    /// A digest of the whole bundle: of its bytes if it is one file, of paths and bytes if there are several.
    pub exact: [u8; 32],
    /// The pages that have any text. [`Self::page_sketch`] returns those with enough text to be stored.
    pub pages: Vec<PageFingerprint>,
    /// Digests of files that are recognized alone or within any bundle, with their paths.
    parts: Vec<(String, [u8; 32])>,
    /// Digests of the text of short pages, with their paths.
    short_texts: Vec<(String, [u8; 32])>,
}

/// The fingerprint of a page.
#[derive(Debug, Clone)]
pub struct PageFingerprint {
    pub path: String,
    /// What to store if the page is blocklisted: covers its own text, without menus and footers.
    pub sketch: Sketch,
    /// Covers all of its text, for comparison with sketches.
    shingles: Shingles,
}

/// The entry of [`Blocklist`] that an upload matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    pub id: String,
    /// The file that matches, unless the whole bundle does.
    pub file: Option<String>,
    /// The bytes are identical.
    pub exact: bool,
}

/// Computes the fingerprints of pages from their text alone.
pub fn fingerprint_pages(files: &[File<'_>], rules: &Rules) -> Vec<PageFingerprint> {
    let mut collector = PageCollector::new(files.len());
    Upload::new(files).for_each_file(rules, &COMPARED_KINDS, |file, _, facts| collector.add(file, facts));
    collector.finish().0
}

/// Computes the fingerprints of an upload.
pub fn fingerprint(texts: &UploadTexts<'_>, rules: &Rules) -> Fingerprints {
    let files = texts.files();
    let mut collector = PageCollector::new(files.len());
    Upload::new(&files).for_each_file(rules, &COMPARED_KINDS, |file, _, facts| collector.add(file, facts));
    digests::fingerprints(texts, collector)
}

/// Runs the phishing check and computes the fingerprints in one pass over the pages.
pub fn check_and_fingerprint(texts: &UploadTexts<'_>, rules: &Rules) -> (Verdict, Fingerprints) {
    let (verdict, collector) = read(&texts.files(), rules);
    (verdict, digests::fingerprints(texts, collector))
}

/// The same for files that are not a bundle yet, from their text alone.
pub fn check_and_fingerprint_files(files: &[File<'_>], rules: &Rules) -> (Verdict, Vec<PageFingerprint>) {
    let (verdict, collector) = read(files, rules);
    (verdict, collector.finish().0)
}

fn read(files: &[File<'_>], rules: &Rules) -> (Verdict, PageCollector) {
    let upload = Upload::new(files);
    let mut scorer = UploadScorer::new(&upload, rules);
    let mut collector = PageCollector::new(files.len());
    upload.for_each_file(rules, &ALL_KINDS, |file, kind, facts| {
        if SCORED_KINDS.contains(&kind) {
            scorer.score_page(file, facts);
        }
        if COMPARED_KINDS.contains(&kind) {
            collector.add(file, facts);
        }
    });
    (scorer.finish(), collector)
}

const COMPARED_KINDS: [FileKind; 2] = [FileKind::Page, FileKind::Source];
const ALL_KINDS: [FileKind; 3] = [FileKind::Page, FileKind::Source, FileKind::Script];

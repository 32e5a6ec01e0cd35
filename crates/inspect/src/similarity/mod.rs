//! Recognizes content that was taken down when it is uploaded again: the same bytes, or nearly the same text in
//! disguise. Pure: it computes fingerprints of an upload and compares them with a blocklist; who decided on that list
//! is not known here.

mod digests;
mod page_collector;
mod shingles;
mod short_text;
mod sketch;
mod takedown_candidates;
mod unwanted;

pub use sketch::Sketch;
pub use takedown_candidates::{Blamed, blame};
pub use unwanted::Unwanted;

use crate::phishing::upload::{Kind, Site};
use crate::phishing::verdict::{JUDGED, Jury};
use crate::phishing::{File, Rules, Verdict};
use crate::upload_texts::UploadTexts;
use page_collector::Gathered;
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
    says: Vec<(String, [u8; 32])>,
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

/// The entry of [`Unwanted`] that an upload matches.
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
    let mut gathered = Gathered::new(files.len());
    Site::new(files).each(rules, &COMPARED, |file, _, facts| gathered.add(file, facts));
    gathered.finish().0
}

/// Computes the fingerprints of an upload.
pub fn fingerprint(texts: &UploadTexts<'_>, rules: &Rules) -> Fingerprints {
    let files = texts.files();
    let mut gathered = Gathered::new(files.len());
    Site::new(&files).each(rules, &COMPARED, |file, _, facts| gathered.add(file, facts));
    digests::fingerprints(texts, gathered)
}

/// Runs the phishing check and computes the fingerprints in one pass over the pages.
pub fn check_and_fingerprint(texts: &UploadTexts<'_>, rules: &Rules) -> (Verdict, Fingerprints) {
    let (verdict, gathered) = read(&texts.files(), rules);
    (verdict, digests::fingerprints(texts, gathered))
}

/// The same for files that are not a bundle yet, from their text alone.
pub fn check_and_fingerprint_files(files: &[File<'_>], rules: &Rules) -> (Verdict, Vec<PageFingerprint>) {
    let (verdict, gathered) = read(files, rules);
    (verdict, gathered.finish().0)
}

fn read(files: &[File<'_>], rules: &Rules) -> (Verdict, Gathered) {
    let site = Site::new(files);
    let mut jury = Jury::new(&site, rules);
    let mut gathered = Gathered::new(files.len());
    site.each(rules, &ALL, |file, kind, facts| {
        if JUDGED.contains(&kind) {
            jury.judge(file, facts);
        }
        if COMPARED.contains(&kind) {
            gathered.add(file, facts);
        }
    });
    (jury.verdict(), gathered)
}

const COMPARED: [Kind; 2] = [Kind::Page, Kind::Source];
const ALL: [Kind; 3] = [Kind::Page, Kind::Source, Kind::Script];

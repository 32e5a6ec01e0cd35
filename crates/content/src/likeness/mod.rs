//! Recognises content that was taken down when it comes back: the same bytes, or nearly the same text in another guise.
//! Pure: it says what an upload is like and compares that with what is not wanted; it does not know who decided so.

mod blame;
mod exact;
mod gather;
mod says;
mod shingles;
mod sketch;
mod unwanted;

use std::io;

pub use blame::{Blamed, blame};
pub use sketch::Sketch;
pub use unwanted::Unwanted;

use crate::bundle::Bundle;
use crate::phishing::site::{Kind, Site};
use crate::phishing::verdict::{JUDGED, Jury};
use crate::phishing::{File, Rules, Verdict};
use crate::texts::Texts;
use gather::Gathered;
use shingles::Shingles;

/// What a bundle is recognised by.
#[derive(Debug, Clone)]
pub struct Likeness {
    /// A digest of the whole bundle: of its bytes alone if it is one file, of paths and bytes if it is several.
    pub exact: [u8; 32],
    /// The pages that have any text. [`Self::page_sketch`] knows those with enough of it to be kept.
    pub pages: Vec<PageLikeness>,
    /// Digests of files that may come alone or within a bundle, with their paths.
    parts: Vec<(String, [u8; 32])>,
    /// Digests of what short pages say, with their paths.
    says: Vec<(String, [u8; 32])>,
}

/// What a page is recognised by.
#[derive(Debug, Clone)]
pub struct PageLikeness {
    pub path: String,
    /// What to keep of a page that is not wanted again: of its own text, without menus and footers.
    pub sketch: Sketch,
    /// All of its text, to be compared with sketches.
    shingles: Shingles,
}

/// The entry of [`Unwanted`] that an upload is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    pub id: String,
    /// The file that is like it, unless the whole bundle is.
    pub file: Option<String>,
    /// The bytes are the same.
    pub exact: bool,
}

/// What pages of an upload are like, without a look at bytes.
pub fn of(files: &[File<'_>], rules: &Rules) -> Vec<PageLikeness> {
    let mut gathered = Gathered::new(files.len());
    Site::new(files).each(rules, &COMPARED, |file, _, facts| gathered.add(file, facts));
    gathered.finish().0
}

/// What a bundle is like. Spooled files are left positioned at their start.
pub fn of_bundle(bundle: &Bundle, rules: &Rules) -> io::Result<Likeness> {
    Ok(of_texts(&Texts::of_pages(bundle)?, rules))
}

/// What a bundle whose texts have been read is like.
pub fn of_texts(texts: &Texts<'_>, rules: &Rules) -> Likeness {
    let files = texts.files();
    let mut gathered = Gathered::new(files.len());
    Site::new(&files).each(rules, &COMPARED, |file, _, facts| gathered.add(file, facts));
    exact::likeness(texts, gathered)
}

/// The phishing check and what the bundle is like, in one reading of its pages.
pub fn check_and_compare(texts: &Texts<'_>, rules: &Rules) -> (Verdict, Likeness) {
    let (verdict, gathered) = read(&texts.files(), rules);
    (verdict, exact::likeness(texts, gathered))
}

/// The same of files that are no bundle yet: what there is of bytes is not looked at.
pub fn check_and_compare_files(files: &[File<'_>], rules: &Rules) -> (Verdict, Vec<PageLikeness>) {
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

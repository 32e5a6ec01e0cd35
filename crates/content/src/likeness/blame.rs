//! Which pages of an upload it may have been taken down for. An archive may hold honest pages of others beside the one that
//! was complained about, so not every page of it may become a mark.

use super::exact;
use super::gather::Gathered;
use super::{COMPARED, Likeness, Sketch};
use crate::phishing::score;
use crate::phishing::site::Site;
use crate::phishing::{File, Rules};
use crate::texts::Texts;

/// What part of a refusal is something; less is found on many honest pages.
const SOMETHING: f64 = 0.5;

/// A page that something speaks against.
#[derive(Debug, Clone, PartialEq)]
pub struct Blamed {
    pub path: String,
    /// What the phishing check has against it, in points; 0 if it only asks for something.
    pub points: f64,
}

impl Likeness {
    /// The digests by which a page is recognised when it comes back alone or in another archive: of its bytes, and of what it
    /// says if that is short.
    pub fn page_hashes(&self, path: &str) -> Vec<[u8; 32]> {
        self.parts.iter().chain(&self.says).filter(|(part, _)| part == path).map(|(_, hash)| *hash).collect()
    }

    /// What to keep of a page, if it is enough.
    pub fn page_sketch(&self, path: &str) -> Option<&Sketch> {
        let page = self.pages.iter().find(|page| page.path == path)?;
        Some(&page.sketch).filter(|sketch| sketch.is_enough())
    }

    /// The digest of the bundle as a whole.
    pub fn whole_hash(&self) -> [u8; 32] {
        self.exact
    }
}

/// What a bundle is like, and the pages of it that the check finds something in or that ask for something.
pub fn blame(texts: &Texts<'_>, rules: &Rules) -> (Likeness, Vec<Blamed>) {
    let files: Vec<File<'_>> = texts.files();
    let site = Site::new(&files);
    let mut gathered = Gathered::new(files.len());
    let mut blamed = Vec::new();
    site.each(rules, &COMPARED, |file, _, facts| {
        gathered.add(file, facts);
        let there = |path: &str| site.has(file.path, path);
        let hits = score::judge(facts, &there, rules).hits;
        let points: f64 =
            hits.iter().filter_map(|hit| rules.weight(hit.rule)).map(|weight| weight.points).sum();
        let points = if points >= SOMETHING * rules.refuse_at { points } else { 0.0 };
        if points > 0.0 || gathered.last_wants() {
            blamed.push(Blamed { path: file.path.to_owned(), points });
        }
    });
    (exact::likeness(texts, gathered), blamed)
}

//! Gathers what the pages of an upload are like while they are read, then leaves out of their sketches what they share:
//! a tool writes the same menus and notes on every page, and a page must be recognised by what is its own.

use std::collections::{BTreeSet, HashMap};

use super::PageLikeness;
use super::says;
use super::shingles::Shingles;
use super::sketch::Sketch;
use crate::phishing::File;
use crate::phishing::facts::{Facts, Field, UseKind};
use crate::phishing::hosts::Target;
use crate::phishing::script_words::Mark;

/// Numbers held for an upload, and for a page at least.
const MOST_NUMBERS: usize = 1 << 20;
const MOST_AT_LEAST: usize = 1024;
/// What stands on so many pages belongs to none of them.
const SHARED_BY: u8 = 3;
/// Numbers of a text of some three hundred letters: what a tool wrote on a page is then only a part of it.
const LONG: usize = 150;
/// Letters that are a text; script that is a program.
const TEXT_LETTERS: usize = 60;
const SCRIPT_BYTES: usize = 200;

/// What is known of a page besides its text.
pub(super) struct Known {
    pub(super) path: String,
    /// It is more than a frame for something else.
    pub(super) says_something: bool,
    /// Paths of the scripts of the upload that it loads.
    pub(super) loads: Vec<String>,
    /// The letters of a short page.
    pub(super) letters: Option<Vec<u8>>,
}

/// What scripts do that want something: that a command is pasted, a wallet opened, a number called, a visitor kept.
const WANTING: [Mark; 6] =
    [Mark::Clipboard, Mark::Approval, Mark::Siren, Mark::Kit, Mark::Lookup, Mark::Lock];

/// A page as it was read.
struct Page {
    known: Known,
    shingles: Shingles,
    /// Somebody is asked to fill something in, so nothing on it is mere surroundings.
    asks: bool,
    /// It wants something of its reader, so that even a short text is a purpose.
    wants: bool,
}

pub(super) struct Gathered {
    pages: Vec<Page>,
    most: usize,
}

impl Gathered {
    pub(super) fn new(files: usize) -> Self {
        let most = (MOST_NUMBERS / files.max(1)).max(MOST_AT_LEAST);
        Self { pages: Vec::new(), most }
    }

    pub(super) fn add(&mut self, file: &File<'_>, facts: &Facts) {
        let shingles = Shingles::of(facts, self.most);
        let framed = facts.uses.iter().any(|used| {
            used.kind == UseKind::Frame && matches!(used.target, Target::Host(..) | Target::Address(_))
        });
        let says_something = shingles.letters >= TEXT_LETTERS || facts.script_bytes >= SCRIPT_BYTES || framed;
        let asks = facts.fields.iter().any(is_filled_in);
        let wants = asks || framed || facts.phone.is_some() || WANTING.iter().any(|mark| facts.has(*mark));
        let letters = says::letters(facts, wants);
        let known =
            Known { path: file.path.to_owned(), says_something, loads: facts.loaded.clone(), letters };
        self.pages.push(Page { known, shingles, asks, wants });
    }

    /// Whether the page that was added last wants something of its reader.
    pub(super) fn last_wants(&self) -> bool {
        self.pages.last().is_some_and(|page| page.wants)
    }

    /// The pages that have any text, and what else is known of all of them.
    pub(super) fn finish(self) -> (Vec<PageLikeness>, Vec<Known>) {
        let shared = shared(&self.pages);
        let (mut likenesses, mut known) = (Vec::new(), Vec::new());
        for page in self.pages {
            // Even a page that is worth no sketch may contain another that was.
            if !page.shingles.hashes.is_empty() {
                let sketch = sketch(&page, &shared);
                let path = page.known.path.clone();
                likenesses.push(PageLikeness { path, sketch, shingles: page.shingles });
            }
            known.push(page.known);
        }
        (likenesses, known)
    }
}

fn is_filled_in(field: &Field) -> bool {
    !matches!(field.kind.as_str(), "hidden" | "search" | "checkbox" | "radio" | "range" | "color")
        && !field.hint.contains("search")
}

/// Empty if the page is not to be recognised by its text: a short one of a manual is mostly what its tool wrote.
fn sketch(page: &Page, shared: &HashMap<u64, u8>) -> Sketch {
    let Shingles { hashes, own, ceiling, .. } = &page.shingles;
    let is_own = |hash: &&u64| shared.get(hash).is_none_or(|pages| *pages < SHARED_BY);
    let own: Vec<u64> = hashes[..*own].iter().filter(is_own).copied().collect();
    let is_long = own.len() >= LONG;
    let sketch = Sketch::new(own, *ceiling);
    if is_long || (page.wants && sketch.is_enough()) {
        sketch
    } else if page.asks {
        Sketch::new(hashes.clone(), *ceiling)
    } else {
        Sketch::new(Vec::new(), *ceiling)
    }
}

/// On how many pages each number stands. Pages that are the same count once.
fn shared(pages: &[Page]) -> HashMap<u64, u8> {
    let mut count = HashMap::new();
    if pages.len() < usize::from(SHARED_BY) {
        return count;
    }
    let mut different = BTreeSet::new();
    for page in pages {
        let mut hashes = page.shingles.hashes[..page.shingles.own].to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        let sum = hashes.iter().fold(0_u64, |sum, hash| sum.rotate_left(1).wrapping_add(*hash));
        if different.insert(sum) {
            for hash in hashes {
                let pages: &mut u8 = count.entry(hash).or_default();
                *pages = pages.saturating_add(1);
            }
        }
    }
    count
}

//! Collects the fingerprints of an upload's pages while they are read, then removes from their sketches what they
//! share: a tool writes the same menus and notes on every page, and a page must be recognized by its own content.

use std::collections::{BTreeSet, HashMap};

use super::PageFingerprint;
use super::shingles::Shingles;
use super::short_text;
use super::sketch::Sketch;
use crate::phishing::File;
use crate::phishing::facts::{Field, PageFacts, ReferenceKind};
use crate::phishing::rules::hosts::Target;
use crate::phishing::rules::script_patterns::ScriptMark;

/// The most shingles kept per upload, and per page at least.
const MOST_NUMBERS: usize = 1 << 20;
const MOST_AT_LEAST: usize = 1024;
/// Text that occurs on this many pages is boilerplate.
const SHARED_BY: u8 = 3;
/// The number of shingles of some three hundred letters: boilerplate is then only a part of the text.
const LONG: usize = 150;
/// The fewest letters that count as text; the fewest bytes of script that count as a program.
const TEXT_LETTERS: usize = 60;
const SCRIPT_BYTES: usize = 200;

/// What is known about a page besides its shingles.
pub(super) struct PageSummary {
    pub(super) path: String,
    /// It is more than a shell for something else.
    pub(super) has_content: bool,
    /// Paths of the scripts of the upload that it loads.
    pub(super) loads: Vec<String>,
    /// The letters of a short page.
    pub(super) letters: Option<Vec<u8>>,
}

/// Marks of scripts that ask the visitor for something: to paste a command, open a wallet, call a number, or that
/// trap the visitor.
const ACTION_MARKS: [ScriptMark; 6] = [
    ScriptMark::Clipboard,
    ScriptMark::Approval,
    ScriptMark::Siren,
    ScriptMark::Kit,
    ScriptMark::Lookup,
    ScriptMark::Lock,
];

/// A page as it was read.
struct CollectedPage {
    known: PageSummary,
    shingles: Shingles,
    /// It asks the visitor to fill something in, so none of it is mere boilerplate.
    has_form_fields: bool,
    /// It asks the visitor for something, so even a short text has a purpose.
    prompts_action: bool,
}

pub(super) struct PageCollector {
    pages: Vec<CollectedPage>,
    most: usize,
}

impl PageCollector {
    pub(super) fn new(files: usize) -> Self {
        let most = (MOST_NUMBERS / files.max(1)).max(MOST_AT_LEAST);
        Self { pages: Vec::new(), most }
    }

    pub(super) fn add(&mut self, file: &File<'_>, facts: &PageFacts) {
        let shingles = Shingles::of(facts, self.most);
        let framed = facts.external_references.iter().any(|used| {
            used.kind == ReferenceKind::Frame && matches!(used.target, Target::Host(..) | Target::Address(_))
        });
        let has_content = shingles.letters >= TEXT_LETTERS || facts.script_bytes >= SCRIPT_BYTES || framed;
        let has_form_fields = facts.fields.iter().any(is_filled_in);
        let prompts_action = has_form_fields
            || framed
            || facts.phone.is_some()
            || ACTION_MARKS.iter().any(|mark| facts.has(*mark));
        let letters = short_text::letters(facts, prompts_action);
        let known =
            PageSummary { path: file.path.to_owned(), has_content, loads: facts.loaded.clone(), letters };
        self.pages.push(CollectedPage { known, shingles, has_form_fields, prompts_action });
    }

    /// Whether the page that was added last asks the visitor for something.
    pub(super) fn last_prompts_action(&self) -> bool {
        self.pages.last().is_some_and(|page| page.prompts_action)
    }

    /// The pages that have any text, and the other facts about all pages.
    pub(super) fn finish(self) -> (Vec<PageFingerprint>, Vec<PageSummary>) {
        let shared = shared(&self.pages);
        let (mut fingerprints, mut known) = (Vec::new(), Vec::new());
        for page in self.pages {
            // Even a page without a sketch of its own may contain a blocklisted page.
            if !page.shingles.hashes.is_empty() {
                let sketch = sketch(&page, &shared);
                let path = page.known.path.clone();
                fingerprints.push(PageFingerprint { path, sketch, shingles: page.shingles });
            }
            known.push(page.known);
        }
        (fingerprints, known)
    }
}

fn is_filled_in(field: &Field) -> bool {
    !matches!(field.kind.as_str(), "hidden" | "search" | "checkbox" | "radio" | "range" | "color")
        && !field.hint.contains("search")
}

/// The sketch of a page; empty if it must not be recognized by its text: a short manual page is mostly boilerplate.
fn sketch(page: &CollectedPage, shared: &HashMap<u64, u8>) -> Sketch {
    let Shingles { hashes, own, ceiling, .. } = &page.shingles;
    let is_own = |hash: &&u64| shared.get(hash).is_none_or(|pages| *pages < SHARED_BY);
    let own: Vec<u64> = hashes[..*own].iter().filter(is_own).copied().collect();
    let is_long = own.len() >= LONG;
    let sketch = Sketch::new(own, *ceiling);
    if is_long || (page.prompts_action && sketch.is_enough()) {
        sketch
    } else if page.has_form_fields {
        Sketch::new(hashes.clone(), *ceiling)
    } else {
        Sketch::new(Vec::new(), *ceiling)
    }
}

/// On how many pages each shingle occurs. Identical pages count once.
fn shared(pages: &[CollectedPage]) -> HashMap<u64, u8> {
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

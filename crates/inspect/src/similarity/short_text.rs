//! Reduces a short page to one digest of its letters in order, because it has too little text for a sketch. Spaces,
//! comments, names, homoglyphs and encodings make no difference; a changed word does.

use super::shingles::LETTERS;
use crate::phishing::facts::{PageFacts, zone};

/// Longer texts have sketches.
const LONGEST: usize = 4096;
/// The fewest letters and words of a page that asks its reader for something, and of any other page.
const WANTS: (usize, usize) = (60, 8);
const SAYS: (usize, usize) = (110, 20);
/// Phrases of stock pages that servers, hosts and tools generate, with or without a search field. Folded.
const STOCK_PHRASES: [&[u8]; 14] = [
    b"page has moved",
    b"page was not found",
    b"page not found",
    b"moved permanently",
    b"being redirected",
    b"will be redirected",
    b"under construction",
    b"coming soon",
    b"default page",
    b"default web page",
    b"web server is successfully installed",
    b"enable javascript",
    b"index of /",
    b"domain is parked",
];

/// The letters of a page, if it is short and not a stock page.
pub(super) fn letters(facts: &PageFacts, prompts_action: bool) -> Option<Vec<u8>> {
    let text = &facts.text.bytes;
    if text.len() > LONGEST || facts.zones.iter().any(|(_, zones)| zones & zone::LIBRARY != 0) {
        return None;
    }
    // A capital sigma lowercases to σ or ς. σ folds to `o`, so ς must do so too.
    let same = String::from_utf8_lossy(text).replace('ς', "o");
    let letters = same.bytes().map(|byte| LETTERS[usize::from(byte)]).filter(|byte| *byte != 0);
    let letters: Vec<u8> = letters.collect();
    let words = text.split(|byte| matches!(byte, b' ' | b'\n'));
    let words = words.filter(|word| word.iter().any(|byte| LETTERS[usize::from(*byte)] != 0)).count();
    let least = if prompts_action { WANTS } else { SAYS };
    let enough = letters.len() >= least.0 && words >= least.1;
    let is_own = || !STOCK_PHRASES.iter().any(|phrase| memchr::memmem::find(text, phrase).is_some());
    // Digits and capitals fold to these letters depending on their neighbours, which change when a word is split.
    let certain = |letters: Vec<u8>| letters.into_iter().filter(|letter| !b"oli".contains(letter)).collect();
    (enough && is_own()).then(|| certain(letters))
}

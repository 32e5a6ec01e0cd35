//! Finds all words of a list in folded text in one pass.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::phishing::fold::fold;

/// Words with their meanings. `word*` also matches at the start of longer words, `*word` at their end; without a star a
/// word must stand alone.
#[derive(Debug)]
pub(crate) struct WordMatcher<T> {
    automaton: Option<AhoCorasick>,
    words: Vec<Word<T>>,
    /// Some words may begin inside others.
    begins_anywhere: bool,
}

/// The letters of a word. Some are listed several times, with stars in other places.
#[derive(Debug)]
struct Word<T> {
    meanings: Vec<Meaning<T>>,
    /// The words with which this one begins, the longest first.
    beginnings: Vec<usize>,
    length: usize,
}

#[derive(Debug)]
struct Meaning<T> {
    of: T,
    open_start: bool,
    open_end: bool,
    ascii: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WordMatch<T> {
    pub(crate) meaning: T,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The word is plain ASCII, so any other letter in the text is an imitation.
    pub(crate) ascii: bool,
}

impl<T: Copy> WordMatcher<T> {
    pub(crate) fn new(words: impl Iterator<Item = (String, T)>) -> Self {
        let mut listed: BTreeMap<String, Vec<Meaning<T>>> = BTreeMap::new();
        for (word, of) in words {
            let (open_start, rest) =
                word.strip_prefix('*').map_or((false, word.as_str()), |rest| (true, rest));
            let (open_end, rest) = rest.strip_suffix('*').map_or((false, rest), |rest| (true, rest));
            let folded = fold(rest);
            if !folded.is_empty() {
                let meaning = Meaning { of, open_start, open_end, ascii: rest.is_ascii() };
                listed.entry(folded).or_default().push(meaning);
            }
        }
        let (patterns, meanings): (Vec<String>, Vec<_>) = listed.into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&patterns);
        let words = meanings.into_iter().zip(&patterns).map(|(meanings, pattern)| {
            let shorter = (1..pattern.len()).rev().filter_map(|end| pattern.get(..end));
            let known =
                shorter.filter_map(|shorter| patterns.binary_search_by(|it| (**it).cmp(shorter)).ok());
            Word { meanings, beginnings: known.collect(), length: pattern.len() }
        });
        let words: Vec<_> = words.collect();
        let begins_anywhere = words.iter().flat_map(|word| &word.meanings).any(|meaning| meaning.open_start);
        // Building fails only when the patterns exceed the limits of the automaton; then nothing is found.
        Self { automaton: automaton.ok(), words, begins_anywhere }
    }

    /// The words of a text from left to right, the longest of those that begin in one place. They do not overlap.
    pub(crate) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = WordMatch<T>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let automaton = self.automaton.as_ref()?;
            loop {
                let found = automaton.find(Input::new(text).range(from..))?;
                let longest = found.pattern().as_usize();
                let begun = std::iter::once(longest).chain(self.words[longest].beginnings.iter().copied());
                let mut standing = begun.filter_map(|word| self.words[word].at(found.start(), text));
                if let Some(found) = standing.next() {
                    from = found.end;
                    return Some(found);
                }
                from = self.next_beginning(found.start() + 1, text);
            }
        })
    }
}

impl<T> WordMatcher<T> {
    /// The next place at which a word may begin.
    fn next_beginning(&self, mut at: usize, text: &[u8]) -> usize {
        let inside = |at: usize| {
            text.get(at).is_some_and(u8::is_ascii_alphanumeric) && text[at - 1].is_ascii_alphanumeric()
        };
        while !self.begins_anywhere && inside(at) {
            at += 1;
        }
        at
    }
}

impl<T: Copy> Word<T> {
    /// The word at this place, unless it is part of another one there.
    fn at(&self, start: usize, text: &[u8]) -> Option<WordMatch<T>> {
        let end = start + self.length;
        // A letter or digit next to the match makes it part of another word. Scripts without spaces have no such boundary.
        let joined = |inside: Option<&u8>, outside: Option<&u8>| {
            inside.is_some_and(u8::is_ascii_alphanumeric) && outside.is_some_and(u8::is_ascii_alphanumeric)
        };
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let (joins_before, joins_after) =
            (joined(text.get(start), before), joined(text.get(end - 1), text.get(end)));
        let fits = |meaning: &&Meaning<T>| {
            (meaning.open_start || !joins_before) && (meaning.open_end || !joins_after)
        };
        let Meaning { of, ascii, .. } = self.meanings.iter().find(fits)?;
        Some(WordMatch { meaning: *of, start, end, ascii: *ascii })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], text: &str) -> Vec<usize> {
        let words = WordMatcher::new(words.iter().enumerate().map(|(of, word)| ((*word).to_owned(), of)));
        words.find(text.as_bytes()).map(|found| found.meaning).collect()
    }

    #[test]
    fn words_stand_alone_unless_they_say_otherwise() {
        assert_eq!(found(&["ing", "pass*", "*pwd"], "banking ing password compass mypwd pwds"), [0, 1, 2]);
    }

    #[test]
    fn scripts_without_spaces_need_no_borders() {
        assert_eq!(found(&["密码"], "请输入密码进行"), [0]);
    }

    #[test]
    fn the_longest_word_wins() {
        assert_eq!(found(&["bank", "bank of america"], "bank of america, bank"), [1, 0]);
    }

    #[test]
    fn a_word_may_have_its_stars_in_several_places() {
        assert_eq!(found(&["otp", "otp*", "*otp"], "otp otpanswer smsotp notpad"), [0, 1, 2]);
    }

    #[test]
    fn a_longer_word_that_does_not_stand_hides_no_shorter_one() {
        assert_eq!(found(&["sign in", "sign in to", "gather"], "sign in together, gather"), [0, 2]);
        assert_eq!(found(&["my card", "card*"], "my cards"), [1]);
    }
}

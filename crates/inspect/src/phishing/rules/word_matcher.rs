//! Finds all words of a list in folded text in one pass.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::phishing::fold::fold;

/// Words with their meanings. `word*` also matches at the start of longer words, `*word` at their end; without a star a
/// word must stand alone.
#[derive(Debug)]
pub(crate) struct WordMatcher<T> {
    automaton: Option<AhoCorasick>,
    meanings: Vec<Meaning<T>>,
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
        let mut patterns = Vec::new();
        let mut meanings = Vec::new();
        for (word, of) in words {
            let (open_start, rest) =
                word.strip_prefix('*').map_or((false, word.as_str()), |rest| (true, rest));
            let (open_end, rest) = rest.strip_suffix('*').map_or((false, rest), |rest| (true, rest));
            let folded = fold(rest);
            if !folded.is_empty() {
                meanings.push(Meaning { of, open_start, open_end, ascii: rest.is_ascii() });
                patterns.push(folded);
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&patterns);
        // Building fails only when the patterns exceed the limits of the automaton; then nothing is found.
        Self { automaton: automaton.ok(), meanings }
    }

    pub(crate) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = WordMatch<T>> + 'a {
        self.automaton.iter().flat_map(move |automaton| automaton.find_iter(text)).filter_map(|found| {
            let meaning = &self.meanings[found.pattern().as_usize()];
            // A letter or digit next to the match makes it part of another word. Scripts without spaces have no such boundary.
            let alone = |open: bool, inside: Option<&u8>, outside: Option<&u8>| {
                open || !(inside.is_some_and(u8::is_ascii_alphanumeric)
                    && outside.is_some_and(u8::is_ascii_alphanumeric))
            };
            let before = found.start().checked_sub(1).and_then(|at| text.get(at));
            let stands = alone(meaning.open_start, text.get(found.start()), before)
                && alone(meaning.open_end, text.get(found.end() - 1), text.get(found.end()));
            stands.then_some(WordMatch {
                meaning: meaning.of,
                start: found.start(),
                end: found.end(),
                ascii: meaning.ascii,
            })
        })
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
}

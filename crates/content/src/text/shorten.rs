//! Shortens a line for display: at a word boundary where there is one, never inside a user-perceived character, and with an
//! ellipsis for what is left out.

use unicode_normalization::char::is_combining_mark;

const ELLIPSIS: char = '…';

/// The line itself if it has at most `longest` characters, else its beginning with an ellipsis, together at most `longest`
/// characters.
pub(crate) fn shorten(line: &str, longest: usize) -> String {
    if line.chars().nth(longest).is_none() {
        return line.to_owned();
    }
    let room = line.char_indices().nth(longest.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let mut kept = word_end(line, room).unwrap_or_else(|| letter_end(line, room)).to_owned();
    kept.push(ELLIPSIS);
    kept
}

/// The text before `room`, up to the last whole word; `None` if that is less than half of it.
fn word_end(line: &str, room: usize) -> Option<&str> {
    let (head, tail) = line.split_at(room);
    let end = if tail.starts_with(char::is_whitespace) { room } else { head.rfind(char::is_whitespace)? };
    let kept =
        head[..end].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '–' | '—'));
    (kept.len() * 2 >= head.len()).then_some(kept)
}

/// The text before `room`, without the start of a character that continues after it.
fn letter_end(line: &str, room: usize) -> &str {
    let mut end = room;
    while let Some(last) = line[..end].chars().next_back() {
        if line[end..].chars().next().is_none_or(|next| !is_joined(&line[..end], last, next)) {
            break;
        }
        end -= last.len_utf8();
    }
    // The line is one endless character: cut it anyway.
    if end == 0 { &line[..room] } else { &line[..end] }
}

/// Whether `last` and `next` belong to one user-perceived character.
fn is_joined(before: &str, last: char, next: char) -> bool {
    const JOINER: char = '\u{200d}';
    let extends = is_combining_mark(next)
        || matches!(next, JOINER | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
        // Vowels and final consonants of a Korean syllable that is written in parts.
        || matches!(next, '\u{1160}'..='\u{11ff}');
    // Flags are pairs of regional indicator letters.
    let is_flag_letter = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let splits_flag =
        is_flag_letter(next) && before.chars().rev().take_while(|c| is_flag_letter(*c)).count() % 2 == 1;
    extends || last == JOINER || splits_flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_lines_stay() {
        assert_eq!(shorten("Orchard report", 14), "Orchard report");
        assert_eq!(shorten("", 3), "");
    }

    #[test]
    fn long_lines_end_with_a_whole_word() {
        assert_eq!(shorten("Quarterly report of the orchard and the cellar", 30), "Quarterly report of the…");
        assert_eq!(
            shorten("Quarterly report of the orchard, and the cellar", 33),
            "Quarterly report of the orchard…"
        );
        assert_eq!(shorten("one two", 4), "one…");
    }

    #[test]
    fn one_long_word_is_cut_between_characters() {
        assert_eq!(shorten("Donaudampfschifffahrt", 8), "Donauda…");
        assert_eq!(shorten("a Donaudampfschifffahrt", 12), "a Donaudamp…");
        // The accent is a separate code point here.
        assert_eq!(shorten("ae\u{301}ioux", 3), "a…");
        assert_eq!(shorten("ab👩\u{200d}👩\u{200d}👧xyz", 5), "ab…");
        assert_eq!(shorten("👍🏽👍🏽👍🏽", 4), "👍🏽…");
        assert_eq!(shorten("🇩🇪🇫🇷🇮🇹", 4), "🇩🇪…");
    }

    #[test]
    fn one_endless_character_is_cut() {
        let line = format!("a{}", "\u{301}".repeat(50));
        assert_eq!(shorten(&line, 10).chars().count(), 10);
    }

    proptest! {
        #[test]
        fn never_longer_and_always_the_beginning(line in "\\PC{0,60}", longest in 1_usize..40) {
            let short = shorten(&line, longest);
            prop_assert!(short.chars().count() <= longest);
            let kept = short.strip_suffix(ELLIPSIS).filter(|_| line != short).unwrap_or(&short);
            prop_assert!(line.starts_with(kept));
        }
    }
}

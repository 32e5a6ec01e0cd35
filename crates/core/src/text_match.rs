//! Where a literal text occurs in another, and which line is most like a text that does not occur: facts for the errors of
//! edits.

use memchr::{memchr_iter, memmem};

/// Shorter pieces of the text are not searched for: they occur everywhere.
const LEAST_PIECE: usize = 8;
/// How many lines of the text are searched for one by one.
const MOST_LINES_TRIED: usize = 8;

/// A line similar to a text that does not occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearest {
    /// The text would match here with other line ends.
    LineEnds(usize),
    Line(usize),
}

/// The number of matches, and the positions of the first ones. Matches that overlap another count if there would be just one
/// otherwise.
pub(crate) fn find_all(text: &str, find: &str, listed: usize) -> (usize, Vec<usize>) {
    let finder = memmem::Finder::new(find);
    let (mut count, mut starts) = (0, Vec::new());
    for start in finder.find_iter(text.as_bytes()) {
        count += 1;
        if starts.len() < listed {
            starts.push(start);
        }
    }
    if let (1, [only]) = (count, starts.as_slice())
        && let Some(after) = finder.find(&text.as_bytes()[only + 1..])
    {
        let second = only + 1 + after;
        count = 2;
        starts.push(second);
    }
    (count, starts)
}

/// The number of line ends.
pub(crate) fn count_lines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// The line most like `find`, by a bounded number of searches: the text with other line ends, then its longest lines without
/// the space around them, then shorter and shorter beginnings of the longest line.
pub(crate) fn nearest_line(text: &str, find: &str) -> Option<Nearest> {
    let line_of = |at: usize| 1 + count_lines(&text.as_bytes()[..at]);
    let search = |piece: &str| memmem::find(text.as_bytes(), piece.as_bytes()).map(line_of);
    if find.contains('\n') {
        let plain = find.replace("\r\n", "\n");
        let other = if plain.len() == find.len() { plain.replace('\n', "\r\n") } else { plain };
        if let Some(line) = search(&other) {
            return Some(Nearest::LineEnds(line));
        }
    }
    let mut lines: Vec<&str> = find.lines().map(str::trim).filter(|line| line.len() >= LEAST_PIECE).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
    if let Some(line) = lines.iter().take(MOST_LINES_TRIED).find_map(|line| search(line)) {
        return Some(Nearest::Line(line));
    }
    let longest = lines.first()?;
    let mut length = longest.len() / 2;
    while length >= LEAST_PIECE {
        if let Some(line) = search(longest[..longest.floor_char_boundary(length)].trim_end()) {
            return Some(Nearest::Line(line));
        }
        length /= 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_and_the_first_ones_listed() {
        assert_eq!(find_all("a b a b a", "a", 2), (3, vec![0, 4]));
        assert_eq!(find_all("aaa", "aa", 9), (2, vec![0, 1]), "an overlapping match makes it ambiguous");
        assert_eq!(find_all("abc", "x", 9), (0, vec![]));
    }

    #[test]
    fn the_nearest_line_differs_in_line_ends_space_or_its_end() {
        let text = "one\r\n  the second line\r\n  and a third one\r\n";
        assert_eq!(nearest_line(text, "line\n  and a third"), Some(Nearest::LineEnds(2)));
        assert_eq!(nearest_line("a\nb\n", "a\r\nb"), Some(Nearest::LineEnds(1)));
        assert_eq!(nearest_line(text, "\tand a third one"), Some(Nearest::Line(3)));
        assert_eq!(nearest_line(text, "the second line of the text"), Some(Nearest::Line(2)));
        assert_eq!(nearest_line(text, "nothing of the kind"), None);
        assert_eq!(nearest_line(text, "x"), None, "too short to look for");
        assert_eq!(nearest_line("ääääääää", "ääääääää!"), Some(Nearest::Line(1)), "cut between characters");
    }
}

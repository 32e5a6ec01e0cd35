//! The lines or bytes of a text that a call asks for, and the part that results.

use dropleaf_core::{Error, Result};

/// Default length of a part.
const PART_BYTES: i64 = 50_000;
/// Maximum length of a part, to bound the size of a message.
const MOST_BYTES: i64 = 1 << 20;
/// Minimum length of a part: it must hold at least one character, and less is not worth a call.
const LEAST_BYTES: i64 = 1000;

/// The requested lines or bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    start_line: Option<usize>,
    end_line: Option<usize>,
    offset: usize,
    most: usize,
}

/// A part of a text, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub start: usize,
    pub end: usize,
    pub start_line: usize,
    pub next: Option<usize>,
}

impl Range {
    /// From the arguments of a call, none of which is required; `most` is the length in bytes.
    pub(super) fn new(
        start_line: Option<i64>,
        end_line: Option<i64>,
        offset: Option<i64>,
        most: Option<i64>,
    ) -> Result<Self> {
        let line = |name: &str, value: Option<i64>| match value {
            None => Ok(None),
            Some(line @ 1..) => Ok(Some(usize::try_from(line).unwrap_or(usize::MAX))),
            Some(_) => Err(Error::field(name, "must be 1 or more")),
        };
        let start_line = line("start_line", start_line)?;
        let end_line = line("end_line", end_line)?;
        if end_line.is_some_and(|end| end < start_line.unwrap_or(1)) {
            return Err(Error::field("end_line", "is before `start_line`"));
        }
        if offset.is_some() && start_line.is_some() {
            return Err(Error::field("offset", "cannot be combined with `start_line`"));
        }
        let offset = usize::try_from(offset.unwrap_or_default())
            .map_err(|_| Error::field("offset", "must be 0 or more"))?;
        let most = most.unwrap_or(PART_BYTES);
        if !(LEAST_BYTES..=MOST_BYTES).contains(&most) {
            return Err(Error::field("max_bytes", format!("must be {LEAST_BYTES} to {MOST_BYTES}")));
        }
        Ok(Self { start_line, end_line, offset, most: usize::try_from(most).unwrap_or_default() })
    }

    /// The part of a text, between characters. It ends with a line if it holds at least one whole line.
    pub(super) fn of(self, text: &str) -> Part {
        let start = match self.start_line {
            Some(line) => line_start(text, line),
            None => text.floor_char_boundary(self.offset.min(text.len())),
        };
        let limit =
            self.end_line.map_or(text.len(), |line| line_start(text, line.saturating_add(1))).max(start);
        let mut end = limit;
        if limit - start > self.most {
            end = text.floor_char_boundary(start + self.most);
            if let Some(line_end) = text[start..end].rfind('\n') {
                end = start + line_end + 1;
            }
        }
        let start_line = 1 + text[..start].bytes().filter(|byte| *byte == b'\n').count();
        Part { start, end, start_line, next: (end < limit).then_some(end) }
    }
}

/// Where a line starts; the end of the text for a line after the last.
fn line_start(text: &str, line: usize) -> usize {
    if line <= 1 {
        return 0;
    }
    text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start_line: Option<usize>, end_line: Option<usize>, offset: usize, most: usize) -> Range {
        Range { start_line, end_line, offset, most }
    }

    #[test]
    fn lines_are_counted_from_one_and_the_last_is_included() {
        let text = "one\ntwo\nthree\nfour";
        let of = |start, end| {
            let part = range(start, end, 0, 1000).of(text);
            (text[part.start..part.end].to_owned(), part.start_line)
        };
        assert_eq!(of(None, None), (text.to_owned(), 1));
        assert_eq!(of(Some(2), Some(3)), ("two\nthree\n".to_owned(), 2));
        assert_eq!(of(Some(4), None), ("four".to_owned(), 4));
        assert_eq!(of(Some(9), None).0, "");
        assert_eq!(of(None, Some(1)), ("one\n".to_owned(), 1));
    }

    #[test]
    fn parts_join_to_the_whole_and_split_no_character() {
        let text = format!("{}\n{}\n", "aä€𝄞".repeat(300), "x\n".repeat(300));
        let (mut read, mut at) = (String::new(), 0);
        loop {
            let part = range(None, None, at, 100).of(&text);
            read.push_str(&text[part.start..part.end]);
            match part.next {
                Some(next) => at = next,
                None => break,
            }
        }
        assert_eq!(read, text);
        assert_eq!(range(None, None, 1, 100).of("ä").start, 0, "in the middle of a character");
        assert_eq!(range(None, None, 99, 100).of("ab"), Part { start: 2, end: 2, start_line: 1, next: None });
    }
}

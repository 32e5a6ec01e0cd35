//! Reads lines with a maximum length; longer lines are skipped without being buffered.

use std::io::{self, BufRead};

/// The longest message in either direction. JSON escapes can double a page of 10 MiB, and a server may allow larger pages.
pub const LONGEST: usize = 64 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// The line without its line ending.
    Whole(Vec<u8>),
    TooLong,
}

/// Iterates over the non-empty lines of a reader.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    pub const fn new(reader: R) -> Self {
        Self { reader, longest: LONGEST }
    }

    #[cfg(test)]
    const fn up_to(reader: R, longest: usize) -> Self {
        Self { reader, longest }
    }

    fn read(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut too_long = false;
        loop {
            let piece = match self.reader.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() && line.is_empty() && !too_long {
                return Ok(None);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(piece.len());
            if line.len() + taken > self.longest {
                too_long = true;
                line = Vec::new();
            }
            if !too_long {
                line.extend_from_slice(&piece[..taken]);
            }
            let ended = end.is_some() || piece.is_empty();
            let used = taken + usize::from(end.is_some());
            self.reader.consume(used);
            if ended {
                return Ok(Some(if too_long { Line::TooLong } else { Line::Whole(line) }));
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read().transpose()? {
                Ok(Line::Whole(line)) => {
                    let line = line.trim_ascii();
                    if !line.is_empty() {
                        return Some(Ok(Line::Whole(line.to_vec())));
                    }
                }
                other => return Some(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(text: &str, longest: usize) -> Vec<Line> {
        // A small buffer, so that lines arrive in pieces.
        Lines::up_to(BufReader::with_capacity(3, text.as_bytes()), longest).map(Result::unwrap).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_whole_with_either_ending_and_without_the_empty_ones() {
        assert_eq!(read("one\ntwo\r\n\n \nthree", 10), [whole("one"), whole("two"), whole("three")]);
        assert_eq!(read("", 10), []);
    }

    #[test]
    fn line_that_is_too_long_is_skipped_and_the_next_is_read() {
        assert_eq!(read("12345\n123456\n1\n", 5), [whole("12345"), Line::TooLong, whole("1")]);
        assert_eq!(read("1234567890", 5), [Line::TooLong]);
    }
}

//! Splits a stream of text into windows, so that it can be searched without holding all of it: every byte is a search position
//! once, with some bytes before and after it in view.

use std::ops::Range;

/// How many bytes stay in view before a search position.
pub(crate) const BEHIND: usize = 512;
/// How many bytes are in view after it, unless the text ends.
pub(crate) const AHEAD: usize = 1024;
/// Small chunks are buffered: moving the rest of a window for each of them would cost more than the search.
const STEP: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct SearchWindows {
    buffer: Vec<u8>,
    searched: usize,
}

impl SearchWindows {
    /// `search` gets the bytes in view and the range of positions to search.
    pub(crate) fn push(&mut self, chunk: &[u8], mut search: impl FnMut(&[u8], Range<usize>)) {
        for piece in chunk.chunks(4 * STEP) {
            self.buffer.extend_from_slice(piece);
            if self.buffer.len() < self.searched + AHEAD + STEP {
                continue;
            }
            let end = self.buffer.len() - AHEAD;
            search(&self.buffer, self.searched..end);
            let keep_from = end.saturating_sub(BEHIND);
            self.buffer.drain(..keep_from);
            self.searched = end - keep_from;
        }
    }

    /// Searches the remaining bytes.
    pub(crate) fn finish(&mut self, mut search: impl FnMut(&[u8], Range<usize>)) {
        search(&self.buffer, self.searched..self.buffer.len());
        self.buffer.clear();
        self.searched = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_looked_at_once_with_its_surroundings() {
        let text: Vec<u8> = (0..200_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        for step in [1, 7, 5000, 70_000, 200_000] {
            let (mut windows, mut seen) = (SearchWindows::default(), Vec::new());
            let mut search = |window: &[u8], range: Range<usize>| {
                let place = seen.len();
                let behind = range.start.min(BEHIND);
                assert_eq!(window[range.start - behind..range.start], text[place - behind..place]);
                let ahead = (text.len() - place - range.len()).min(AHEAD);
                assert!(window.len() >= range.end + ahead);
                seen.extend_from_slice(&window[range]);
            };
            text.chunks(step).for_each(|chunk| windows.push(chunk, &mut search));
            windows.finish(&mut search);
            assert!(seen == text, "{step}");
        }
    }
}

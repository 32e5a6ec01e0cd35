//! Finds the lines of offsets in the files of an upload. Each file is read once, however many offsets are looked up.

use std::collections::HashMap;

use super::upload::File;

/// How many bytes one lookup reads at most. The lines before each stretch of this length are counted once.
const STRETCH: usize = 4096;

/// The line numbers of one upload.
#[derive(Debug, Default)]
pub(crate) struct LineNumbers<'f> {
    /// By path: how many lines end before each stretch of the file.
    counted: HashMap<&'f str, Vec<usize>>,
    /// How many bytes were read.
    pub(crate) work: usize,
}

impl<'f> LineNumbers<'f> {
    /// The line of an offset, from 1.
    pub(crate) fn line_of(&mut self, file: &File<'f>, at: usize) -> usize {
        let text = file.text.as_bytes();
        let at = at.min(text.len());
        let ends = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
        let counted = self.counted.entry(file.path).or_insert_with(|| {
            self.work += text.len();
            let mut before = 0;
            let stretches = text.chunks(STRETCH).map(|stretch| {
                let first = before;
                before += ends(stretch);
                first
            });
            // An offset at the end of the file may begin another stretch.
            let mut counted: Vec<usize> = stretches.collect();
            counted.push(before);
            counted
        });
        let stretch = (at / STRETCH).min(counted.len() - 1);
        let rest = &text[(stretch * STRETCH).min(at)..at];
        self.work += rest.len();
        1 + counted[stretch] + ends(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_if_from_the_start_of_the_file() {
        for length in [0, 1, STRETCH - 1, STRETCH, STRETCH + 1, 3 * STRETCH, 3 * STRETCH + 7] {
            let text: String = (0..length).map(|at| if at % 37 == 0 { '\n' } else { 'x' }).collect();
            let file = File { path: "a.js", text: &text };
            let mut lines = LineNumbers::default();
            for at in (0..=length).step_by(101).chain([length, length + 9]) {
                let expected = 1 + text[..at.min(length)].matches('\n').count();
                assert_eq!(lines.line_of(&file, at), expected, "{at} of {length}");
            }
        }
    }
}

//! The differences between two versions of a page: which files, which lines of them, and all of it in the unified format.
//! How two texts are compared is in `text_diff`.

use super::text_diff::compare;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    Added,
    Removed,
    Changed,
}

impl FileStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Removed,
    Added,
}

impl LineKind {
    /// The first character of the line in a unified difference.
    pub const fn sign(self) -> char {
        match self {
            Self::Context => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: LineKind,
    /// Without its line end.
    pub text: String,
    /// It is the last line of its file and has no line end.
    pub is_unterminated: bool,
}

/// Lines that changed, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first line in the older file, from 1; the line before it if there are none.
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    pub lines: Vec<DiffLine>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub path: String,
    pub status: FileStatus,
    /// One of the two is not UTF-8 text, so there are no lines to show.
    pub is_binary: bool,
    pub hunks: Vec<Hunk>,
    /// Lines were left out or cut.
    pub is_truncated: bool,
}

impl FileDiff {
    pub(super) fn named(path: &str, status: FileStatus) -> Self {
        Self { path: path.to_owned(), status, is_binary: false, hunks: Vec::new(), is_truncated: false }
    }
}

/// The differences between two versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentDiff {
    pub files: Vec<FileDiff>,
    /// Files or lines were left out or cut.
    pub is_truncated: bool,
}

/// How much may still be shown, and until when lines are compared.
#[derive(Debug)]
pub(crate) struct DiffBudget {
    pub(super) bytes: usize,
    pub(super) files: usize,
    pub(super) ends_at: Instant,
}

impl DiffBudget {
    pub(crate) fn new(bytes: usize, files: usize, time: Duration) -> Self {
        Self { bytes, files, ends_at: Instant::now() + time }
    }

    /// Whether the lines of another file can be shown.
    pub(crate) fn is_spent(&self) -> bool {
        self.bytes == 0 || self.is_late()
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.ends_at
    }
}

impl ContentDiff {
    /// Adds a file that differs. `None` for a side that does not have it, or whose bytes are not worth reading.
    pub(crate) fn add(
        &mut self,
        path: &str,
        status: FileStatus,
        old: Option<&[u8]>,
        new: Option<&[u8]>,
        budget: &mut DiffBudget,
    ) {
        let file = if budget.files == 0 {
            FileDiff::named(path, status)
        } else {
            compare(path, status, old, new, budget)
        };
        self.push(file, budget);
    }

    /// Adds a file that differs and is not text.
    pub(crate) fn add_binary(&mut self, path: &str, status: FileStatus, budget: &mut DiffBudget) {
        self.push(FileDiff { is_binary: true, ..FileDiff::named(path, status) }, budget);
    }

    /// Adds a file that differs, for whose lines there is no room or no time.
    pub(crate) fn add_unread(&mut self, path: &str, status: FileStatus, budget: &mut DiffBudget) {
        self.push(FileDiff { is_truncated: true, ..FileDiff::named(path, status) }, budget);
    }

    fn push(&mut self, file: FileDiff, budget: &mut DiffBudget) {
        let Some(left) = budget.files.checked_sub(1) else {
            self.is_truncated = true;
            return;
        };
        budget.files = left;
        self.is_truncated |= file.is_truncated;
        self.files.push(file);
    }

    /// The differences in the unified format. Lines that were cut make it unfit to be applied.
    pub fn unified(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            write_file(&mut text, file);
        }
        if self.is_truncated {
            text.push_str("(The difference is too long to show all of it.)\n");
        }
        text
    }
}

fn write_file(text: &mut String, file: &FileDiff) {
    let path = &file.path;
    let (old, new) = match file.status {
        FileStatus::Added => ("/dev/null".to_owned(), format!("b/{path}")),
        FileStatus::Removed => (format!("a/{path}"), "/dev/null".to_owned()),
        FileStatus::Changed => (format!("a/{path}"), format!("b/{path}")),
    };
    if file.is_binary {
        let _ = writeln!(text, "Binary files {old} and {new} differ");
        return;
    }
    let _ = writeln!(text, "--- {old}\n+++ {new}");
    for hunk in &file.hunks {
        let range = |start: usize, lines: usize| match lines {
            1 => start.to_string(),
            _ => format!("{start},{lines}"),
        };
        let (old, new) = (range(hunk.old_start, hunk.old_lines), range(hunk.new_start, hunk.new_lines));
        let _ = writeln!(text, "@@ -{old} +{new} @@");
        for line in &hunk.lines {
            let _ = writeln!(text, "{}{}", line.kind.sign(), line.text);
            if line.is_unterminated {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

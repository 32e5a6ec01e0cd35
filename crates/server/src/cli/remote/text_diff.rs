//! Compares two versions of a file and writes the difference in the unified format.

use crate::cli::output::{BAD, FAINT, GOOD, HEADING, visible};
use anstyle::Style;
use dropleaf_client::ChangedFile;
use similar::TextDiff;
use std::fmt::Write as _;
use std::time::Duration;

/// Larger texts are reported as different, without their lines.
const TEXT_BYTES: usize = 4 << 20;
/// After this time the rest of a file is shown as replaced.
const TIMEOUT: Duration = Duration::from_secs(5);
const CONTEXT_LINES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Added,
    Removed,
    Changed,
}

impl Status {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) status: Status,
    /// None if one of the files is not text.
    pub(super) diff: Option<String>,
}

impl Change {
    /// The difference as text, or a sentence if there are no lines to show.
    pub(super) fn text(&self) -> String {
        let path = &self.path;
        match (&self.diff, self.status) {
            (Some(diff), _) => diff.clone(),
            (None, Status::Added) => format!("Only in the new version: {path} (binary)\n"),
            (None, Status::Removed) => format!("Only in the old version: {path} (binary)\n"),
            (None, Status::Changed) => format!("Binary files a/{path} and b/{path} differ\n"),
        }
    }
}

/// The difference of a file as the server found it; `None` if it says something that this version does not know.
pub(super) fn found_by_server(file: &ChangedFile) -> Option<Change> {
    let status = [Status::Added, Status::Removed, Status::Changed];
    let status = status.into_iter().find(|status| status.as_str() == file.status)?;
    let path = visible(&file.path);
    let diff = (!file.binary).then(|| {
        let (a, b) = sides(&path, status);
        let mut text = format!("--- {a}\n+++ {b}\n");
        for hunk in &file.hunks {
            let range = |start: usize, lines: usize| match lines {
                1 => start.to_string(),
                _ => format!("{start},{lines}"),
            };
            let (old, new) = (range(hunk.old_start, hunk.old_lines), range(hunk.new_start, hunk.new_lines));
            let _ = writeln!(text, "@@ -{old} +{new} @@");
            for line in &hunk.lines {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    });
    Some(Change { path, status, diff })
}

/// The names of both sides in a unified difference.
fn sides(path: &str, status: Status) -> (String, String) {
    let nothing = || "/dev/null".to_owned();
    let a = if status == Status::Added { nothing() } else { format!("a/{path}") };
    let b = if status == Status::Removed { nothing() } else { format!("b/{path}") };
    (a, b)
}

/// The difference of a file; `None` if there is none.
pub(super) fn compare(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Option<Change> {
    let status = match (old, new) {
        (None, None) => return None,
        (Some(old), Some(new)) if old == new => return None,
        (None, Some(_)) => Status::Added,
        (Some(_), None) => Status::Removed,
        (Some(_), Some(_)) => Status::Changed,
    };
    // A name from a server could contain anything.
    let path = visible(path);
    let texts = text(old.unwrap_or_default()).zip(text(new.unwrap_or_default()));
    let diff = texts.map(|(before, after)| {
        let (a, b) = sides(&path, status);
        let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
        diff.unified_diff().context_radius(CONTEXT_LINES).header(&a, &b).to_string()
    });
    Some(Change { path, status, diff })
}

fn text(bytes: &[u8]) -> Option<&str> {
    if bytes.len() > TEXT_BYTES || bytes.contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// The difference for a terminal: in colours, and with characters of the content escaped that could deceive the reader.
pub(super) fn colour(diff: &str) -> String {
    let mut shown = String::with_capacity(diff.len() + diff.len() / 8);
    for line in diff.split_inclusive('\n') {
        let style = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => HEADING,
            [b'+', ..] => GOOD,
            [b'-', ..] => BAD,
            [b'@', ..] => FAINT,
            _ => Style::new(),
        };
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let body = body.split('\t').map(visible).collect::<Vec<_>>().join("\t");
        let _ = write!(shown, "{style}{body}{style:#}{end}");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_text_is_a_unified_diff() {
        let change = compare("a.txt", Some(b"one\ntwo\n"), Some(b"one\nTwo\n")).unwrap();
        assert_eq!(change.text(), "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+Two\n");
        assert_eq!(compare("a.txt", Some(b"x"), Some(b"x")), None);
    }

    #[test]
    fn new_and_removed_files_have_no_other_side() {
        let added = compare("a", None, Some(b"x\n")).unwrap();
        assert!(added.text().starts_with("--- /dev/null\n+++ b/a\n"), "{}", added.text());
        let removed = compare("a", Some(b"x\n"), None).unwrap();
        assert!(removed.text().starts_with("--- a/a\n+++ /dev/null\n"), "{}", removed.text());
    }

    #[test]
    fn binary_files_only_differ() {
        let change = compare("a.png", Some(b"\x89PNG\0"), Some(b"\x89PNG\x01\0")).unwrap();
        assert_eq!(change.text(), "Binary files a/a.png and b/a.png differ\n");
    }

    #[test]
    fn a_terminal_gets_colours_and_no_deceptive_characters() {
        let shown = colour("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\u{1b}[2J\u{202e}\n+b\tc\n");
        assert!(shown.contains("\u{1b}[31m-a\\u{1b}[2J\\u{202e}\u{1b}[0m\n"), "{shown:?}");
        assert!(shown.contains("\u{1b}[32m+b\tc\u{1b}[0m\n"), "{shown:?}");
    }
}

//! Compares two texts line by line, within limits on size and time. Where they come from is left to the caller.

use super::content_diff::{DiffBudget, DiffLine, FileDiff, FileStatus, Hunk, LineKind};
use similar::{ChangeTag, DiffTag, TextDiff};

const CONTEXT_LINES: usize = 3;
/// The part in which two texts differ may be this long; a longer one is named without its lines.
const COMPARED_BYTES: usize = 4 << 20;
/// Longer lines are cut, with the place where they differ in view.
const LINE_BYTES: usize = 2000;
/// What is shown of a cut line before the place where it differs.
const LEAD_BYTES: usize = 200;

pub(super) fn compare(
    path: &str,
    status: FileStatus,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    budget: &mut DiffBudget,
) -> FileDiff {
    let mut file = FileDiff::named(path, status);
    let sides = (old.map_or(Some(""), text), new.map_or(Some(""), text));
    let (Some(old), Some(new)) = sides else {
        file.is_binary = true;
        return file;
    };
    if budget.is_spent() {
        file.is_truncated = true;
        return file;
    }
    let (start, old_end, new_end) = differing_lines(old, new);
    let (before, old, new) = (&old[..start], &old[start..old_end], &new[start..new_end]);
    if old.len().max(new.len()) > COMPARED_BYTES {
        file.is_truncated = true;
        return file;
    }
    let offset = memchr::memchr_iter(b'\n', before.as_bytes()).count();
    let diff = TextDiff::configure().deadline(budget.ends_at).diff_lines(old, new);
    for ops in diff.grouped_ops(CONTEXT_LINES) {
        let (Some(first), Some(last)) = (ops.first(), ops.last()) else { continue };
        let (old_lines, new_lines) =
            (last.old_range().end - first.old_range().start, last.new_range().end - first.new_range().start);
        let start_of = |at: usize, lines: usize| offset + at + usize::from(lines > 0);
        let mut hunk = Hunk {
            old_start: start_of(first.old_range().start, old_lines),
            old_lines,
            new_start: start_of(first.new_range().start, new_lines),
            new_lines,
            lines: Vec::new(),
        };
        for op in &ops {
            // Where a line that replaces another begins to differ from it.
            let differ = diff.old_slice(op.old_range().start).zip(diff.new_slice(op.new_range().start));
            let differ = differ.filter(|_| op.tag() == DiffTag::Replace);
            let differ_at = differ.map_or(0, |(old, new)| common_start(old, new));
            for change in diff.iter_changes(op) {
                let whole: &str = change.value();
                let line = whole.strip_suffix('\n').unwrap_or(whole);
                let shown = cut(line, differ_at);
                file.is_truncated |= shown.len() < line.len();
                let Some(left) = budget.bytes.checked_sub(shown.len() + 1) else {
                    budget.bytes = 0;
                    file.is_truncated = true;
                    if !hunk.lines.is_empty() {
                        file.hunks.push(hunk);
                    }
                    return file;
                };
                budget.bytes = left;
                hunk.lines.push(DiffLine {
                    kind: match change.tag() {
                        ChangeTag::Equal => LineKind::Context,
                        ChangeTag::Delete => LineKind::Removed,
                        ChangeTag::Insert => LineKind::Added,
                    },
                    text: shown,
                    is_unterminated: whole.len() == line.len(),
                });
            }
        }
        file.hunks.push(hunk);
    }
    file
}

fn text(bytes: &[u8]) -> Option<&str> {
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// The range of lines in which two texts differ, with the context around it: where it starts in both, and where it ends in
/// each. Comparing only these keeps a small change of a large file cheap.
fn differing_lines(old: &str, new: &str) -> (usize, usize, usize) {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let mut start = line_start(a, common_start(old, new));
    for _ in 0..CONTEXT_LINES {
        start = line_start(a, start.saturating_sub(1));
    }
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let same = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut end = 0;
    let tail = &rest_a[rest_a.len() - same..];
    for _ in 0..=CONTEXT_LINES {
        if let Some(at) = memchr::memchr(b'\n', &tail[end..]) {
            end += at + 1;
        } else {
            end = tail.len();
            break;
        }
    }
    let dropped = tail.len() - end;
    (start, a.len() - dropped, b.len() - dropped)
}

/// The start of the line that contains this position.
fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1)
}

/// The length of the common beginning, in whole characters.
fn common_start(old: &str, new: &str) -> usize {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    old.floor_char_boundary(same)
}

/// A line of bounded length. Of a longer one, the part around `at` is kept.
fn cut(line: &str, at: usize) -> String {
    if line.len() <= LINE_BYTES {
        return line.to_owned();
    }
    let start = line.floor_char_boundary(at.min(line.len()).saturating_sub(LEAD_BYTES));
    let end = line.floor_char_boundary((start + LINE_BYTES - 8).min(line.len()));
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{}{after}", &line[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::ContentDiff;
    use proptest::prelude::*;
    use std::time::Duration;

    fn budget() -> DiffBudget {
        DiffBudget::new(100_000, 100, Duration::from_mins(1))
    }

    fn changed(old: &str, new: &str) -> ContentDiff {
        let mut diff = ContentDiff::default();
        diff.add("a.txt", FileStatus::Changed, Some(old.as_bytes()), Some(new.as_bytes()), &mut budget());
        diff
    }

    /// What the library writes for the whole texts.
    fn reference(old: &str, new: &str) -> String {
        let diff = TextDiff::from_lines(old, new);
        diff.unified_diff().context_radius(CONTEXT_LINES).header("a/a.txt", "b/a.txt").to_string()
    }

    #[test]
    fn a_change_is_a_unified_difference() {
        let diff = changed("one\ntwo\n", "one\nTwo\n");
        assert_eq!(diff.unified(), "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+Two\n");
        let diff = changed("a", "b");
        assert!(diff.unified().contains("-a\n\\ No newline at end of file\n+b\n\\ No newline"), "{diff:?}");
    }

    #[test]
    fn only_the_lines_around_a_change_are_compared() {
        let lines: Vec<String> = (0..10_000).map(|n| format!("line {n}")).collect();
        let old = lines.join("\n");
        let new = old.replace("line 5000\n", "line five thousand\n");
        let (start, old_end, _) = differing_lines(&old, &new);
        assert!(old_end - start < 200, "{start} {old_end}");
        assert_eq!(changed(&old, &new).unified(), reference(&old, &new));
    }

    #[test]
    fn added_removed_and_binary_files_are_named() {
        let mut diff = ContentDiff::default();
        let mut budget = budget();
        diff.add("new", FileStatus::Added, None, Some(b"x\n"), &mut budget);
        diff.add("old", FileStatus::Removed, Some(b"x\n"), None, &mut budget);
        diff.add("a.png", FileStatus::Changed, Some(b"\x89P\0"), Some(b"\x89\0"), &mut budget);
        assert_eq!(
            diff.unified(),
            "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
             Binary files a/a.png and b/a.png differ\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_change() {
        let old = format!("{}ä{}", "x".repeat(1 << 20), "y".repeat(1 << 20));
        let new = old.replace('ä', "a new word");
        let diff = changed(&old, &new);
        let text = diff.unified();
        assert!(diff.is_truncated && text.len() < 3 * LINE_BYTES, "{}", text.len());
        assert!(text.contains("-…") && text.contains("xäy") && text.contains("xa new wordy"), "{text}");
    }

    #[test]
    fn no_more_than_the_budget_is_shown() {
        let (old, new) = ("a\n".repeat(10_000), "b\n".repeat(10_000));
        let mut diff = ContentDiff::default();
        let mut budget = DiffBudget::new(1000, 2, Duration::from_mins(1));
        for path in ["1", "2", "3"] {
            diff.add(path, FileStatus::Changed, Some(old.as_bytes()), Some(new.as_bytes()), &mut budget);
        }
        assert_eq!(diff.files.len(), 2);
        assert!(diff.is_truncated && diff.unified().len() < 2000);
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_whole_texts(
            old in "([ab]?\n){0,20}[ab]?", new in "([ab]?\n){0,20}[ab]?", shared in "([xy]\n){0,12}",
        ) {
            let (old, new) = (format!("{shared}{old}{shared}"), format!("{shared}{new}{shared}"));
            if old != new {
                // The same lines may be paired differently, so the result is applied instead of compared.
                prop_assert_eq!(applied(&old, &changed(&old, &new).files[0].hunks), new);
            }
        }
    }

    /// Applies hunks as `patch` does, and checks the lines that they expect.
    fn applied(old: &str, hunks: &[Hunk]) -> String {
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut made, mut at) = (String::new(), 0);
        for hunk in hunks {
            let start = if hunk.old_lines > 0 { hunk.old_start - 1 } else { hunk.old_start };
            made.extend(lines[at..start].iter().copied());
            at = start;
            for line in &hunk.lines {
                let text = format!("{}{}", line.text, if line.is_unterminated { "" } else { "\n" });
                if line.kind != LineKind::Added {
                    assert_eq!(lines[at], text);
                    at += 1;
                }
                if line.kind != LineKind::Removed {
                    made.push_str(&text);
                }
            }
        }
        made.extend(lines[at..].iter().copied());
        made
    }
}

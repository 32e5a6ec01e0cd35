//! Passes the differences of a file to the pages that show them.

use dropleaf_app::{FileDiff, LineKind};
use dropleaf_pages::{ChangedFile, ChangedLine, ChangedLines};

pub(super) fn changed_file(file: &FileDiff) -> ChangedFile {
    let parts = file.hunks.iter().map(|hunk| ChangedLines {
        old_start: hunk.old_start,
        new_start: hunk.new_start,
        lines: hunk
            .lines
            .iter()
            .map(|line| match line.kind {
                LineKind::Context => ChangedLine::Same(line.text.clone()),
                LineKind::Removed => ChangedLine::Removed(line.text.clone()),
                LineKind::Added => ChangedLine::Added(line.text.clone()),
            })
            .collect(),
    });
    ChangedFile {
        path: file.path.clone(),
        status: file.status.as_str(),
        is_binary: file.is_binary,
        is_truncated: file.is_truncated,
        parts: parts.collect(),
    }
}

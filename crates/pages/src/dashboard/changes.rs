//! `/dashboard/pages/{id}/changes`: what changed between two versions, side by side. The text is shown as text, never as a page.

use super::{Section, Shell};
use crate::Html;
use crate::assets::{CHANGES_CSS, PAGES_CSS};
use askama::Template;

/// A version that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedVersion {
    pub version: i64,
    pub created_at: i64,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedLine {
    Same(String),
    Removed(String),
    Added(String),
}

/// Lines that changed, with those around them.
#[derive(Debug)]
pub struct ChangedLines {
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<ChangedLine>,
}

#[derive(Debug)]
pub struct ChangedFile {
    pub path: String,
    /// `added`, `removed` or `changed`.
    pub status: &'static str,
    pub is_binary: bool,
    pub is_truncated: bool,
    pub parts: Vec<ChangedLines>,
}

#[derive(Debug)]
pub struct ChangesPage<'a> {
    pub site_id: &'a str,
    pub title: &'a str,
    pub from: i64,
    pub to: i64,
    /// Newest first.
    pub versions: Vec<ComparedVersion>,
    pub files: Vec<ChangedFile>,
    pub is_truncated: bool,
}

/// A line of each side, with its number.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    old: Option<(usize, &'a str)>,
    new: Option<(usize, &'a str)>,
    is_same: bool,
}

#[derive(Template)]
#[template(path = "dashboard/changes.html")]
struct ChangesTemplate<'a> {
    shell: Shell<'a>,
    pages_css: String,
    changes_css: String,
    page: &'a ChangesPage<'a>,
}

pub fn changes(shell: Shell<'_>, page: &ChangesPage<'_>) -> Html {
    let (pages_css, changes_css) = (PAGES_CSS.path(), CHANGES_CSS.path());
    // Writing into memory does not fail.
    Html(ChangesTemplate { shell, pages_css, changes_css, page }.render().unwrap_or_default())
}

impl ChangedLines {
    /// The lines beside each other: removed lines next to those that replace them.
    fn rows(&self) -> Vec<Row<'_>> {
        let (mut old, mut new) = (self.old_start.max(1), self.new_start.max(1));
        let mut rows: Vec<Row<'_>> = Vec::new();
        // The first row of this block of changes that has no new line yet.
        let mut open = 0;
        for line in &self.lines {
            match line {
                ChangedLine::Same(text) => {
                    rows.push(Row { old: Some((old, text)), new: Some((new, text)), is_same: true });
                    (old, new, open) = (old + 1, new + 1, rows.len());
                }
                ChangedLine::Removed(text) => {
                    rows.push(Row { old: Some((old, text)), new: None, is_same: false });
                    old += 1;
                }
                ChangedLine::Added(text) => {
                    if let Some(row) = rows.get_mut(open) {
                        row.new = Some((new, text));
                    } else {
                        rows.push(Row { old: None, new: Some((new, text)), is_same: false });
                    }
                    (new, open) = (new + 1, open + 1);
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::pages_tests::shell;

    fn lines() -> ChangedLines {
        let line = |text: &str| text.to_owned();
        ChangedLines {
            old_start: 7,
            new_start: 8,
            lines: vec![
                ChangedLine::Same(line("a")),
                ChangedLine::Removed(line("b")),
                ChangedLine::Removed(line("<script>c</script>")),
                ChangedLine::Added(line("B")),
                ChangedLine::Same(line("d")),
                ChangedLine::Added(line("e")),
            ],
        }
    }

    #[test]
    fn removed_lines_are_beside_those_that_replace_them() {
        let part = lines();
        let rows = part.rows();
        let shown: Vec<_> = rows.iter().map(|row| (row.old, row.new, row.is_same)).collect();
        assert_eq!(
            shown,
            [
                (Some((7, "a")), Some((8, "a")), true),
                (Some((8, "b")), Some((9, "B")), false),
                (Some((9, "<script>c</script>")), None, false),
                (Some((10, "d")), Some((10, "d")), true),
                (None, Some((11, "e")), false),
            ]
        );
    }

    #[test]
    fn the_text_of_a_page_is_never_markup_here() {
        let file = ChangedFile {
            path: "<b>.html".to_owned(),
            status: "changed",
            is_binary: false,
            is_truncated: false,
            parts: vec![lines()],
        };
        let page = ChangesPage {
            site_id: "site_1",
            title: "<i>",
            from: 1,
            to: 2,
            versions: vec![
                ComparedVersion { version: 2, created_at: 0 },
                ComparedVersion { version: 1, created_at: 0 },
            ],
            files: vec![file],
            is_truncated: false,
        };
        let html = changes(shell(), &page).0;
        for raw in ["<script>c", "<b>.html", "<i>"] {
            assert!(!html.contains(raw), "{raw}");
        }
        assert!(html.contains("Version 1") && html.contains("Version 2"));
    }
}

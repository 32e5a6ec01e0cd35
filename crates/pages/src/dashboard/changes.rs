//! `/dashboard/pages/{id}/changes`: what changed between two versions, side by side. The text is shown as text, never as a page.

use super::{Section, Shell};
use crate::Html;
use crate::assets::{CHANGES_CSS, PAGES_CSS};
use crate::line_diff::ChangedFile;
use crate::moment::Moment;
use askama::Template;

/// A version that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedVersion {
    pub version: i64,
    pub created: Moment,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::pages_tests::shell;
    use crate::line_diff::tests::lines;

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
                ComparedVersion { version: 2, created: Moment(0) },
                ComparedVersion { version: 1, created: Moment(0) },
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

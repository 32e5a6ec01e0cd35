//! What changed in a page, for its viewers: lines of text, never the page itself. It does not say who made a version.

use super::assets::{Style, style};
use super::line_diff::ChangedFile;
use super::moment::Moment;
use super::{Rendered, safe_link};
use askama::Template;
use std::sync::LazyLock;

static STYLE: LazyLock<Style> = style!("viewer_changes.css");

/// A version that the viewer can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherVersion {
    pub version: i64,
    pub created: Moment,
}

#[derive(Debug)]
pub enum ChangesState {
    /// The lines that differ between two versions.
    Compared { from: i64, files: Vec<ChangedFile>, is_truncated: bool },
    /// There is nothing to compare: why, in one sentence.
    Nothing(&'static str),
}

#[derive(Debug)]
pub struct Changes<'a> {
    pub title: &'a str,
    /// The version that the page shows.
    pub version: i64,
    /// The page itself.
    pub page: &'a str,
    /// This view, to which a version is added.
    pub action: &'a str,
    /// Earlier versions, newest first.
    pub earlier: Vec<OtherVersion>,
    pub state: ChangesState,
    /// Whether the names of files mean something to the viewer.
    pub names_files: bool,
    /// The link to report this page.
    pub report: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "changes.html")]
struct ChangesTemplate<'a> {
    style: &'static str,
    changes: &'a Changes<'a>,
    from: i64,
    page: Option<&'a str>,
    action: Option<&'a str>,
    report: Option<&'a str>,
}

pub fn changes(changes: &Changes<'_>) -> Rendered {
    let from = match changes.state {
        ChangesState::Compared { from, .. } => from,
        ChangesState::Nothing(_) => 0,
    };
    let page = ChangesTemplate {
        style: STYLE.text,
        changes,
        from,
        page: safe_link(changes.page),
        action: safe_link(changes.action),
        report: changes.report.and_then(safe_link),
    };
    // Rendering writes into a String and cannot fail.
    Rendered { html: page.render().unwrap_or_default(), style_source: &STYLE.source }
}

#[cfg(test)]
mod tests {
    use super::super::line_diff::tests::lines;
    use super::super::tests::{HOSTILE, assert_sound};
    use super::*;

    fn shown(state: ChangesState) -> Rendered {
        let earlier = vec![
            OtherVersion { version: 3, created: Moment(0) },
            OtherVersion { version: 2, created: Moment(0) },
        ];
        changes(&Changes {
            title: HOSTILE,
            version: 4,
            page: "/p/x/",
            action: "/p/x/_dropleaf/changes",
            earlier,
            state,
            names_files: true,
            report: Some("/p/x/_dropleaf/report"),
        })
    }

    fn file(path: &str, is_binary: bool) -> ChangedFile {
        let parts = if is_binary { Vec::new() } else { vec![lines()] };
        ChangedFile { path: path.to_owned(), status: "changed", is_binary, is_truncated: false, parts }
    }

    #[test]
    fn text_of_the_page_stays_text() {
        let files = vec![file(HOSTILE, false), file("a.png", true)];
        let page = shown(ChangesState::Compared { from: 3, files, is_truncated: true });
        assert_sound(&page);
        assert!(page.html.contains("&#60;script&#62;c&#60;/script&#62;"), "{}", page.html);
        assert!(page.html.contains("href=\"/p/x/_dropleaf/changes?from=2\""), "{}", page.html);
        assert!(page.html.contains("<del>") && page.html.contains("<ins>"));
    }

    #[test]
    fn nothing_to_compare_is_said_in_words() {
        let page = shown(ChangesState::Nothing("This is the first version."));
        assert_sound(&page);
        assert!(page.html.contains("This is the first version."));
        let same = shown(ChangesState::Compared { from: 3, files: Vec::new(), is_truncated: false });
        assert!(same.html.contains("The text is the same"), "{}", same.html);
    }
}

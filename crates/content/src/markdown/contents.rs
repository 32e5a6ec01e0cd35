//! Generates the table of contents of a long page: its sections and subsections, collapsed until a reader opens it.

use std::fmt::Write;

use super::escape::escaped;
use super::headings::Heading;

/// A page gets a table from this many headings of the second and third level on, if it is at least this long.
const FEWEST: usize = 4;
const SHORTEST_PAGE_BYTES: usize = 6 * 1024;
/// More entries would not help to find anything.
const MOST: usize = 300;
/// The ids of sections that already are a table of contents.
const ALREADY: [&str; 4] = ["contents", "table-of-contents", "toc", "content"];

/// Where the table goes, and the table; `None` for short pages. It precedes the first section, so that a page begins with its
/// title and its introduction.
pub(super) fn table(headings: &[Heading], page_bytes: usize) -> Option<(usize, String)> {
    let listed = || {
        headings.iter().filter(|heading| matches!(heading.level, 2 | 3) && !heading.text.trim().is_empty())
    };
    let has_one = headings.iter().any(|heading| ALREADY.contains(&heading.id.trim_matches('-')));
    if page_bytes < SHORTEST_PAGE_BYTES || has_one || listed().count() < FEWEST {
        return None;
    }
    let place = listed().find(|heading| heading.is_outermost)?.at;
    let mut table = String::from(
        "<details class=\"contents\">\n<summary>Contents</summary>\n<nav aria-label=\"Contents\">\n<ul>\n",
    );
    for heading in listed().take(MOST) {
        let text = escaped(heading.text.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
        let class = if heading.level == 3 { " class=\"part\"" } else { "" };
        let _ = writeln!(table, "<li{class}><a href=\"#{}\">{text}</a></li>", heading.id);
    }
    table.push_str("</ul>\n</nav>\n</details>\n");
    Some((place, table))
}

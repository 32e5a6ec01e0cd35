//! Completes the headings of a rendered page, whether written in Markdown or in HTML: each gets an id and a link to itself,
//! links within the page are adjusted to find them, and long pages get a table of contents.

use std::collections::HashSet;
use std::fmt::Write;

use dropleaf_core::html::character_references::{Context, decode};
use percent_encoding::percent_decode_str;

use super::direction::tag_len;
use super::escape::escaped;
use super::slug::Slugs;
use crate::sanitize::ID_PREFIX;
use crate::title;

/// A page gets a table from this many headings of the second and third level on, if it is at least this long.
const FEWEST_LISTED: usize = 4;
const SHORTEST_PAGE_BYTES: usize = 6 * 1024;
/// More entries would not help to find anything.
const MOST_LISTED: usize = 300;
/// The ids of sections that already are a table of contents.
const ALREADY: [&str; 4] = ["contents", "table-of-contents", "toc", "content"];

/// Whether a long document gets a table of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    Listed,
    None,
}

pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) id: String,
    /// Whether it is outside every other element.
    pub(super) is_outermost: bool,
    /// The offset of its start tag.
    pub(super) at: usize,
    /// The author's id attribute for it, with the prefix, and its offset.
    own_id: Option<(usize, String)>,
    end_tag_at: usize,
}

/// An edit to the page: the offset, the number of bytes to replace, and their replacement.
type Edit = (usize, usize, String);

/// The page with its headings completed, and the text of the first one as a title.
pub(super) fn complete(html: &str, contents: Contents) -> (String, Option<String>) {
    let mut scan = Scan::default();
    scan.read(html);
    let title = scan.headings.iter().find_map(|heading| title::clean(&heading.text));
    let ids: HashSet<&str> = scan.headings.iter().map(|heading| heading.id.as_str()).collect();
    let mut edits: Vec<Edit> = Vec::new();
    for (at, fragment) in &scan.fragments {
        if let Some(target) = target(fragment, &ids, &scan.own_ids) {
            edits.push((*at, fragment.len(), target));
        }
    }
    for heading in &scan.headings {
        let mut alias = "";
        edits.push((heading.at + "<h1".len(), 0, format!(" id=\"{}\"", heading.id)));
        if let Some((at, attribute)) = &heading.own_id {
            edits.push((*at, attribute.len(), String::new()));
            alias = attribute;
        }
        let anchor = format!(
            "<a class=\"anchor\"{alias} href=\"#{}\" aria-hidden=\"true\" tabindex=\"-1\">#</a>",
            heading.id
        );
        edits.push((heading.end_tag_at, 0, anchor));
    }
    if contents == Contents::Listed {
        edits.extend(table_of_contents(&scan.headings, html.len()).map(|(at, table)| (at, 0, table)));
    }
    // Stable, so that the table of contents, which was added last, stays before the heading whose tag begins at the same
    // offset.
    edits.sort_by_key(|(at, ..)| *at);
    (edited(html, &edits), title)
}

fn edited(html: &str, edits: &[Edit]) -> String {
    let added: usize = edits.iter().map(|(_, _, text)| text.len()).sum();
    let mut made = String::with_capacity(html.len() + added);
    let mut done = 0;
    for (at, removed, text) in edits {
        made.push_str(&html[done..*at]);
        made.push_str(text);
        done = at + removed;
    }
    made.push_str(&html[done..]);
    made
}

/// The new target of a link within the page, if it has to be changed.
fn target(fragment: &str, ids: &HashSet<&str>, own_ids: &HashSet<String>) -> Option<String> {
    let fragment_text = decode(fragment, Context::Attribute);
    let decoded = percent_decode_str(&fragment_text).decode_utf8_lossy();
    if ids.contains(&*decoded) {
        return None;
    }
    if own_ids.contains(&*decoded) {
        return Some(format!("{ID_PREFIX}{fragment}"));
    }
    let small = decoded.to_lowercase();
    ids.contains(small.as_str()).then_some(small)
}

#[derive(Default)]
struct Scan {
    headings: Vec<Heading>,
    slugs: Slugs,
    /// The open heading.
    open: Option<Heading>,
    depth: usize,
    /// Ids given by the author, without their prefix.
    own_ids: HashSet<String>,
    /// The fragment of each link within the page, and its offset.
    fragments: Vec<(usize, String)>,
}

impl Scan {
    fn read(&mut self, html: &str) {
        let mut at = 0;
        while let Some(tag_at) = html[at..].find('<').map(|found| at + found) {
            if let Some(heading) = &mut self.open {
                heading.text.push_str(&decode(&html[at..tag_at], Context::Text));
            }
            let Some(len) = tag_len(&html[tag_at..]) else { return };
            self.tag(&html[tag_at..tag_at + len], tag_at);
            at = tag_at + len;
        }
    }

    fn tag(&mut self, tag: &str, at: usize) {
        let level = level_of(tag);
        if tag.starts_with("</") {
            self.depth = self.depth.saturating_sub(1);
            if let Some(mut heading) = self.open.take_if(|heading| Some(heading.level) == level) {
                heading.end_tag_at = at;
                heading.id = self.slugs.of(&heading.text);
                self.headings.push(heading);
            }
            return;
        }
        for attribute in [" id=\"", " name=\""] {
            if let Some(id) = value_after(tag, attribute).and_then(|(_, id)| id.strip_prefix(ID_PREFIX)) {
                self.own_ids.insert(decode(id, Context::Attribute).into_owned());
            }
        }
        if let Some((value_at, fragment)) = value_after(tag, " href=\"#") {
            self.fragments.push((at + value_at, fragment.to_owned()));
        }
        if let Some(level) = level
            && self.open.is_none()
        {
            // Includes the prefix that every id of an author has: without it, the end of another value could look like an id.
            let start = format!(" id=\"{ID_PREFIX}");
            let own_id = value_after(tag, &start)
                .map(|(value_at, id)| (at + value_at - start.len(), format!("{start}{id}\"")));
            let (text, id) = (String::new(), String::new());
            let is_outermost = self.depth == 0;
            self.open = Some(Heading { level, text, id, is_outermost, at, own_id, end_tag_at: 0 });
        }
        if !is_void(tag) {
            self.depth += 1;
        }
    }
}

/// The value that follows the beginning of an attribute, and its offset in the tag.
fn value_after<'t>(tag: &'t str, attribute: &str) -> Option<(usize, &'t str)> {
    let at = tag.find(attribute)? + attribute.len();
    Some((at, &tag[at..at + tag[at..].find('"')?]))
}

fn level_of(tag: &str) -> Option<u8> {
    let name = tag.strip_prefix("</").or_else(|| tag.strip_prefix('<'))?;
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6', b' ' | b'>', ..] => Some(digit - b'0'),
        _ => None,
    }
}

fn is_void(tag: &str) -> bool {
    let name = tag[1..].split([' ', '>', '/']).next().unwrap_or_default();
    tag.ends_with("/>") || matches!(name, "br" | "hr" | "img" | "input" | "source" | "wbr" | "col")
}

/// Where the table goes, and the table; `None` for short pages. It precedes the first section, so that a page begins with its
/// title and its introduction.
fn table_of_contents(headings: &[Heading], page_bytes: usize) -> Option<(usize, String)> {
    let listed = || {
        headings.iter().filter(|heading| matches!(heading.level, 2 | 3) && !heading.text.trim().is_empty())
    };
    let has_one = headings.iter().any(|heading| ALREADY.contains(&heading.id.trim_matches('-')));
    if page_bytes < SHORTEST_PAGE_BYTES || has_one || listed().count() < FEWEST_LISTED {
        return None;
    }
    let place = listed().find(|heading| heading.is_outermost)?.at;
    let mut table = String::from(
        "<details class=\"contents\">\n<summary>Contents</summary>\n<nav aria-label=\"Contents\">\n<ul>\n",
    );
    for heading in listed().take(MOST_LISTED) {
        let text = escaped(heading.text.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
        let class = if heading.level == 3 { " class=\"part\"" } else { "" };
        let _ = writeln!(table, "<li{class}><a href=\"#{}\">{text}</a></li>", heading.id);
    }
    table.push_str("</ul>\n</nav>\n</details>\n");
    Some((place, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_get_ids_and_links_find_them() {
        let (html, title) = complete(
            "<p><a href=\"#One-more\">x</a> <a href=\"#mine\">y</a> <a href=\"#none\">z</a></p>\
             <h2 id=\"user-content-mine\" align=\"center\">One &amp; <em>more</em></h2>\
             <h2>One  more</h2><p><a id=\"user-content-mine2\"></a><a href=\"#mine2\">q</a></p>",
            Contents::None,
        );
        assert_eq!(title.as_deref(), Some("One & more"));
        for part in [
            "<h2 id=\"one--more\" align=\"center\">One &amp; <em>more</em><a class=\"anchor\" id=\"user-content-mine\" href=\"#one--more\"",
            "<h2 id=\"one--more-1\">",
            "href=\"#user-content-mine\">y",
            "href=\"#none\">z",
            "href=\"#user-content-mine2\">q",
        ] {
            assert!(html.contains(part), "{part} is missing from {html}");
        }
        let (html, _) = complete(
            "<h1>Über uns</h1><a href=\"#%C3%9Cber-uns\">a</a><a href=\"#%C3%BCber-uns\">b</a>",
            Contents::None,
        );
        assert!(
            html.contains("href=\"#über-uns\">a") && html.contains("href=\"#%C3%BCber-uns\">b"),
            "{html}"
        );
    }

    #[test]
    fn odd_html_is_left_as_it_is() {
        for html in ["", "<", "<h1", "<h1>", "</h1>", "<h1><h2></h1>", "<h1 id=\"", "<a href=\"#"] {
            let made = complete(html, Contents::Listed).0;
            assert!(made.len() >= html.len(), "{html}: {made}");
        }
    }
}

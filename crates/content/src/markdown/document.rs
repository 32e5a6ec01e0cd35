//! The HTML document around a generated page: its head, its style and, for pages with code, its one script.

use super::direction::Direction;
use super::escape::escaped;

/// The style of every generated page.
pub const STYLE: &str = include_str!("../../assets/markdown.css");
/// Adds a copy button to each code block. The strict policy allows it by its hash.
pub const SCRIPT: &str = include_str!("../../assets/markdown.js");

pub(super) const CLOSING: &str = "</main>\n</body>\n</html>\n";

/// A page without a stated language.
pub(crate) fn whole_page(title: &str, body: &str) -> String {
    whole(title, None, None, body)
}

pub(super) fn whole(title: &str, language: Option<&str>, direction: Option<Direction>, body: &str) -> String {
    let opening = opening(title, language, direction);
    if !body.contains("<pre") || body.starts_with("<pre class=\"plain\"") {
        return [&opening, body, CLOSING].concat();
    }
    [&opening, body, "</main>\n<script>\n", SCRIPT, "</script>\n</body>\n</html>\n"].concat()
}

pub(super) fn opening(title: &str, language: Option<&str>, direction: Option<Direction>) -> String {
    let language = language.map(|tag| format!(" lang=\"{tag}\"")).unwrap_or_default();
    let direction = direction.map(|side| format!(" dir=\"{}\"", side.as_str())).unwrap_or_default();
    format!(
        "<!doctype html>\n<html{language}{direction}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        escaped(title)
    )
}

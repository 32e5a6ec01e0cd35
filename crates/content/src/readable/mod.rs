//! Generates pages that display files which are not pages: texts, pictures, tables, JSON and notebooks. The page is shown
//! first; the file is served unchanged beside it.

mod delimiter;
mod json;
mod notebook;
mod table;

use std::fmt::Write;

use crate::markdown::{escaped, escaped_attribute, link_to, whole_page};

/// A kind of data that gets a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFormat {
    Text,
    /// Values separated by commas, unless another delimiter is detected.
    Csv,
    /// Values separated by tabs, unless another delimiter is detected.
    Tsv,
    Json,
    Notebook,
}

/// How much of a file is read for its page.
pub(crate) const MOST_BYTES: usize = 8 << 20;
/// How much of a text is shown.
const TEXT_BYTES: usize = 1 << 20;
/// How much of other data is shown as text, if it does not match its name or is too large.
const PLAIN_BYTES: usize = 256 * 1024;

/// The content of a page, and facts about it: `12 rows`.
struct PageContent {
    body: String,
    facts: String,
    /// The note at the end of a page that does not show everything.
    left_out: Option<String>,
}

/// The page of a file. `text` is its beginning if it is longer than [`MOST_BYTES`]; `path` is the path of the file itself.
pub(crate) fn page(data: DataFormat, text: &str, is_whole: bool, title: &str, path: &str) -> String {
    let shown = match data {
        DataFormat::Text => Some(plain(text, TEXT_BYTES)),
        DataFormat::Csv => table::content(text, is_whole, b','),
        DataFormat::Tsv => table::content(text, is_whole, b'\t'),
        DataFormat::Json => json::content(text, is_whole),
        DataFormat::Notebook if is_whole => notebook::content(text),
        DataFormat::Notebook => None,
    };
    let shown = shown.unwrap_or_else(|| plain(text, PLAIN_BYTES));
    whole(title, path, &shown)
}

/// The page of a picture; `bytes` is its size.
pub(crate) fn picture_page(title: &str, path: &str, bytes: u64) -> String {
    let kind = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_uppercase());
    let facts = [kind, Some(size(bytes))].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let address = link_to(path);
    let body = format!(
        "<p class=\"picture\"><a href=\"{address}\"><img src=\"{address}\" alt=\"{}\"></a></p>\n",
        escaped_attribute(title)
    );
    whole(title, path, &PageContent { body, facts, left_out: None })
}

fn whole(title: &str, path: &str, shown: &PageContent) -> String {
    let facts = if shown.facts.is_empty() { String::new() } else { format!("{} · ", escaped(&shown.facts)) };
    let link = link_to(path);
    let mut body = format!(
        "<header class=\"file\">\n<h1>{}</h1>\n<p>{facts}<a href=\"{link}\" download>Download</a></p>\n</header>\n{}",
        escaped(title),
        shown.body
    );
    if let Some(left_out) = &shown.left_out {
        let left_out = escaped(left_out);
        let _ =
            writeln!(body, "<p>{left_out} <a href=\"{link}\" download>Download the complete file</a></p>");
    }
    whole_page(title, &body)
}

/// A text as it is, cut to at most `most` bytes.
fn plain(text: &str, most: usize) -> PageContent {
    let end = text.floor_char_boundary(most);
    let facts = if end < text.len() {
        format!("The first {} of the file", size(most as u64))
    } else {
        count(text.lines().count(), "line")
    };
    PageContent {
        body: format!("<pre class=\"plain\">{}</pre>\n", escaped(&text[..end])),
        facts,
        left_out: None,
    }
}

/// `812 bytes`, `34 KB`, `1.5 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// `1 row`, `1,284 rows`.
fn count(number: usize, noun: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(1_284_000, "row"), "1,284,000 rows");
        assert_eq!(count(0, "cell"), "0 cells");
    }

    #[test]
    fn sizes_are_rounded() {
        for (bytes, text) in [(0, "0 bytes"), (999, "999 bytes"), (33_001, "34 KB"), (1_560_000, "1.5 MB")] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn picture_is_shown_with_a_link_to_itself() {
        let made = picture_page("A \"b\" <c>", "a b.png", 1200);
        let picture = "<a href=\"a%20b.png\"><img src=\"a%20b.png\" alt=\"A &quot;b&quot; &lt;c&gt;\"></a>";
        assert!(made.contains(picture) && made.contains("PNG, 2 KB"), "{made}");
    }

    #[test]
    fn what_cannot_be_read_is_shown_as_text() {
        for (data, text) in [
            (DataFormat::Json, "{not json <b>"),
            (DataFormat::Notebook, "[]"),
            (DataFormat::Notebook, "{\"cells\": 1}"),
        ] {
            let made = page(data, text, true, "a", "a.json");
            assert!(made.contains("<pre class=\"plain\">") && !made.contains("<b>"), "{made}");
        }
        assert!(page(DataFormat::Json, "{}", false, "a", "a.json").contains("<pre class=\"plain\">"));
    }

    #[test]
    fn titles_and_paths_are_escaped() {
        let made = page(DataFormat::Csv, "a,b\n", true, "<b>\"", "a\"b c#.csv");
        assert!(
            made.contains("<h1>&lt;b&gt;\"</h1>") && made.contains("href=\"a%22b%20c%23.csv\" download"),
            "{made}"
        );
    }
}

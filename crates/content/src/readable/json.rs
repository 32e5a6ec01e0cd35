//! Renders JSON as collapsible lines, in the order of the file and with numbers as written. Only the beginning of a large file
//! is shown.

use std::borrow::Cow;
use std::fmt::Write;

use serde::de::IgnoredAny;

use super::{PageContent, count};
use crate::markdown::escaped;

/// More values would be slow to display.
const MOST_VALUES: usize = 20_000;
/// No value is begun after this many bytes of HTML.
const MOST_BYTES: usize = 4 << 20;
/// For one name or value.
const MOST_VALUE_BYTES: usize = 16 * 1024;
/// Browsers nest elements only a few hundred levels deep.
const DEEPEST: usize = 128;
/// Values up to this depth are expanded initially.
const UNFOLDED: usize = 3;

/// `None` if the text is not JSON or is nested too deep. `text` is the beginning of the file if `is_whole` is false.
pub(super) fn content(text: &str, is_whole: bool) -> Option<PageContent> {
    let text = text.trim_start_matches('\u{feff}');
    if !is_json(text, is_whole) {
        return None;
    }
    let mut lines = Lines::default();
    lines.read(text)?;
    let Lines { html, open, values, written, .. } = lines;
    let ends = "</details>\n".repeat(open);
    let body = format!("<div class=\"json\" tabindex=\"0\">\n{html}{ends}</div>\n");
    let mut facts = count(values, "value");
    let left_out = match values - written {
        _ if !is_whole => {
            facts = format!("At least {facts}");
            Some("The rest of the file is not shown.".to_owned())
        }
        0 => None,
        1 => Some("1 value is not shown.".to_owned()),
        more => Some(format!("{} are not shown.", count(more, "value"))),
    };
    if left_out.is_some() && written != 1 {
        let _ = write!(facts, " (the first {} are shown)", count(written, "value"));
    }
    Some(PageContent { body, facts, left_out })
}

/// Whether a text is JSON or, if it is not whole, a prefix of JSON. Allocates nothing for the values.
fn is_json(text: &str, is_whole: bool) -> bool {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => is_whole,
        Err(error) => !is_whole && error.is_eof(),
    }
}

/// The lines of a text that is known to be JSON.
#[derive(Default)]
struct Lines {
    html: String,
    /// The name of the next value, as HTML.
    label: String,
    depth: usize,
    /// The number of open elements in `html`.
    open: usize,
    /// The number of all values, and of those in `html`.
    values: usize,
    written: usize,
}

impl Lines {
    /// Reads to the end, including what is not written, to count it. `None` if it is nested too deep.
    fn read(&mut self, text: &str) -> Option<()> {
        let mut rest = text.trim_start();
        while let Some(first) = rest.bytes().next() {
            let after = rest.get(1..)?.trim_start();
            let closing = after.bytes().next();
            rest = match first {
                b'{' | b'[' if matches!(closing, Some(b'}' | b']')) => {
                    self.line(if first == b'{' { "{}" } else { "[]" }, "v");
                    after.get(1..)?
                }
                b'{' | b'[' => {
                    self.open(first)?;
                    after
                }
                b'}' | b']' => {
                    self.close(first);
                    after
                }
                b',' => after,
                b'"' => {
                    // The text ends inside the string.
                    let Some(len) = string_len(rest) else { break };
                    let (string, after) = rest.split_at(len);
                    let after = after.trim_start();
                    if let Some(value) = after.strip_prefix(':') {
                        if self.has_room() {
                            self.label =
                                format!("<span class=\"a\">{}</span>: ", escaped(&shortened(string)));
                        }
                        value
                    } else {
                        self.line(string, "s");
                        after
                    }
                }
                _ => {
                    let end = rest
                        .find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']'))
                        .unwrap_or(rest.len());
                    self.line(&rest[..end], "n");
                    &rest[end..]
                }
            }
            .trim_start();
        }
        Some(())
    }

    fn has_room(&self) -> bool {
        self.written == self.values && self.written < MOST_VALUES && self.html.len() < MOST_BYTES
    }

    /// Counts a value. Returns whether it is to be written.
    fn begin(&mut self) -> bool {
        let is_written = self.has_room();
        self.values += 1;
        self.written += usize::from(is_written);
        is_written
    }

    fn line(&mut self, value: &str, class: &str) {
        if self.begin() {
            let label = std::mem::take(&mut self.label);
            let value = escaped(&shortened(value));
            let _ = writeln!(self.html, "<p>{label}<span class=\"{class}\">{value}</span></p>");
        }
    }

    fn open(&mut self, bracket: u8) -> Option<()> {
        if self.begin() {
            let label = std::mem::take(&mut self.label);
            let open = if self.depth < UNFOLDED { " open" } else { "" };
            let _ = writeln!(self.html, "<details{open}><summary>{label}{}</summary>", char::from(bracket));
            self.open += 1;
        }
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    fn close(&mut self, bracket: u8) {
        self.depth = self.depth.saturating_sub(1);
        // Once a value is left out, the enclosing elements are closed at the end of the page.
        if self.written == self.values {
            self.open = self.open.saturating_sub(1);
            let _ = writeln!(self.html, "</details>\n<p class=\"end\">{}</p>", char::from(bracket));
        }
    }
}

fn shortened(value: &str) -> Cow<'_, str> {
    if value.len() <= MOST_VALUE_BYTES {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("{}…", &value[..value.floor_char_boundary(MOST_VALUE_BYTES)]))
}

/// The length of the string at the start of the text, with its quotes.
fn string_len(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order_and_spelling() {
        let made = content(r#" {"z": 1.50, "a": [true, "x\"<b>"], "e": {}} "#, true).unwrap();
        assert_eq!((made.facts.as_str(), made.left_out), ("6 values", None));
        assert_eq!(
            made.body,
            "<div class=\"json\" tabindex=\"0\">\n<details open><summary>{</summary>\n\
             <p><span class=\"a\">\"z\"</span>: <span class=\"n\">1.50</span></p>\n\
             <details open><summary><span class=\"a\">\"a\"</span>: [</summary>\n<p><span class=\"n\">true</span></p>\n\
             <p><span class=\"s\">\"x\\\"&lt;b&gt;\"</span></p>\n</details>\n<p class=\"end\">]</p>\n\
             <p><span class=\"a\">\"e\"</span>: <span class=\"v\">{}</span></p>\n</details>\n<p class=\"end\">}</p>\n</div>\n"
        );
        assert_eq!(content("3", true).unwrap().facts, "1 value");
    }

    #[test]
    fn of_a_large_file_the_beginning_is_shown_and_the_rest_counted() {
        let made = content(&format!("{{\"a\": [[{}1], 2]}}", "1,".repeat(25_000)), true).unwrap();
        assert_eq!(made.facts, "25,005 values (the first 20,000 values are shown)");
        assert_eq!(made.left_out.as_deref(), Some("5,005 values are not shown."));
        assert_eq!(made.body.matches("<p>").count() + made.body.matches("<summary>").count(), MOST_VALUES);
        assert_eq!(made.body.matches("<details").count(), made.body.matches("</details>").count());
        let exact = content(&format!("[{}1]", "1,".repeat(MOST_VALUES - 2)), true).unwrap();
        assert_eq!((exact.facts.as_str(), exact.left_out), ("20,000 values", None));
    }

    #[test]
    fn a_file_that_is_not_read_to_its_end_is_shown_as_far_as_it_is() {
        for text in ["[1, {\"a\": [2, \"thr", "[1, {\"a\": [2, ", "[1, {\"a\": 2, \"b"] {
            let made = content(text, false).unwrap();
            assert!(made.facts.starts_with("At least "), "{}", made.facts);
            assert_eq!(made.left_out.as_deref(), Some("The rest of the file is not shown."));
            assert!(made.body.contains("<span class=\"n\">2</span>"), "{}", made.body);
            assert_eq!(made.body.matches("<details").count(), made.body.matches("</details>").count());
        }
        for text in ["[1, {a: 2", "{}", "{} {}"] {
            assert!(content(text, false).is_none(), "{text}");
        }
    }

    #[test]
    fn long_values_do_not_become_large_pages() {
        let made = content(&format!("[\"{}\"]", "<".repeat(1 << 20)), true).unwrap();
        assert!(made.body.len() < 5 * MOST_VALUE_BYTES && made.body.contains("…</span>"));
        let many = format!("[{}1]", format!("\"{}\",", "<".repeat(10_000)).repeat(500));
        let made = content(&many, true).unwrap();
        assert!(made.body.len() < MOST_BYTES + 5 * MOST_VALUE_BYTES, "{}", made.body.len());
        assert!(made.left_out.is_some());
    }

    #[test]
    fn hostile_json_is_left_alone() {
        for text in
            ["[".repeat(100_000), format!("{}{}", "[".repeat(500), "]".repeat(500)), "{\"a\": }".to_owned()]
        {
            assert!(content(&text, true).is_none());
        }
        assert!(content(&"[".repeat(100_000), false).is_none(), "too deep");
        assert!(content("[1, 2] é", true).is_none());
    }
}

//! Warns of a page that was sent inside something else: a Markdown code fence around the whole, or a JSON string. Viewers
//! would see the fence or the escapes as text. The page itself is stored as it was sent.

use crate::input::Input;
use crate::refusal::Refusal;
use std::io::Read;

/// How much of the beginning is read.
const HEAD_BYTES: usize = 2048;
/// How much of the end is read: a fence and the line breaks after it.
const TAIL_BYTES: u64 = 256;

const FENCED: &str = "The page begins and ends with a Markdown code fence (```), which viewers see as text. Send the HTML \
                      without the fence, or send it as Markdown.";
const QUOTED: &str = "The page looks like a JSON string: its quotes and line breaks are escaped (\\\" and \\n), which viewers \
                      see as text. Send the HTML itself, without a second encoding.";
const OBJECT: &str = "The page looks like a JSON object that contains the HTML. Send only the HTML.";

/// The warning about what is around a page, if anything is.
pub(super) fn warning(input: &mut Input) -> Result<Option<&'static str>, Refusal> {
    if input.whole().is_some_and(is_plain) {
        return Ok(None);
    }
    let head = input.head(HEAD_BYTES)?;
    let length = input.len();
    let mut tail = Vec::new();
    input.region(length.saturating_sub(TAIL_BYTES), length).read_to_end(&mut tail)?;
    Ok(warning_about(&String::from_utf8_lossy(&head), &String::from_utf8_lossy(&tail)))
}

/// Whether a page begins with a tag and escapes nothing, as most do.
fn is_plain(page: &[u8]) -> bool {
    page.starts_with(b"<") && memchr::memchr(b'\\', &page[..page.len().min(HEAD_BYTES)]).is_none()
}

fn warning_about(head: &str, tail: &str) -> Option<&'static str> {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let tail = tail.trim_end();
    if is_fence(head) && tail.ends_with("```") && tail.len() > 3 {
        return Some(FENCED);
    }
    // What follows may be a script, where escapes are part of the page.
    let markup = head.split("<script").next().unwrap_or(head);
    let is_escaped = markup.contains("=\\\"") || markup.contains("\\n<");
    if head.starts_with('"') && tail.ends_with('"') && (is_escaped || markup.contains('<')) {
        return Some(QUOTED);
    }
    if head.starts_with('<') && is_escaped && !markup.contains('\n') {
        return Some(QUOTED);
    }
    let names_html = ["\"html\"", "\"content\"", "\"body\""].iter().any(|name| markup.contains(name));
    (head.starts_with('{') && tail.ends_with('}') && names_html).then_some(OBJECT)
}

/// Whether the text begins with a line that opens a code block, of HTML or of no language.
fn is_fence(head: &str) -> bool {
    let Some(rest) = head.strip_prefix("```") else { return false };
    let language = rest.lines().next().unwrap_or_default().trim_matches('`').trim();
    language.is_empty()
        || ["html", "htm", "xhtml", "xml"].iter().any(|known| language.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_json_around_a_page_are_noticed() {
        for (text, says) in [
            ("```html\n<!doctype html>\n<p>Hi</p>\n```\n", FENCED),
            ("\u{feff}\n```\n<p>Hi</p>\n```", FENCED),
            ("````HTML\n<p>Hi</p>\n````", FENCED),
            (r#""<!doctype html>\n<html lang=\"en\"><p>Hi</p></html>""#, QUOTED),
            (r#"<!doctype html>\n<html lang=\"en\"><p>Hi</p></html>"#, QUOTED),
            (r#"{"html": "<!doctype html>\n<p>Hi</p>"}"#, OBJECT),
        ] {
            assert_eq!(warning_about(text, text), Some(says), "{text}");
            assert!(!is_plain(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn ordinary_pages_are_not() {
        for text in [
            "<!doctype html>\n<p>Use ```html to open a block and ``` to close it: ```",
            "```js\nlet a = 1;\n```",
            "```html\n<p>Only the beginning</p>",
            "<p class=\"a\">He said \\n</p>\n<p>x</p>",
            "<p>x</p>\n<script>let a = \"<p class=\\\"b\\\">\\n<p>\";</script>",
            "\"To be or not to be\", <em>he</em> said.",
            "{ not json }",
            "```",
            "",
        ] {
            assert_eq!(warning_about(text, text), None, "{text}");
        }
    }
}

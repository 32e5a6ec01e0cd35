//! Renders Jupyter notebooks: the cells in order with text, code and results. HTML results are sanitized; nothing runs.

use std::fmt::Write;

use serde_json::Value;

use super::{PageContent, count};
use crate::markdown::{Highlighter, escaped, render_fragment};
use crate::sanitize::sanitize;

const MOST_CELLS: usize = 2000;
/// For each source or result.
const MOST_TEXT_BYTES: usize = 128 * 1024;
/// In total; the rest is left out, and the page says so.
const MOST_BYTES: usize = 8 << 20;
const MOST_RESULTS: usize = 5000;

pub(super) fn content(text: &str) -> Option<PageContent> {
    let notebook: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let language = ["/metadata/language_info/name", "/metadata/kernelspec/language"]
        .iter()
        .find_map(|path| notebook.pointer(path)?.as_str())
        .unwrap_or("python");
    let mut highlighter = Highlighter::new();
    let (mut body, mut results) = (String::new(), 0);
    for cell in cells.iter().take(MOST_CELLS) {
        if body.len() > MOST_BYTES || results > MOST_RESULTS {
            body.push_str("<p>The rest of the notebook is not shown. Download it to see everything.</p>\n");
            break;
        }
        let source = joined(cell.get("source"));
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("markdown") => {
                let _ = write!(body, "<div class=\"cell\">\n{}</div>\n", render_fragment(shortened(&source)));
            }
            Some("code") => {
                let number = cell.get("execution_count").and_then(Value::as_u64);
                let label = number.map_or_else(|| "In".to_owned(), |number| format!("In {number}"));
                let code = highlighter.html(shortened(&source), language);
                let _ = write!(
                    body,
                    "<div class=\"cell\">\n<pre data-lang=\"{label}\" tabindex=\"0\"><code>{code}</code></pre>\n"
                );
                for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
                    results += 1;
                    if body.len() > MOST_BYTES || results > MOST_RESULTS {
                        break;
                    }
                    result(&mut body, output);
                }
                body.push_str("</div>\n");
            }
            _ => text_block(&mut body, &source),
        }
    }
    Some(PageContent { body, facts: count(cells.len(), "cell"), left_out: None })
}

/// One result of a cell, in the best form that can be shown without running anything.
fn result(body: &mut String, output: &Value) {
    if let Some(text) = output.get("text") {
        return text_block(body, &joined(Some(text)));
    }
    if let Some(traceback) = output.get("traceback").and_then(Value::as_array) {
        let lines: Vec<&str> = traceback.iter().filter_map(Value::as_str).collect();
        return text_block(body, &lines.join("\n"));
    }
    let Some(data) = output.get("data") else { return };
    for kind in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
        let picture: String = joined(data.get(kind)).split_whitespace().collect();
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
        if !picture.is_empty() && picture.bytes().all(is_base64) {
            let _ = writeln!(body, "<p><img src=\"data:{kind};base64,{picture}\" alt=\"Result\"></p>");
            return;
        }
    }
    let drawing = joined(data.get("image/svg+xml"));
    if !drawing.is_empty() {
        // As an image, an SVG runs no script and loads nothing.
        let _ =
            writeln!(body, "<p><img src=\"data:image/svg+xml,{}\" alt=\"Result\"></p>", encoded(&drawing));
        return;
    }
    let html = joined(data.get("text/html"));
    let html = sanitize(shortened(&html));
    // Nothing is left of a chart that a script draws: its plain text at least says what it is.
    if shows_something(&html) {
        let _ = writeln!(
            body,
            "<div class=\"table\" role=\"group\" aria-label=\"Result\" tabindex=\"0\">{html}</div>"
        );
        return;
    }
    let markdown = [joined(data.get("text/markdown")), joined(data.get("text/latex"))].concat();
    if markdown.is_empty() {
        text_block(body, &joined(data.get("text/plain")));
    } else {
        body.push_str(&render_fragment(shortened(&markdown)));
    }
}

/// Whether HTML has any text or picture.
fn shows_something(html: &str) -> bool {
    let mut texts = html.split('<').enumerate().map(|(at, part)| {
        let text = if at == 0 { Some(part) } else { part.split_once('>').map(|(_, text)| text) };
        text.unwrap_or_default()
    });
    html.contains("<img") || texts.any(|text| !text.trim().is_empty())
}

fn text_block(body: &mut String, text: &str) {
    let text = without_colours(shortened(text));
    if !text.trim().is_empty() {
        let _ = writeln!(body, "<pre class=\"result\" tabindex=\"0\"><code>{}</code></pre>", escaped(&text));
    }
}

/// A text in a notebook is a string or a list of strings.
fn joined(text: Option<&Value>) -> String {
    match text {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_TEXT_BYTES)]
}

/// Text without terminal colour sequences.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

fn encoded(text: &str) -> String {
    let mut made = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'/' | b'=' | b':' | b' ') {
            made.push(char::from(byte));
        } else {
            let _ = write!(made, "%{byte:02X}");
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_chart_that_a_script_draws_the_text_is_shown() {
        let made = content(
            r#"{"cells": [{"cell_type": "code", "source": "", "outputs": [
              {"data": {"text/html": "<div id=a></div><script>draw()</script>", "text/plain": "Figure(3)"}}]}]}"#,
        );
        assert!(made.unwrap().body.contains("<code>Figure(3)</code>"));
    }

    #[test]
    fn cells_are_shown_and_nothing_of_them_runs() {
        let made = content(
            r##"{"metadata": {"language_info": {"name": "python"}}, "cells": [
              {"cell_type": "markdown", "source": ["# Title\n", "text $x^2$"]},
              {"cell_type": "code", "execution_count": 3, "source": "import os", "outputs": [
                {"output_type": "stream", "text": ["\u001b[31mred\u001b[0m <b>\n"]},
                {"data": {"image/png": "iVBOR\nw0KGgo="}},
                {"data": {"image/png": "\"><script>", "text/html": "<table onclick=x><td>1<script>y</script></table>"}},
                {"data": {"image/svg+xml": ["<svg onload='x'>"]}},
                {"ename": "E", "traceback": ["line <1>"]},
                {"data": {"text/plain": "plain"}}, {}]},
              {"cell_type": "raw", "source": "raw <i>"}]}"##,
        )
        .unwrap();
        assert_eq!(made.facts, "3 cells");
        for part in [
            "<h1 id=\"title\">Title",
            "<msup>",
            "<pre data-lang=\"In 3\" tabindex=\"0\"><code><span class=\"k\">import",
            "<code>red &lt;b&gt;\n</code>",
            "<img src=\"data:image/png;base64,iVBORw0KGgo=\"",
            "<table><td>1</td></table>",
            "data:image/svg+xml,%3Csvg onload=%27x%27%3E",
            "line &lt;1&gt;",
            "<code>plain</code>",
            "<code>raw &lt;i&gt;</code>",
        ] {
            assert!(made.body.contains(part), "{part} is missing from {}", made.body);
        }
        assert!(!made.body.contains("<script") && !made.body.contains("onclick"));
    }

    #[test]
    fn what_is_no_notebook_has_no_page() {
        for text in ["", "{}", "[]", "{\"cells\": 3}", "{\"cells\": {\"a\": 1}}"] {
            assert!(content(text).is_none(), "{text}");
        }
        assert!(content("{\"cells\": [1, null, {}, {\"cell_type\": 3, \"source\": {}}]}").is_some());
    }
}

//! Splits plain text with `code` in backticks into parts that a template escapes one by one. Supports nothing else of
//! Markdown: descriptions are untrusted input and stay text.

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Span<'a> {
    Text(&'a str),
    Code(&'a str),
}

/// Paragraphs of spans, separated by blank lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prose<'a> {
    pub(super) paragraphs: Vec<Vec<Span<'a>>>,
}

impl<'a> Prose<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let mut paragraphs = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (paragraph, after) = split_at_blank_line(rest);
            if !paragraph.trim().is_empty() {
                paragraphs.push(spans(paragraph.trim()));
            }
            rest = after;
        }
        Self { paragraphs }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paragraphs.is_empty()
    }
}

fn split_at_blank_line(text: &str) -> (&str, &str) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            return (&text[..start], &text[start + line.len()..]);
        }
        start += line.len();
    }
    (text, "")
}

/// A run of backticks opens code that the next run of the same length closes; an unmatched run is text.
fn spans(mut text: &str) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('`') {
        let open = from + at;
        let ticks = leading_ticks(&text[open..]);
        let inside = open + ticks;
        let Some(length) = find_run(&text[inside..], ticks) else {
            from = inside;
            continue;
        };
        if open > 0 {
            spans.push(Span::Text(&text[..open]));
        }
        spans.push(Span::Code(text[inside..inside + length].trim()));
        text = &text[inside + length + ticks..];
        from = 0;
    }
    if !text.is_empty() {
        spans.push(Span::Text(text));
    }
    spans
}

fn leading_ticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

fn find_run(text: &str, ticks: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`') {
        let found = leading_ticks(&text[from + at..]);
        if found == ticks {
            return Some(from + at);
        }
        from += at + found;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Span::{Code, Text};
    use super::*;

    #[test]
    fn backticks_become_code_and_the_rest_stays_text() {
        let prose = Prose::parse("Send `file`, then *read* `url`.");
        assert_eq!(
            prose.paragraphs,
            [vec![Text("Send "), Code("file"), Text(", then *read* "), Code("url"), Text(".")]]
        );
    }

    #[test]
    fn a_backtick_without_its_mate_is_text() {
        assert_eq!(Prose::parse("a ` b").paragraphs, [vec![Text("a ` b")]]);
        assert_eq!(Prose::parse("`` a `b`").paragraphs, [vec![Text("`` a "), Code("b")]]);
        assert_eq!(Prose::parse("`` x`y ``").paragraphs, [vec![Code("x`y")]]);
        assert_eq!(Prose::parse("```").paragraphs, [vec![Text("```")]]);
    }

    #[test]
    fn blank_lines_part_paragraphs() {
        assert_eq!(
            Prose::parse("\n one\n two\n \r\n\nthree ü`é`\n").paragraphs,
            [vec![Text("one\n two")], vec![Text("three ü"), Code("é")]]
        );
        assert!(Prose::parse(" \n\n ").is_empty());
    }
}

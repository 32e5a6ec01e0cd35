//! Syntax highlighting for code blocks: a handful of CSS classes, within a budget per document. The lexer only moves forward,
//! so no code can keep it busy for long; it does not need to be exact.

use super::escape::{escaped, push_escaped};
use super::languages::{self, Grammar};
use super::lexer;

/// Highlighted code is several times larger, so only this much of a document is highlighted.
const DOCUMENT_BYTES: usize = 256 * 1024;
/// Longer lines were not written by hand.
const LINE_BYTES: usize = 4 * 1024;

/// Highlights the code of one document.
pub(crate) struct Highlighter {
    budget: usize,
}

impl Highlighter {
    pub(crate) fn new() -> Self {
        Self { budget: DOCUMENT_BYTES }
    }

    /// The code as HTML for the inside of `<code>`.
    pub(crate) fn html(&mut self, code: &str, language: &str) -> String {
        match languages::find(language) {
            Some(grammar) if self.affords(code) => {
                self.budget -= code.len();
                coloured(code, grammar)
            }
            _ => escaped(code),
        }
    }

    fn affords(&self, code: &str) -> bool {
        code.len() <= self.budget && code.lines().all(|line| line.len() <= LINE_BYTES)
    }
}

fn coloured(code: &str, grammar: &Grammar) -> String {
    let mut painter = Painter { html: String::with_capacity(code.len() * 2), open: "" };
    lexer::lex(code, grammar, &mut |class, text| painter.write(class, text));
    painter.switch("");
    painter.html
}

struct Painter {
    html: String,
    /// The class of the open span, or nothing.
    open: &'static str,
}

impl Painter {
    fn write(&mut self, class: &'static str, text: &str) {
        // White space does not end a span, so that neighbours of one class share it.
        if !text.trim().is_empty() {
            self.switch(class);
        }
        push_escaped(&mut self.html, text);
    }

    fn switch(&mut self, class: &'static str) {
        if self.open == class {
            return;
        }
        if !self.open.is_empty() {
            self.html.push_str("</span>");
        }
        if !class.is_empty() {
            self.html.push_str("<span class=\"");
            self.html.push_str(class);
            self.html.push_str("\">");
        }
        self.open = class;
    }
}

/// The first word of a fence, if it looks like the name of a language.
pub(super) fn language_of(info: &str) -> &str {
    let word = info.split([' ', ',', '\t', '{']).next().unwrap_or_default();
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'));
    if plain && word.len() <= 20 { word } else { "" }
}

/// Whether a source may have code blocks of a language, whose name is matched ignoring case.
pub(super) fn mentions_language(source: &str, language: &str) -> bool {
    source.as_bytes().windows(language.len()).any(|word| word.eq_ignore_ascii_case(language.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn html(code: &str, language: &str) -> String {
        Highlighter::new().html(code, language)
    }

    /// The text that a browser displays.
    fn shown(html: &str) -> String {
        let mut text = String::new();
        for part in html.split('<') {
            text.push_str(
                part.split_once('>').filter(|(tag, _)| tag.contains("span")).map_or(part, |(_, rest)| rest),
            );
        }
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    }

    #[test]
    fn known_languages_are_coloured() {
        let made = html("fn main() { // go\n    let x = \"a<b\"; }\n", "rust");
        assert!(made.contains("<span class=\"k\">fn"), "{made}");
        assert!(made.contains("<span class=\"f\">main"), "{made}");
        assert!(made.contains("<span class=\"c\">// go"), "{made}");
        assert!(made.contains("<span class=\"s\">\"a&lt;b\""), "{made}");
    }

    #[test]
    fn every_form_of_language_is_read_its_own_way() {
        for (language, code, piece) in [
            ("rust", "fn f<'a>(c: &'a str) { 'x' }", "<span class=\"s\">'x'"),
            ("python", "@cache\n\"\"\"a\nb\"\"\"", "<span class=\"s\">\"\"\"a\nb\"\"\""),
            ("json", "{\"a\": true}", "<span class=\"a\">\"a\"</span>: <span class=\"n\">true"),
            ("yaml", "- name: x # y", "<span class=\"a\">name"),
            ("toml", "[table]\nkey = 'v'", "<span class=\"t\">[table]"),
            ("html", "<a href='x'>&amp;", "<span class=\"a\">href</span>=<span class=\"s\">'x'"),
            ("sql", "SELECT 1 -- x", "<span class=\"k\">SELECT </span><span class=\"n\">1 </span>"),
            ("sh", "ls -la $HOME # x", "<span class=\"a\">-la </span><span class=\"v\">$HOME "),
            ("diff", "+a\n-b\n", "<span class=\"i\">+a\n</span><span class=\"d\">-b"),
            ("css", "a { margin-top: 2px }", "<span class=\"a\">margin-top</span>: <span class=\"n\">2px"),
        ] {
            let made = html(code, language);
            assert!(made.contains(piece), "{language}: {made}");
        }
        assert!(!html("fn f<'a>(c: &'a str)", "rust").contains("\"s\""), "a lifetime is not a string");
    }

    /// CPU time of this thread so far. Unlike wall-clock time it does not grow while other programs run.
    fn processor_time() -> Duration {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
    }

    #[test]
    fn hostile_code_takes_linear_time() {
        let started = processor_time();
        for language in languages::NAMES {
            for unit in
                ["(", "<", "\"", "'", "a", " ", "/*", "--[[", "<a b=", "$", "\\", "@a", "&", "#", "1.", "`\n"]
            {
                let line = format!("{}\n", unit.repeat(4000 / unit.len()));
                html(&line.repeat(2), language);
            }
        }
        let taken = processor_time().saturating_sub(started);
        assert!(taken < Duration::from_mins(1), "{taken:?}");
    }

    #[test]
    fn no_text_is_lost_or_unescaped() {
        let code = "<script>alert(1 && '</code>')</script>\n\t<!-- é -->\n`\"\\ #x @y $z {{ -- /* ''' 1..2 \u{1f600}";
        for language in languages::NAMES.iter().copied().chain(["none", ""]) {
            for end in (0..=code.len()).filter(|end| code.is_char_boundary(*end)) {
                let made = html(&code[..end], language);
                assert_eq!(shown(&made), &code[..end], "{language}");
                assert!(!made.contains("<script") && !made.contains("</code"), "{made}");
            }
        }
    }

    #[test]
    fn long_lines_and_documents_beyond_the_budget_stay_plain() {
        assert!(!html(&"let x = 1; ".repeat(400), "js").contains("span"));
        let mut highlighter = Highlighter::new();
        let code = "let x = 1;\n".repeat(20_000);
        assert!(highlighter.html(&code, "js").contains("span"));
        assert!(!highlighter.html(&code, "js").contains("span"));
    }
}

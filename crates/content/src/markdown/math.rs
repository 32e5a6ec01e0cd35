//! Renders LaTeX formulas (`$…$`, `$$…$$` and `math` code blocks) as MathML, which browsers display without a script. A
//! formula that cannot be parsed is shown as its source. Macros are not supported, so a formula cannot expand. The converter
//! does not escape everything, so its output is used only if it is nothing but MathML.

use std::ops::Range;
use std::thread;

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};
use pulldown_cmark::Event;

use super::code::mentions_language;
use super::escape::escaped;
use super::{diagram, mathml};

/// A longer formula is shown as its source: the converter recurses up to once per byte.
const LONGEST_BYTES: usize = 4000;
/// Enough for the deepest formula of that length, even in an unoptimized build (up to 30 KiB per level). Only the used part
/// occupies memory.
const STACK_BYTES: usize = 160 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Display {
    Inline,
    Block,
}

pub(super) struct Formulas {
    converter: Option<LatexToMathML>,
}

impl Formulas {
    pub(super) fn new() -> Self {
        Self { converter: None }
    }

    /// A formula as HTML.
    pub(super) fn html(&mut self, latex: &str, display: Display) -> String {
        let made = self.convert(latex.trim(), display);
        match (made, display) {
            (Some(math), Display::Inline) => math,
            (Some(math), Display::Block) => {
                format!(
                    "<span class=\"formula\" tabindex=\"0\" role=\"group\" aria-label=\"Formula\">{math}</span>"
                )
            }
            (None, Display::Inline) => format!("<code>${}$</code>", escaped(latex)),
            (None, Display::Block) => format!("<code>$${}$$</code>", escaped(latex)),
        }
    }

    fn convert(&mut self, latex: &str, display: Display) -> Option<String> {
        if latex.is_empty() || latex.len() > LONGEST_BYTES {
            return None;
        }
        if self.converter.is_none() {
            self.converter = LatexToMathML::new(MathCoreConfig::default()).ok();
        }
        let display = match display {
            Display::Inline => MathDisplay::Inline,
            Display::Block => MathDisplay::Block,
        };
        // GitHub also writes $`…`$.
        let latex = latex.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(latex);
        let made = self.converter.as_ref()?.convert_with_local_state(latex, display).ok()?.mathml;
        mathml::is_plain(&made).then_some(made)
    }
}

/// Amounts of money are not formulas: as on GitHub, a formula has no letter or digit directly before or after it.
pub(super) fn by_place<'a>(source: &'a str, event: Event<'a>, range: Range<usize>) -> Event<'a> {
    match event {
        Event::InlineMath(_) if !stands_free(source, &range) => Event::Text(source[range].into()),
        other => other,
    }
}

fn stands_free(source: &str, range: &Range<usize>) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '$';
    !source[..range.start].ends_with(is_letter) && !source[range.end..].starts_with(is_letter)
}

/// Runs `work` for a source that may have formulas or diagrams on a thread with a large stack; `None` if there is no room for
/// it.
pub(super) fn with_stack<T: Send>(source: &str, work: impl FnOnce() -> T + Send) -> Option<T> {
    if !(source.contains('$') || mentions_language(source, "math") || diagram::are_in(source)) {
        return Some(work());
    }
    thread::scope(|scope| {
        thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok()?.join().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(latex: &str) -> String {
        Formulas::new().html(latex, Display::Inline)
    }

    #[test]
    fn formulas_become_mathml() {
        assert_eq!(html("x^2"), "<math><msup><mi>x</mi><mn>2</mn></msup></math>");
        assert_eq!(html("`x`"), "<math><mi>x</mi></math>");
        assert!(Formulas::new().html(r"\sum_{i=1}^n i", Display::Block).contains("<math display=\"block\">"));
    }

    #[test]
    fn what_cannot_be_read_is_shown_as_its_source() {
        for latex in [r"\nosuch{<b>}", "{", r"\def\a{\a\a}\a", r"\href{javascript:x}{y}", r"\begin{nope}", ""]
        {
            let made = html(latex);
            assert!(made.starts_with("<code>$") && !made.contains("<b>"), "{made}");
        }
        assert!(html(&"x".repeat(LONGEST_BYTES + 1)).starts_with("<code>"));
    }

    #[test]
    fn nothing_but_mathml_comes_out() {
        for latex in [
            r"\text{<script>alert(1)</script>}",
            r"<img src=x onerror=alert(1)>",
            r#"\color{"><script>}x"#,
            r"\mathrm{</math><script>}",
            r"\operatorname{<img src=x onerror=alert(1)>}",
            r"\operatorname{</mo></math><script>alert(1)</script>}",
            r"\operatorname{<b>}",
            r"\tag{<i>}",
            r"\label{<u>} x",
        ] {
            let made = html(latex);
            for tag in made.split('<').skip(1) {
                let name = tag.trim_start_matches('/').split([' ', '>']).next().unwrap_or_default();
                assert!(name.starts_with('m') || name == "code", "{made}");
            }
            assert!(!made.contains(" on") || made.starts_with("<code>"), "{made}");
        }
    }

    #[test]
    fn blocks_of_formulas_have_a_stack_however_their_name_is_written() {
        let deep = "{".repeat(LONGEST_BYTES - 1);
        for name in ["math", "MATH", "Math"] {
            let made = thread::Builder::new().stack_size(1 << 20);
            let source = format!("```{name}\n{deep}\n```\n");
            let made = made.spawn(move || crate::render_fragment(&source)).unwrap().join().unwrap();
            assert!(made.contains("<code>$${{{"), "{name}");
        }
    }

    #[test]
    fn deep_formulas_do_not_overflow_the_stack() {
        for unit in [
            "{",
            "x^{",
            r"\sqrt",
            r"\sqrt{",
            r"\frac",
            r"\left(",
            r"\color{red}",
            r"\hat",
            r"\begin{matrix}",
            "x_",
            "'",
        ] {
            let latex = unit.repeat(LONGEST_BYTES / unit.len());
            let closed = format!("{}x{}", "{".repeat(1900), "}".repeat(1900));
            let made = with_stack("$", || [html(&latex), html(&closed)]);
            assert!(made.is_some(), "{unit}");
        }
    }
}

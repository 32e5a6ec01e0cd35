//! The source of a file as lines: the first lines, and those around each finding. Invisible characters are made visible.

use dropleaf_core::finding::Finding;
use dropleaf_inspect::safe_preview::visible;

/// Lines shown from the top, and around each finding.
const TOP_LINES: usize = 1200;
const CONTEXT_LINES: usize = 4;
/// Characters shown of one line, and bytes of the whole.
const LINE_CHARACTERS: usize = 2000;
const ALL_BYTES: usize = 400_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Counted from 1.
    pub number: usize,
    pub text: String,
    /// Characters of the line that are left out.
    pub cut: usize,
    /// Descriptions of the findings in this line.
    pub found: Vec<String>,
    /// Lines are left out before this one.
    pub after_gap: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceView {
    pub lines: Vec<SourceLine>,
    pub total_lines: usize,
}

impl SourceView {
    /// The lines of this file; findings in other files are ignored.
    pub(super) fn of(text: &str, path: &str, findings: &[Finding]) -> Self {
        let found: Vec<(usize, &str)> = findings
            .iter()
            .filter(|finding| finding.file == path)
            .filter_map(|finding| Some((usize::try_from(finding.line?).ok()?, finding.why.as_str())))
            .collect();
        let wanted = |number: usize| {
            number <= TOP_LINES || found.iter().any(|(at, _)| at.abs_diff(number) <= CONTEXT_LINES)
        };
        let mut source = Self::default();
        let (mut bytes, mut last) = (0, 0);
        for (number, line) in (1..).zip(text.lines()) {
            source.total_lines = number;
            let marks: Vec<String> =
                found.iter().filter(|(at, _)| *at == number).map(|(_, why)| (*why).to_owned()).collect();
            // Lines with findings are shown even beyond the size limit.
            if !wanted(number) || (bytes > ALL_BYTES && marks.is_empty()) {
                continue;
            }
            let shown: String = line.chars().take(LINE_CHARACTERS).collect();
            let cut = line.chars().skip(LINE_CHARACTERS).count();
            let text = visible(&shown);
            bytes += text.len();
            source.lines.push(SourceLine { number, text, cut, found: marks, after_gap: number != last + 1 });
            last = number;
        }
        source
    }

    pub fn is_cut(&self) -> bool {
        self.lines.len() < self.total_lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(file: &str, line: u64) -> Finding {
        let [rule, why, fix] = ["r", "It asks.", "Do not."].map(str::to_owned);
        Finding { rule, file: file.to_owned(), line: Some(line), why, fix }
    }

    #[test]
    fn findings_are_shown_wherever_they_are() {
        let text = "x\n".repeat(100_000);
        let source = SourceView::of(&text, "a.html", &[finding("a.html", 90_000), finding("b.html", 50_000)]);
        assert_eq!(source.lines.len(), TOP_LINES + 2 * CONTEXT_LINES + 1);
        assert!(source.is_cut() && source.total_lines == 100_000);
        let marked: Vec<usize> =
            source.lines.iter().filter(|line| !line.found.is_empty()).map(|line| line.number).collect();
        assert_eq!(marked, [90_000]);
        assert_eq!(source.lines.iter().filter(|line| line.after_gap).count(), 1);
    }

    #[test]
    fn long_lines_are_cut_and_hidden_characters_shown() {
        let source = SourceView::of(&format!("a\u{200b}{}", "y".repeat(5000)), "a.html", &[]);
        assert_eq!((source.lines.len(), source.lines[0].cut), (1, 3002));
        assert!(source.lines[0].text.starts_with("a⟨U+200B⟩y"));
        let many = SourceView::of(
            &format!("{}\n", "z".repeat(1999)).repeat(1000),
            "a.html",
            &[finding("a.html", 900)],
        );
        assert!(many.lines.len() < 250 && many.lines.last().unwrap().number == 900);
    }
}

//! Tables that fit the terminal: flexible columns are shortened first, and if that is not enough, each row becomes a list of
//! names and values. Without a terminal nothing is shortened.

use super::{HEADING, columns, visible};
use anstyle::Style;
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const GAP: usize = 2;
/// Flexible columns are not made narrower than this.
const NARROWEST: usize = 10;

#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Column {
    name: &'static str,
    is_flexible: bool,
    is_number: bool,
}

impl Column {
    /// Always shown completely, such as an ID or a time.
    pub(in crate::cli) const fn fixed(name: &'static str) -> Self {
        Self { name, is_flexible: false, is_number: false }
    }

    /// Shortened if the table is too wide, such as a title.
    pub(in crate::cli) const fn flexible(name: &'static str) -> Self {
        Self { is_flexible: true, ..Self::fixed(name) }
    }

    /// Aligned to the right.
    pub(in crate::cli) const fn number(name: &'static str) -> Self {
        Self { is_number: true, ..Self::fixed(name) }
    }
}

/// A value, safe for a terminal.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Any text, trusted or not.
    pub(in crate::cli) fn new(text: impl AsRef<str>) -> Self {
        Self { text: visible(text.as_ref()), style: Style::new() }
    }

    pub(in crate::cli) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

#[derive(Debug)]
pub(in crate::cli) struct Table<const N: usize> {
    columns: [Column; N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    pub(in crate::cli) const fn new(columns: [Column; N]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(in crate::cli) fn row(&mut self, cells: [Cell; N]) {
        self.rows.push(cells);
    }

    /// The table without a line break at the end, as wide as the terminal at most.
    pub(in crate::cli) fn render(&self) -> String {
        self.render_in(columns())
    }

    fn render_in(&self, room: Option<usize>) -> String {
        let mut widths = self.natural_widths();
        if let Some(room) = room {
            self.shrink(&mut widths, room);
            if total(&widths) > room {
                return self.records(room);
            }
        }
        let mut lines = vec![self.line(&widths, |at| Cell::new(self.columns[at].name).styled(HEADING))];
        lines.extend(self.rows.iter().map(|row| self.line(&widths, |at| row[at].clone())));
        lines.join("\n")
    }

    fn natural_widths(&self) -> [usize; N] {
        let mut widths = self.columns.map(|column| column.name.width());
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        widths
    }

    /// Takes what is too much from the widest flexible column, one step at a time.
    fn shrink(&self, widths: &mut [usize; N], room: usize) {
        while total(widths) > room {
            let flexible = (0..N).filter(|at| self.columns[*at].is_flexible && widths[*at] > NARROWEST);
            let Some(widest) = flexible.max_by_key(|at| widths[*at]) else { return };
            widths[widest] -= 1;
        }
    }

    fn line(&self, widths: &[usize; N], cell: impl Fn(usize) -> Cell) -> String {
        let mut line = String::new();
        for (at, width) in widths.iter().enumerate() {
            let Cell { text, style } = cell(at);
            let text = cut(&text, *width);
            let padding = " ".repeat(width.saturating_sub(text.width()));
            let is_last = at + 1 == N;
            let (before, after) =
                if self.columns[at].is_number { (padding.as_str(), "") } else { ("", padding.as_str()) };
            let after = if is_last { "" } else { after };
            let _ = write!(line, "{before}{style}{text}{style:#}{after}");
            if !is_last {
                line.push_str(&" ".repeat(GAP));
            }
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// One line for each value, with an empty line between the rows.
    fn records(&self, room: usize) -> String {
        let names = self.columns.iter().map(|column| column.name.width()).max().unwrap_or_default() + GAP;
        let record = |row: &[Cell; N]| {
            let lines = self.columns.iter().zip(row).filter(|(_, cell)| !cell.text.is_empty());
            let lines = lines.map(|(column, Cell { text, style })| {
                let text = cut(text, room.saturating_sub(names).max(NARROWEST));
                format!("{HEADING}{:<names$}{HEADING:#}{style}{text}{style:#}", column.name)
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        self.rows.iter().map(record).collect::<Vec<_>>().join("\n\n")
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The text in at most this many columns; a cut one ends with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut short, mut used) = (String::new(), 1);
    for character in text.chars() {
        used += character.width().unwrap_or_default();
        if used > width {
            break;
        }
        short.push(character);
    }
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::GOOD;
    use anstream::adapter::strip_str;

    fn table() -> Table<3> {
        let mut table = Table::new([Column::fixed("id"), Column::flexible("title"), Column::number("views")]);
        table.row(["site_1".into(), Cell::new("A rather long title, 東京").styled(GOOD), "7".into()]);
        table.row(["site_22".into(), "Short\u{1b}[2J".into(), "1234".into()]);
        table
    }

    fn shown(room: Option<usize>) -> String {
        strip_str(&table().render_in(room)).to_string()
    }

    #[test]
    fn without_a_terminal_nothing_is_shortened() {
        assert_eq!(
            shown(None),
            "id       title                      views\n\
             site_1   A rather long title, 東京      7\n\
             site_22  Short\\u{1b}[2J              1234"
        );
    }

    #[test]
    fn a_flexible_column_gives_way() {
        assert_eq!(
            shown(Some(32)),
            "id       title             views\n\
             site_1   A rather long t…      7\n\
             site_22  Short\\u{1b}[2J     1234"
        );
        // Half of a wide character does not fit.
        assert_eq!(cut("東京都", 4), "東…");
    }

    #[test]
    fn a_narrow_terminal_gets_one_line_for_each_value() {
        assert_eq!(
            shown(Some(20)),
            "id     site_1\ntitle  A rather lon…\nviews  7\n\nid     site_22\ntitle  Short\\u{1b}[…\nviews  1234"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for room in 17..60 {
            let text = shown(Some(room));
            assert!(text.lines().all(|line| line.width() <= room), "{room}: {text}");
        }
    }
}

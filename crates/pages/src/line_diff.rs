//! The lines of a difference as two columns, with the words that differ: for the dashboard and for viewers. Templates write
//! the text, so it is always escaped.

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedLine {
    Same(String),
    Removed(String),
    Added(String),
}

/// Lines that changed, with those around them.
#[derive(Debug)]
pub struct ChangedLines {
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<ChangedLine>,
}

#[derive(Debug)]
pub struct ChangedFile {
    pub path: String,
    /// `added`, `removed` or `changed`.
    pub status: &'static str,
    pub is_binary: bool,
    pub is_truncated: bool,
    pub parts: Vec<ChangedLines>,
}

/// A line of one side: its number, and its text around the words that differ from the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Side<'a> {
    pub(crate) number: usize,
    pub(crate) before: &'a str,
    pub(crate) changed: &'a str,
    pub(crate) after: &'a str,
}

/// A line of each side.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) old: Option<Side<'a>>,
    pub(crate) new: Option<Side<'a>>,
    pub(crate) is_same: bool,
}

impl ChangedFile {
    /// How many lines were added and removed, as far as they are shown.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let lines = || self.parts.iter().flat_map(|part| &part.lines);
        let added = lines().filter(|line| matches!(line, ChangedLine::Added(_))).count();
        (added, lines().filter(|line| matches!(line, ChangedLine::Removed(_))).count())
    }
}

impl ChangedLines {
    /// The lines beside each other: removed lines next to those that replace them.
    pub(crate) fn rows(&self) -> Vec<Row<'_>> {
        let (mut old, mut new) = (self.old_start.max(1), self.new_start.max(1));
        let whole = |number, text| Side { number, before: "", changed: text, after: "" };
        let mut rows: Vec<Row<'_>> = Vec::new();
        // The first row of this block of changes that has no new line yet.
        let mut open = 0;
        for line in &self.lines {
            match line {
                ChangedLine::Same(text) => {
                    rows.push(Row {
                        old: Some(whole(old, text)),
                        new: Some(whole(new, text)),
                        is_same: true,
                    });
                    (old, new, open) = (old + 1, new + 1, rows.len());
                }
                ChangedLine::Removed(text) => {
                    rows.push(Row { old: Some(whole(old, text)), new: None, is_same: false });
                    old += 1;
                }
                ChangedLine::Added(text) => {
                    if let Some(row) = rows.get_mut(open) {
                        let (mut added, removed) = (whole(new, text), row.old.as_mut());
                        if let Some(removed) = removed {
                            mark(removed, &mut added);
                        }
                        row.new = Some(added);
                    } else {
                        rows.push(Row { old: None, new: Some(whole(new, text)), is_same: false });
                    }
                    (new, open) = (new + 1, open + 1);
                }
            }
        }
        rows
    }
}

/// Separates the words that differ from what both lines begin and end with. Lines with nothing in common stay whole.
fn mark<'a>(old: &mut Side<'a>, new: &mut Side<'a>) {
    let (a, b) = (old.changed, new.changed);
    let start = word_start(a, b);
    let end = word_end(&a[start..], &b[start..]);
    for (side, text) in [(old, a), (new, b)] {
        let (rest, after) = text.split_at(text.len() - end);
        (side.before, side.changed) = rest.split_at(start);
        side.after = after;
    }
}

/// The length of the words that both texts begin with.
fn word_start(a: &str, b: &str) -> usize {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    let length: usize = same.map(|(c, _)| c.len_utf8()).sum();
    // The common part may end in the middle of a word of either text; then that word counts as different.
    let is_inside = |text: &str| {
        let (before, after) = text.split_at(length);
        before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
    };
    if !is_inside(a) && !is_inside(b) {
        return length;
    }
    let kept = a[..length].trim_end_matches(char::is_alphanumeric);
    kept.len()
}

/// The length of the words that both texts end with.
fn word_end(a: &str, b: &str) -> usize {
    let same = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b);
    let length: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let is_inside = |text: &str| {
        let (before, after) = text.split_at(text.len() - length);
        before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
    };
    if !is_inside(a) && !is_inside(b) {
        return length;
    }
    a[a.len() - length..].trim_start_matches(char::is_alphanumeric).len()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn lines() -> ChangedLines {
        let line = |text: &str| text.to_owned();
        ChangedLines {
            old_start: 7,
            new_start: 8,
            lines: vec![
                ChangedLine::Same(line("a")),
                ChangedLine::Removed(line("b")),
                ChangedLine::Removed(line("<script>c</script>")),
                ChangedLine::Added(line("B")),
                ChangedLine::Same(line("d")),
                ChangedLine::Added(line("e")),
            ],
        }
    }

    fn text(side: Option<Side<'_>>) -> Option<(usize, String)> {
        side.map(|side| (side.number, [side.before, side.changed, side.after].concat()))
    }

    #[test]
    fn removed_lines_are_beside_those_that_replace_them() {
        let part = lines();
        let rows = part.rows();
        let shown: Vec<_> = rows.iter().map(|row| (text(row.old), text(row.new), row.is_same)).collect();
        let side = |number, text: &str| Some((number, text.to_owned()));
        assert_eq!(
            shown,
            [
                (side(7, "a"), side(8, "a"), true),
                (side(8, "b"), side(9, "B"), false),
                (side(9, "<script>c</script>"), None, false),
                (side(10, "d"), side(10, "d"), true),
                (None, side(11, "e"), false),
            ]
        );
    }

    #[test]
    fn words_that_differ_are_marked() {
        for (old, new, marked) in [
            ("On Monday, 9 am.", "On Friday, 9 am.", ("Monday", "Friday")),
            ("On Monday.", "On Mondays.", ("Monday", "Mondays")),
            ("one two", "one and two", ("", "and ")),
            ("aa", "aaa", ("aa", "aaa")),
            ("über", "uber", ("über", "uber")),
            ("same end", "the end", ("same", "the")),
            ("", "new", ("", "new")),
            ("x y", "p q", ("x y", "p q")),
        ] {
            let side = |text| Side { number: 1, before: "", changed: text, after: "" };
            let (mut a, mut b) = (side(old), side(new));
            mark(&mut a, &mut b);
            assert_eq!([a.before, a.changed, a.after].concat(), old);
            assert_eq!([b.before, b.changed, b.after].concat(), new);
            assert_eq!((a.changed, b.changed), marked, "{old} {new}");
        }
    }
}

//! Shows the changes to a file: the lines that differ, with a little context.

use std::fmt::Write;

const AROUND: usize = 2;

/// Empty if nothing differs.
pub(super) fn show(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |a: &&str, b: &&str| a == b;
    let head = old.iter().zip(&new).take_while(|(a, b)| same(a, b)).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| same(a, b)).count();
    let mut out = String::new();
    if head == old.len() && head == new.len() {
        return out;
    }
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut line = |mark: char, text: &str| {
        // Drops control characters, so that no file can move the cursor.
        let text: String = text.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        let _ = writeln!(out, "  {mark} {text}");
    };
    old[head.saturating_sub(AROUND)..head].iter().for_each(|text| line(' ', text));
    old[head..old_end].iter().for_each(|text| line('-', text));
    new[head..new_end].iter().for_each(|text| line('+', text));
    old[old_end..(old_end + AROUND).min(old.len())].iter().for_each(|text| line(' ', text));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_a_little_around_it() {
        let before = "a\nb\nc\nd\ne\nf\n";
        assert_eq!(show(before, "a\nb\nc\nX\nd\ne\nf\n"), "    b\n    c\n  + X\n    d\n    e\n");
        assert_eq!(show(before, "a\nb\nf\n"), "    a\n    b\n  - c\n  - d\n  - e\n    f\n");
        assert_eq!(show("", "a\n"), "  + a\n");
        assert_eq!(show("a\na\n", "a\na\na\n"), "    a\n    a\n  + a\n");
        assert_eq!(show(before, before), "");
        assert_eq!(show("x\n", "\u{1b}[2J\n"), "  - x\n  + [2J\n");
    }
}

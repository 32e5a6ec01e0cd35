//! Compares two versions of an operator's lists by their effective lines.

use super::OwnLists;
use std::collections::HashMap;

/// How one list changed. Comments and empty lines do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub file: &'static str,
    pub added: usize,
    pub removed: usize,
}

impl OwnLists {
    /// The lines added to and removed from each list since `before`; unchanged lists are left out.
    pub fn changes_since(&self, before: &Self) -> Vec<Change> {
        let change = |(place, file): (usize, &&'static str)| {
            let (old, new) = (before.texts[place].as_deref(), self.texts[place].as_deref());
            let mut balance: HashMap<(&str, &str), isize> = HashMap::new();
            for entry in entries(new.unwrap_or_default()) {
                *balance.entry(entry).or_default() += 1;
            }
            for entry in entries(old.unwrap_or_default()) {
                *balance.entry(entry).or_default() -= 1;
            }
            let added = balance.values().filter(|by| **by > 0).map(|by| by.unsigned_abs()).sum();
            let removed = balance.values().filter(|by| **by < 0).map(|by| by.unsigned_abs()).sum();
            Change { file, added, removed }
        };
        let all = Self::FILES.iter().enumerate().map(change);
        all.filter(|change| change.added + change.removed > 0).collect()
    }
}

/// Each line with its section: the same line elsewhere has another meaning.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut section = "";
    text.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with('[') {
            section = line;
        }
        let means = !line.is_empty() && !line.starts_with(['#', '[']);
        means.then_some((section, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(hosts: &str, weights: &str) -> OwnLists {
        let mut own = OwnLists::new(false);
        for (file, text) in [("hosts.txt", hosts), ("weights.toml", weights)] {
            own.add(file, text.to_owned()).unwrap();
        }
        own
    }

    #[test]
    fn lines_are_counted_by_list_and_by_section() {
        let before = lists("[blocked]\na.example\nb.example\n", "[demo]\nweight = -1\n");
        assert_eq!(before.changes_since(&before), []);
        let remarks = lists("# Ours\n\n[blocked]\n b.example\na.example\n", "[demo]\nweight = -1\n");
        assert_eq!(remarks.changes_since(&before), []);
        let after = lists("[blocked]\na.example\nc.example\n[neutral]\nb.example\n", "[demo]\nweight = -1");
        assert_eq!(after.changes_since(&before), [Change { file: "hosts.txt", added: 2, removed: 1 }]);
        let none = after.changes_since(&OwnLists::default());
        assert_eq!(none.iter().map(|change| change.added).collect::<Vec<_>>(), [1, 3]);
    }
}

//! Lists names in a warning: the first few, and how many more there are.

use std::fmt;

use crate::refusal::shown_name;

/// How many names a warning lists.
pub(crate) const MOST_NAMED: usize = 5;

/// Names for one line of text. Displayed safe to print: `a.png, b.png and 3 more`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct NameList {
    named: Vec<String>,
    count: usize,
}

impl NameList {
    pub(crate) fn push(&mut self, name: &str) {
        self.count += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(shown_name(name.as_bytes()));
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<S: AsRef<str>> FromIterator<S> for NameList {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut list = Self::default();
        for name in names {
            list.push(name.as_ref());
        }
        list
    }
}

impl fmt::Display for NameList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.named, self.count - self.named.len()))
    }
}

/// Joins names for a sentence; `more` is the number of names that are not listed.
pub(crate) fn joined(named: &[String], more: usize) -> String {
    match named.split_last() {
        _ if more > 0 => format!("{} and {more} more", named.join(", ")),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_names_are_given_and_the_rest_is_counted() {
        let list = |count: usize| (1..=count).map(|n| n.to_string()).collect::<NameList>().to_string();
        assert_eq!(list(0), "");
        assert_eq!(list(1), "1");
        assert_eq!(list(2), "1 and 2");
        assert_eq!(list(MOST_NAMED), "1, 2, 3, 4 and 5");
        assert_eq!(list(12), "1, 2, 3, 4, 5 and 7 more");
    }

    #[test]
    fn names_are_made_safe_to_print() {
        assert_eq!(["a\u{202e}b"].into_iter().collect::<NameList>().to_string(), "a\\u{202e}b");
    }
}

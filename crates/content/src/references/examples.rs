//! Collects references with the same problem: the first few for a warning, and the number of distinct ones.

use std::collections::HashSet;

use crate::name_list::{MOST_NAMED, joined};
use crate::refusal::shown_name;

/// Counting stops beyond this.
const MOST_COUNTED: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct ReferenceExamples {
    shown: Vec<Example>,
    seen: HashSet<[u8; 16]>,
}

#[derive(Debug)]
struct Example {
    /// The referring file, under the name its publisher uploaded.
    from: String,
    url: String,
}

impl ReferenceExamples {
    /// Adds a reference in the file `from`. The same reference in the same folder counts once.
    pub(crate) fn add(&mut self, from: &str, url: &str) {
        if self.seen.len() > MOST_COUNTED {
            return;
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if url.starts_with('/') { "" } else { folder };
        let mut key = [0; 16];
        key.copy_from_slice(&blake3::hash(format!("{folder}\0{url}").as_bytes()).as_bytes()[..16]);
        if self.seen.insert(key) && self.shown.len() < MOST_NAMED {
            self.shown.push(Example { from: from.to_owned(), url: url.to_owned() });
        }
    }

    /// A warning: the problem, the references, and what to do about them. `None` if there are no references.
    pub(crate) fn sentence(&self, what: &str, cure: &str) -> Option<String> {
        self.listed().map(|references| format!("{what}: {references}. {cure}"))
    }

    /// `a.js, b.js (in index.html) and 2 more`: a file is named once for consecutive references.
    pub(crate) fn listed(&self) -> Option<String> {
        if self.shown.is_empty() {
            return None;
        }
        let name = |text: &str| shown_name(text.as_bytes());
        let mut named = Vec::with_capacity(self.shown.len());
        for (at, example) in self.shown.iter().enumerate() {
            let goes_on = self.shown.get(at + 1).is_some_and(|next| next.from == example.from);
            let place = if goes_on { String::new() } else { format!(" (in {})", name(&example.from)) };
            named.push(format!("{}{place}", name(&example.url)));
        }
        if self.seen.len() > MOST_COUNTED {
            let more = MOST_COUNTED - named.len();
            return Some(format!("{} and more than {more} others", named.join(", ")));
        }
        Some(joined(&named, self.seen.len() - named.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(references: &[(&str, &str)]) -> String {
        let mut examples = ReferenceExamples::default();
        for (from, url) in references {
            examples.add(from, url);
        }
        examples.listed().unwrap_or_default()
    }

    #[test]
    fn references_are_named_with_their_files() {
        assert_eq!(listed(&[("a.html", "x.js")]), "x.js (in a.html)");
        assert_eq!(listed(&[("a.html", "x.js"), ("a.html", "x.js"), ("b.html", "x.js")]), "x.js (in a.html)");
        assert_eq!(
            listed(&[("a.html", "x.js"), ("a.html", "y.js"), ("b/c.html", "x.js")]),
            "x.js, y.js (in a.html) and x.js (in b/c.html)"
        );
    }

    #[test]
    fn endless_references_take_bounded_memory() {
        let mut examples = ReferenceExamples::default();
        for number in 0..5000 {
            examples.add("a.html", &format!("{number}.png"));
        }
        assert!(examples.seen.len() <= MOST_COUNTED + 1);
        assert_eq!(
            examples.listed().unwrap(),
            "0.png, 1.png, 2.png, 3.png, 4.png (in a.html) and more than 995 others"
        );
    }
}

//! Generates unique ids for headings: `## Hello, World` becomes `#hello-world`.

use std::collections::{HashMap, HashSet};

const LONGEST: usize = 100;

#[derive(Default)]
pub(super) struct Slugs {
    used: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Slugs {
    pub(super) fn of(&mut self, heading: &str) -> String {
        let base = slug(heading);
        if self.used.insert(base.clone()) {
            return base;
        }
        let next = self.next.entry(base.clone()).or_insert(1);
        loop {
            let numbered = format!("{base}-{next}");
            *next += 1;
            if self.used.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

fn slug(heading: &str) -> String {
    let mut slug = String::new();
    for c in heading.trim().chars().flat_map(char::to_lowercase).take(LONGEST) {
        match c {
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => slug.push(c),
            c if c.is_whitespace() => slug.push('-'),
            _ => {}
        }
    }
    if slug.is_empty() { "section".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_readable_and_unique() {
        let mut slugs = Slugs::default();
        let made: Vec<String> =
            ["Hello, World!", "Hello World", "hello world-1", "Hello World", "Über uns", "!!!", "a\"b<c"]
                .iter()
                .map(|h| slugs.of(h))
                .collect();
        let expected = [
            "hello-world",
            "hello-world-1",
            "hello-world-1-1",
            "hello-world-2",
            "über-uns",
            "section",
            "abc",
        ];
        assert_eq!(made, expected);
    }
}

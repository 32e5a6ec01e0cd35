//! The details of one thing: a name and a value per line, the values aligned.

use super::{HEADING, visible};
use std::fmt::Write as _;

#[derive(Debug, Default)]
pub(in crate::cli) struct Details {
    lines: Vec<(&'static str, String)>,
}

impl Details {
    /// Adds a line; the value may be untrusted text.
    pub(in crate::cli) fn add(&mut self, name: &'static str, value: impl AsRef<str>) -> &mut Self {
        self.lines.push((name, visible(value.as_ref())));
        self
    }

    /// Adds a line if there is a value.
    pub(in crate::cli) fn add_some(
        &mut self,
        name: &'static str,
        value: Option<impl AsRef<str>>,
    ) -> &mut Self {
        if let Some(value) = value.filter(|value| !value.as_ref().is_empty()) {
            self.add(name, value);
        }
        self
    }

    /// The lines without a line break at the end. Values are not shortened: each is one line, however long.
    pub(in crate::cli) fn render(&self) -> String {
        let width = self.lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default() + 2;
        let mut text = String::new();
        for (name, value) in &self.lines {
            let _ = writeln!(text, "{HEADING}{name:<width$}{HEADING:#}{value}");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_aligned_and_safe() {
        let mut details = Details::default();
        details.add("URL", "https://x/").add_some("Slug", None::<&str>).add("Expires at", "a\u{1b}[2J");
        let text = anstream::adapter::strip_str(&details.render()).to_string();
        assert_eq!(text, "URL         https://x/\nExpires at  a\\u{1b}[2J");
    }
}

//! What a check found in an upload: the rule, the location, why it matters and how to fix it. Sent as `reasons`.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The stable name of the rule.
    pub rule: String,
    /// The path inside the upload.
    pub file: String,
    /// Counted from 1; `None` when it is about the whole file.
    pub line: Option<u64>,
    pub why: String,
    pub fix: String,
}

impl Finding {
    /// One line of text: the location, the problem and the fix.
    pub fn sentence(&self) -> String {
        let place = match (self.file.as_str(), self.line) {
            ("", _) => String::new(),
            (file, None) => format!("{file}: "),
            (file, Some(line)) => format!("{file}, line {line}: "),
        };
        let said = format!("{place}{} {}", self.why, self.fix);
        said.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_where_what_and_what_helps() {
        let text = |text: &str| text.to_owned();
        let mut found = Finding {
            rule: text("r"),
            file: text("a.html"),
            line: Some(4),
            why: text("A password is asked for."),
            fix: text("Take it out."),
        };
        assert_eq!(found.sentence(), "a.html, line 4: A password is asked for. Take it out.");
        found.line = None;
        assert_eq!(found.sentence(), "a.html: A password is asked for. Take it out.");
        found.file.clear();
        assert_eq!(found.sentence(), "A password is asked for. Take it out.");
    }
}

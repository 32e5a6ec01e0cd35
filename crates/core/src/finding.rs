//! What a check found in an upload: which rule, where, why it counts, and what would help. Sent as `reasons`.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the rule, which does not change.
    pub rule: String,
    /// The path inside the upload.
    pub file: String,
    /// From 1; None when it is about the file as a whole.
    pub line: Option<u64>,
    pub why: String,
    pub fix: String,
}

impl Finding {
    /// In one line: where something was found, what, and what would help.
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

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
    /// In one line: what was found, where, and what would help.
    pub fn sentence(&self) -> String {
        let place = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{} ({}{place}) {}", self.why, self.file, self.fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_where_and_what_helps() {
        let text = |text: &str| text.to_owned();
        let mut found = Finding {
            rule: text("r"),
            file: text("a.html"),
            line: Some(4),
            why: text("A password is asked for."),
            fix: text("Take it out."),
        };
        assert_eq!(found.sentence(), "A password is asked for. (a.html, line 4) Take it out.");
        found.line = None;
        assert_eq!(found.sentence(), "A password is asked for. (a.html) Take it out.");
    }
}

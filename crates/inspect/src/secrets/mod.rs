//! Finds secrets and personal data that may be about to be published by mistake: keys, card numbers, personal
//! identification numbers, lists of e-mail addresses. Reports the kind and the line, never the secret itself.

mod checks;
mod drawing;
mod emails;
mod keys;
mod numbers;

use crate::upload_texts::UploadTexts;

/// Something that looks like a secret or like personal data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub file: String,
    /// 1-based.
    pub line: usize,
    pub kind: &'static str,
}

impl Finding {
    /// The kind with its article: "an AWS access key".
    pub fn with_article(&self) -> String {
        let spoken_vowel =
            self.kind.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) || self.kind.starts_with("npm");
        format!("{} {}", if spoken_vowel { "an" } else { "a" }, self.kind)
    }
}

/// A longer list helps nobody.
const MOST_FINDINGS: usize = 100;

/// Searches all texts of an upload.
pub fn find_in_texts(texts: &UploadTexts<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = texts.files.iter().flat_map(|file| find(file.path, file.text)).collect();
    // A page rendered from Markdown repeats the findings of its source, which sorts first (`_dropleaf/`).
    findings.sort();
    findings.truncate(MOST_FINDINGS);
    findings
}

/// Searches one text, in one pass per kind.
pub fn find(path: &str, text: &str) -> Vec<Finding> {
    let mut places: Vec<(usize, &'static str)> = Vec::new();
    places.extend(keys::find(text));
    places.extend(numbers::find(text));
    places.extend(emails::find(text));
    places.sort_unstable();
    let mut findings: Vec<Finding> = Vec::new();
    let (mut line, mut from) = (1, 0);
    for (at, kind) in places {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[from..at]).count();
        from = at;
        let known = findings.last().is_some_and(|last| last.line == line && last.kind == kind);
        if !known && findings.len() < MOST_FINDINGS {
            findings.push(Finding { file: path.to_owned(), line, kind });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_kind_and_line_and_nothing_else() {
        let text = "one\nAKIAIOSFODNN7EXAMPLQ\nthree 4556 7375 8689 9855\n";
        let findings = find("notes.txt", text);
        let kinds: Vec<(usize, &str)> = findings.iter().map(|finding| (finding.line, finding.kind)).collect();
        assert_eq!(kinds, [(2, "AWS access key"), (3, "card number")]);
        assert!(!format!("{findings:?}").contains("AKIA"));
    }

    #[test]
    fn kinds_have_their_article() {
        let named = |kind| Finding { file: String::new(), line: 1, kind }.with_article();
        assert_eq!(named("AWS access key"), "an AWS access key");
        assert_eq!(named("OpenAI key"), "an OpenAI key");
        assert_eq!(named("npm token"), "an npm token");
        assert_eq!(named("identity number"), "an identity number");
        assert_eq!(named("card number"), "a card number");
        assert_eq!(named("CPF number"), "a CPF number");
    }

    #[test]
    fn ordinary_text_has_none() {
        let text = "Call 555-0100, order 20240131-0001, version 1.2.3, sha 9f86d081884c7d659a2feaa0c55ad015, mail me@acorn.test";
        assert_eq!(find("a.html", text), []);
    }
}

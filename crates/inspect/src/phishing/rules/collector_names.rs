//! Names of the programs and paths at which collectors of passwords receive what is typed.

use std::collections::BTreeSet;

/// The sections of `hosts.txt` with such names.
pub(crate) const SECTIONS: [&str; 2] = ["collector", "trap"];

#[derive(Debug, Default)]
pub(crate) struct CollectorNames {
    programs: Names,
    paths: Names,
}

#[derive(Debug, Default)]
struct Names {
    whole: BTreeSet<String>,
    beginnings: Vec<String>,
}

impl Names {
    fn add(&mut self, entry: &str) {
        let entry = entry.to_lowercase();
        match entry.strip_suffix('*') {
            Some(beginning) => self.beginnings.push(beginning.to_owned()),
            None => {
                self.whole.insert(entry);
            }
        }
    }

    fn begin(&self, name: &str) -> bool {
        self.beginnings.iter().any(|beginning| name.starts_with(beginning))
    }
}

impl CollectorNames {
    /// Adds an entry of a section. Other sections are ignored.
    pub(crate) fn add(&mut self, section: &str, entry: &str) {
        match section {
            "collector" => self.programs.add(entry),
            "trap" => self.paths.add(entry),
            _ => {}
        }
    }

    /// Whether a server-side program has such a name. Numbers at its end and its ending do not matter.
    pub(crate) fn has_program(&self, path: &str) -> bool {
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = file.split('.').next().unwrap_or(file);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-'));
        stem.is_empty() || self.programs.whole.contains(stem) || self.programs.begin(name)
    }

    pub(crate) fn has_path(&self, path: &str) -> bool {
        let path = path.trim_matches(['.', '/']);
        self.paths.whole.contains(path) || self.paths.begin(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_endings_of_a_program_do_not_matter() {
        let mut names = CollectorNames::default();
        names.add("collector", "post");
        names.add("collector", "send_log*");
        names.add("trap", "phish*");
        for path in ["post.php", "a/post_2.asp", "send_logs.php", "12.php"] {
            assert!(names.has_program(path), "{path}");
        }
        assert!(!names.has_program("poster.php") && !names.has_program("login.php"));
        assert!(names.has_path("/phishing/in") && !names.has_path("login"));
    }
}

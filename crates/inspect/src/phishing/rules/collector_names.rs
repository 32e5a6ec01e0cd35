//! Names of the programs and paths at which collectors of passwords receive what is typed.

use std::collections::BTreeSet;

/// The sections of `hosts.txt` with such names.
pub(crate) const SECTIONS: [&str; 3] = ["collector", "common-collector", "trap"];

#[derive(Debug, Default)]
pub(crate) struct CollectorNames {
    programs: Names,
    /// Names that other programs have too.
    common_programs: Names,
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

    fn has(&self, program: &ProgramName<'_>) -> bool {
        self.whole.contains(program.stem) || self.begin(program.name)
    }
}

/// The name of a server-side program. Its ending does not matter.
struct ProgramName<'p> {
    name: &'p str,
    /// The name without the numbers at its end.
    stem: &'p str,
}

impl<'p> ProgramName<'p> {
    fn of(path: &'p str) -> Self {
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = file.split('.').next().unwrap_or(file);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-'));
        Self { name, stem }
    }
}

impl CollectorNames {
    /// Adds an entry of a section. Other sections are ignored.
    pub(crate) fn add(&mut self, section: &str, entry: &str) {
        match section {
            "collector" => self.programs.add(entry),
            "common-collector" => self.common_programs.add(entry),
            "trap" => self.paths.add(entry),
            _ => {}
        }
    }

    /// Whether a server-side program has a name that only collectors have.
    pub(crate) fn has_program(&self, path: &str) -> bool {
        self.programs.has(&ProgramName::of(path))
    }

    /// Whether a server-side program has a name that many collectors have and other programs too, or nothing but a number.
    pub(crate) fn has_common_program(&self, path: &str) -> bool {
        let program = ProgramName::of(path);
        program.stem.is_empty() || self.common_programs.has(&program)
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
        names.add("collector", "victim");
        names.add("collector", "send_card*");
        names.add("common-collector", "post");
        names.add("trap", "phish*");
        for path in ["victim.php", "a/victim_2.asp", "send_cards.php"] {
            assert!(names.has_program(path) && !names.has_common_program(path), "{path}");
        }
        for path in ["post.php", "a/post_2.asp", "12.php"] {
            assert!(names.has_common_program(path) && !names.has_program(path), "{path}");
        }
        for path in ["poster.php", "login.php"] {
            assert!(!names.has_program(path) && !names.has_common_program(path), "{path}");
        }
        assert!(names.has_path("/phishing/in") && !names.has_path("login"));
    }
}

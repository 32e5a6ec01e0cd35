//! Decides which entry names are accepted. Names never reach a file system here, but they become URLs and may be unpacked
//! again by others, so they must mean the same everywhere.

use super::entry::ZipEntry;
use super::excluded::is_excluded;
use super::tree::{Tree, fold};
use crate::Limits;
use crate::paths::RESERVED;
use crate::refusal::{Refusal, shown_name};

/// The folder in which an archive was created.
const HERE: &str = "./";

/// Checks a name on its own. Returns it with slashes as separators and without a leading `./`, and as written. Windows tools
/// write backslashes, and others prefix every name with the current folder; all rules apply to the name after that.
pub(super) fn check(name: Vec<u8>, limits: &Limits) -> Result<(String, String), Refusal> {
    let written = String::from_utf8(name).map_err(|error| {
        Refusal::forbidden_name(
            error.as_bytes(),
            "its name is not UTF-8. Rename it and create the archive again.",
        )
    })?;
    let mut name = written.replace('\\', "/");
    // The folder itself is kept as it is; it is not published.
    while name.len() > HERE.len() && name.starts_with(HERE) {
        name.drain(..HERE.len());
    }
    match fault(&name, limits) {
        Some(detail) => Err(Refusal::forbidden_name(
            written.as_bytes(),
            format!("{detail} Rename it and create the archive again."),
        )),
        None => Ok((name, written)),
    }
}

fn fault(name: &str, limits: &Limits) -> Option<String> {
    if name == HERE {
        return None;
    }
    if name.is_empty() {
        return Some("it has no name.".to_owned());
    }
    if name.len() > limits.name_bytes {
        return Some(format!("its name is {} bytes long; the limit is {}.", name.len(), limits.name_bytes));
    }
    if let Some(c) = name.chars().find(|c| c.is_control() || *c == ':') {
        return Some(format!(
            "its name contains the character \"{}\".",
            shown_name(c.to_string().as_bytes())
        ));
    }
    if name.starts_with('/') {
        return Some("its name starts with \"/\".".to_owned());
    }
    let path = name.strip_suffix('/').unwrap_or(name);
    if path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Some("its name has an empty, \".\" or \"..\" part.".to_owned());
    }
    let depth = path.split('/').count();
    (depth > limits.depth).then(|| format!("it is {depth} folders deep; the limit is {}.", limits.depth))
}

/// Checks the rules that need all names, and those that do not apply to entries that are not published.
pub(super) fn check_all(entries: &[ZipEntry]) -> Result<(), Refusal> {
    let mut tree = Tree::new(entries);
    let mut faults = NameFaults::default();
    for (index, entry) in entries.iter().enumerate() {
        let name = entry.name.as_str();
        if !is_excluded(name) {
            faults.collect(check_reserved(name, name));
        }
        faults.collect(tree.insert(index));
    }
    faults.into_result()
}

/// All refused names of an archive, so that they can be fixed at once.
#[derive(Default)]
pub(super) struct NameFaults {
    refusals: Vec<Refusal>,
    more: usize,
}

/// How many refused names a response lists.
const MOST_FAULTS: usize = 10;

impl NameFaults {
    pub(super) fn collect<T>(&mut self, checked: Result<T, Refusal>) -> Option<T> {
        match checked {
            Ok(fine) => return Some(fine),
            Err(refusal) if self.refusals.len() < MOST_FAULTS => self.refusals.push(refusal),
            Err(_) => self.more += 1,
        }
        None
    }

    /// The first refusal, with the others appended to its detail.
    pub(super) fn into_result(self) -> Result<(), Refusal> {
        let mut refusals = self.refusals.into_iter();
        let Some(mut first) = refusals.next() else { return Ok(()) };
        let others: Vec<String> = refusals.map(|refusal| refusal.to_string()).collect();
        if !others.is_empty() {
            first.detail = format!("{} {}", first.detail, others.join(" "));
        }
        if self.more > 0 {
            first.detail = format!("{} {} more names were refused.", first.detail, self.more);
        }
        Err(first)
    }
}

/// `path` is the name as it will be served.
pub(super) fn check_reserved(name: &str, path: &str) -> Result<(), Refusal> {
    if fold(path.split('/').next().unwrap_or_default()) == RESERVED {
        let detail =
            format!("the folder name \"{RESERVED}\" is reserved. Rename it and create the archive again.");
        return Err(Refusal::forbidden_name(name.as_bytes(), detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(name: &str) -> bool {
        check(name.as_bytes().to_vec(), &Limits::default()).is_ok()
    }

    #[test]
    fn plain_names_are_accepted() {
        for name in
            ["index.html", "a/b/c.js", "folder/", "é/漢.png", "a b (1).txt", "...", "a..b", "~x", "./", "./a"]
        {
            assert!(accepted(name), "{name}");
        }
    }

    #[test]
    fn names_that_point_elsewhere_are_refused() {
        for name in [
            "", "/", "/a", "../a", "a/../b", "a/..", ".", "./../a", ".//a", "a//b", "a/./b", "C:a", "a\0",
            "a\nb",
        ] {
            assert!(!accepted(name), "{name:?}");
            let turned = name.replace('/', "\\");
            assert!(!accepted(&turned), "{turned:?}");
        }
        assert!(!accepted(&"x".repeat(241)));
        assert!(accepted(&"x".repeat(240)));
        assert!(accepted(&["d"; 16].join("/")));
        assert!(!accepted(&["d"; 17].join("/")));
    }

    #[test]
    fn backslashes_are_read_as_slashes() {
        let read = |name: &str| check(name.as_bytes().to_vec(), &Limits::default()).unwrap();
        assert_eq!(read("a\\b\\c.js"), ("a/b/c.js".to_owned(), "a\\b\\c.js".to_owned()));
        assert_eq!(read("a\\b/c\\").0, "a/b/c/");
        assert_eq!(read("a/b.js").0, read("a/b.js").1);
    }

    #[test]
    fn the_folder_before_every_name_is_dropped() {
        let read = |name: &str| check(name.as_bytes().to_vec(), &Limits::default()).unwrap();
        assert_eq!(read("./a/b.js"), ("a/b.js".to_owned(), "./a/b.js".to_owned()));
        assert_eq!(read(".\\a\\b.js").0, "a/b.js");
        assert_eq!(read("././a").0, "a");
        assert_eq!(read("./").0, "./");
    }

    #[test]
    fn fold_joins_what_other_systems_join() {
        for (a, b) in
            [("A", "a"), ("É", "e\u{301}"), ("straße", "STRASSE"), ("ſ", "s"), ("\u{212a}", "k"), ("Σ", "ς")]
        {
            assert_eq!(fold(a), fold(b), "{a} {b}");
        }
        assert_ne!(fold("a"), fold("á"));
    }
}

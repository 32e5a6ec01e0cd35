//! Which entry names are accepted. Names never reach a file system, but they become addresses
//! and may be unpacked again by others, so they must mean the same everywhere.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use unicode_normalization::UnicodeNormalization;

use super::directory::Entry;
use crate::Limits;
use crate::bundle::RESERVED;
use crate::refusal::{Refusal, RefusalCode, shown_name};

fn forbidden(name: &[u8], detail: impl Into<String>) -> Refusal {
    Refusal::of_entry(RefusalCode::ForbiddenName, name, detail)
}

/// The name with slashes between its parts, and as it is written, if it is acceptable on its own. Tools of Windows write
/// backslashes; all rules look at the name after that.
pub(super) fn check(name: Vec<u8>, limits: &Limits) -> Result<(String, String), Refusal> {
    let written = String::from_utf8(name).map_err(|error| {
        forbidden(error.as_bytes(), "its name is not UTF-8. Rename it and make the archive again.")
    })?;
    let name = written.replace('\\', "/");
    match fault(&name, limits) {
        Some(detail) => {
            Err(forbidden(written.as_bytes(), format!("{detail} Rename it and make the archive again.")))
        }
        None => Ok((name, written)),
    }
}

fn fault(name: &str, limits: &Limits) -> Option<String> {
    if name.is_empty() {
        return Some("it has no name.".to_owned());
    }
    if name.len() > limits.name_bytes {
        return Some(format!("its name has {} bytes; the limit is {}.", name.len(), limits.name_bytes));
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

/// What operating systems add on their own: left out of the bundle.
pub(super) fn is_junk(name: &str) -> bool {
    let path = name.strip_suffix('/').unwrap_or(name);
    path.split('/').next() == Some("__MACOSX")
        || path
            .rsplit('/')
            .next()
            .is_some_and(|last| last == ".DS_Store" || last.eq_ignore_ascii_case("Thumbs.db"))
}

/// Hidden files are secrets more often than pages (`.env`, `.git`).
fn is_hidden(name: &str) -> bool {
    name.match_indices('/').map(|(end, _)| (end, true)).chain([(name.len(), false)]).any(
        |(end, is_folder)| {
            let segment = name[..end].rsplit('/').next().unwrap_or_default();
            segment.starts_with('.') && !(is_folder && segment == ".well-known")
        },
    )
}

/// The rules that need all names, and those that system files are exempt from.
pub(super) fn check_all(entries: &[Entry]) -> Result<(), Refusal> {
    let mut tree = Tree { nodes: HashMap::new(), entries };
    for (index, entry) in entries.iter().enumerate() {
        let name = entry.name.as_str();
        if !is_junk(name) {
            if is_hidden(name) {
                let detail = "its name starts with a dot. Hidden files are not published, except in .well-known/: \
                              leave it out.";
                return Err(forbidden(name.as_bytes(), detail));
            }
            check_reserved(name, name)?;
        }
        tree.insert(index)?;
    }
    Ok(())
}

/// `path` is the name as it will be served.
pub(super) fn check_reserved(name: &str, path: &str) -> Result<(), Refusal> {
    if fold(path.split('/').next().unwrap_or_default()) == RESERVED {
        let detail =
            format!("the folder name \"{RESERVED}\" is reserved. Rename it and make the archive again.");
        return Err(forbidden(name.as_bytes(), detail));
    }
    Ok(())
}

/// Names with the same fold are one file on a system that ignores case or Unicode form.
/// Going up and down again also joins letters such as ß and ss, ſ and s.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let composed: String = name.nfc().collect();
    composed.to_lowercase().to_uppercase().to_lowercase().nfc().collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Node {
    File(usize),
    Folder(usize),
    /// Only known because something is inside it.
    ImpliedFolder(usize),
}

/// All files and folders by the hash of their folded path: hashes, so that thousands of deep
/// names cost little memory.
struct Tree<'a> {
    nodes: HashMap<[u8; 16], Node>,
    entries: &'a [Entry],
}

impl Tree<'_> {
    fn insert(&mut self, index: usize) -> Result<(), Refusal> {
        let entry = &self.entries[index];
        let folded = fold(entry.name.strip_suffix('/').unwrap_or(&entry.name));
        for (end, _) in folded.match_indices('/') {
            match *self.nodes.entry(key(&folded[..end])).or_insert(Node::ImpliedFolder(index)) {
                Node::File(other) => return Err(self.clash(index, other, "is inside the file")),
                Node::Folder(_) | Node::ImpliedFolder(_) => {}
            }
        }
        let node = if entry.is_folder() { Node::Folder(index) } else { Node::File(index) };
        match (self.nodes.entry(key(&folded)), entry.is_folder()) {
            (Slot::Vacant(slot), _) => {
                slot.insert(node);
                Ok(())
            }
            (Slot::Occupied(mut slot), is_folder) => match *slot.get() {
                Node::ImpliedFolder(_) if is_folder => {
                    slot.insert(node);
                    Ok(())
                }
                Node::ImpliedFolder(other) => {
                    Err(self.clash(index, other, "is a file, but also the folder of"))
                }
                Node::File(other) | Node::Folder(other) => {
                    Err(self.clash(index, other, "has the same name as"))
                }
            },
        }
    }

    fn clash(&self, index: usize, other: usize, how: &str) -> Refusal {
        let (name, other) = (self.entries[index].name.as_bytes(), self.entries[other].name.as_bytes());
        let detail = format!(
            "it {how} \"{}\" (upper and lower case count as the same). Rename one of them.",
            shown_name(other)
        );
        forbidden(name, detail)
    }
}

fn key(folded: &str) -> [u8; 16] {
    let mut key = [0; 16];
    key.copy_from_slice(&blake3::hash(folded.as_bytes()).as_bytes()[..16]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(name: &str) -> bool {
        check(name.as_bytes().to_vec(), &Limits::default()).is_ok()
    }

    #[test]
    fn plain_names_are_accepted() {
        for name in ["index.html", "a/b/c.js", "folder/", "é/漢.png", "a b (1).txt", "...", "a..b", "~x"] {
            assert!(accepted(name), "{name}");
        }
    }

    #[test]
    fn names_that_point_elsewhere_are_refused() {
        for name in ["", "/", "/a", "../a", "a/../b", "a/..", "./a", "a//b", "a/./b", "C:a", "a\0", "a\nb"] {
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
    fn hidden_names_are_refused_except_well_known() {
        assert!(
            is_hidden(".env") && is_hidden("a/.git/config") && is_hidden(".well-known") && is_hidden(".a/")
        );
        assert!(
            !is_hidden(".well-known/x") && !is_hidden("site/.well-known/x") && !is_hidden(".well-known/")
        );
        assert!(is_hidden(".well-known/.x"));
    }

    #[test]
    fn system_files_are_junk() {
        for name in ["__MACOSX/", "__MACOSX/._a", "a/.DS_Store", "thumbs.db", "x/Thumbs.db"] {
            assert!(is_junk(name), "{name}");
        }
        assert!(!is_junk("a/__MACOSX/b") && !is_junk("DS_Store"));
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

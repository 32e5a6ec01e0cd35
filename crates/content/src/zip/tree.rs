//! The files and folders of an archive as a tree, in which no two names may differ only in case or Unicode normalization.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use unicode_normalization::UnicodeNormalization;

use super::entry::ZipEntry;
use crate::refusal::{Refusal, shown_name};

#[derive(Clone, Copy, PartialEq)]
enum Node {
    File(usize),
    Folder(usize),
    /// Only known because it contains something.
    ImpliedFolder(usize),
}

/// All files and folders by the hash of their folded path: hashes, so that thousands of deep names take little memory.
pub(super) struct Tree<'a> {
    nodes: HashMap<[u8; 16], Node>,
    entries: &'a [ZipEntry],
}

impl<'a> Tree<'a> {
    pub(super) fn new(entries: &'a [ZipEntry]) -> Self {
        Self { nodes: HashMap::new(), entries }
    }

    /// Adds an entry, unless its name clashes with one that was added before.
    pub(super) fn insert(&mut self, index: usize) -> Result<(), Refusal> {
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
        let detail =
            format!("it {how} \"{}\" (names are not case-sensitive). Rename one of them.", shown_name(other));
        Refusal::forbidden_name(name, detail)
    }
}

/// Names with the same fold are one file on a system that ignores case or Unicode normalization. Converting to upper and back
/// to lower case also unifies letters such as ß and ss, ſ and s.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let composed: String = name.nfc().collect();
    composed.to_lowercase().to_uppercase().to_lowercase().nfc().collect()
}

fn key(folded: &str) -> [u8; 16] {
    let mut key = [0; 16];
    key.copy_from_slice(&blake3::hash(folded.as_bytes()).as_bytes()[..16]);
    key
}

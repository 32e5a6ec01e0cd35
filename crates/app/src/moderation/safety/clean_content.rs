//! Remembers content in which the checks found nothing, so that content that is sent again, after a dry run for example, is
//! not read again. A memory of what passed under these rules and this blocklist; a change of either empties it.

use dropleaf_content::Bundle;
use dropleaf_inspect::phishing::Rules;
use dropleaf_inspect::similarity::Blocklist;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Keys per half; the older half is forgotten when the newer one is full.
const MOST: usize = 4096;

/// A hash of all that a result depends on beside the rules and the blocklist.
type Key = [u8; 32];

#[derive(Debug, Default)]
pub(crate) struct CleanContent(Mutex<Option<Memory>>);

/// What content was compared with. Held, so that no later one can have the same address.
#[derive(Debug, Clone)]
pub(super) struct Standard {
    pub(super) rules: Arc<Rules>,
    pub(super) blocklist: Option<Arc<Blocklist>>,
}

#[derive(Debug)]
struct Memory {
    standard: Standard,
    newer: HashSet<Key>,
    older: HashSet<Key>,
}

impl Standard {
    fn is(&self, other: &Self) -> bool {
        let same_blocklist = match (&self.blocklist, &other.blocklist) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        same_blocklist && Arc::ptr_eq(&self.rules, &other.rules)
    }
}

impl CleanContent {
    pub(super) fn knows(&self, standard: &Standard, key: &Key) -> bool {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memory.as_ref().is_some_and(|memory| {
            memory.standard.is(standard) && (memory.newer.contains(key) || memory.older.contains(key))
        })
    }

    pub(super) fn remember(&self, standard: Standard, key: Key) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = match &mut *memory {
            Some(memory) if memory.standard.is(&standard) => memory,
            other => other.insert(Memory { standard, newer: HashSet::new(), older: HashSet::new() }),
        };
        if memory.newer.len() >= MOST {
            memory.older = std::mem::take(&mut memory.newer);
        }
        memory.newer.insert(key);
    }
}

/// The key of a bundle under these settings. `digest` is that of its paths and contents.
pub(super) fn key(bundle: &Bundle, digest: &[u8; 32], checks: bool, reads_secrets: bool) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(digest);
    hasher.update(&[u8::from(checks), u8::from(reads_secrets)]);
    // A text is decoded by its media type, and a Markdown page is compared by its source.
    for text in
        [bundle.kind.as_str(), &bundle.entry].into_iter().chain(bundle.files.iter().map(|file| file.mime))
    {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard() -> Standard {
        Standard { rules: Arc::new(Rules::builtin()), blocklist: None }
    }

    #[test]
    fn what_passed_is_known_until_the_rules_or_the_blocklist_change() {
        let (clean, first) = (CleanContent::default(), standard());
        assert!(!clean.knows(&first, &[1; 32]));
        clean.remember(first.clone(), [1; 32]);
        assert!(clean.knows(&first, &[1; 32]) && !clean.knows(&first, &[2; 32]));
        let stricter = Standard { blocklist: Some(Arc::new(Blocklist::default())), ..first.clone() };
        let again = Standard { blocklist: Some(Arc::new(Blocklist::default())), ..first.clone() };
        assert!(!clean.knows(&stricter, &[1; 32]) && !clean.knows(&standard(), &[1; 32]));
        clean.remember(stricter.clone(), [2; 32]);
        assert!(clean.knows(&stricter, &[2; 32]) && !clean.knows(&again, &[2; 32]));
        assert!(!clean.knows(&first, &[1; 32]) && !clean.knows(&stricter, &[1; 32]), "the rest is forgotten");
    }

    #[test]
    fn the_memory_is_bounded_and_keeps_the_newest() {
        let (clean, standard) = (CleanContent::default(), standard());
        let key = |number: usize| *blake3::hash(&number.to_le_bytes()).as_bytes();
        for number in 0..5 * MOST {
            clean.remember(standard.clone(), key(number));
        }
        let known = (0..5 * MOST).filter(|number| clean.knows(&standard, &key(*number))).count();
        assert!((MOST..=2 * MOST).contains(&known), "{known}");
        assert!((4 * MOST..5 * MOST).all(|number| clean.knows(&standard, &key(number))));
    }
}

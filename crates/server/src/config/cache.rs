//! How much memory the caches may use.

use super::model::Storage;
use crate::machine_memory::Memory;

/// By default, a cache of bodies uses this share of the memory, and that of rows as much again.
const SHARE: u64 = 32;
const LEAST: u64 = 64 << 20;
const MOST: u64 = 1 << 30;

impl Storage {
    /// The setting, or what fits the memory of this machine.
    pub(super) fn cache_bytes(&self) -> u64 {
        match self.cache_bytes {
            0 => share_of(Memory::read().map(|memory| memory.total_bytes)),
            set => set,
        }
    }
}

fn share_of(total_bytes: Option<u64>) -> u64 {
    total_bytes.map_or(LEAST, |total| (total / SHARE).clamp(LEAST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_grow_with_the_memory() {
        for (total, expected) in
            [(512 << 20, LEAST), (4 << 30, 128 << 20), (16 << 30, 512 << 20), (256 << 30, MOST)]
        {
            assert_eq!(share_of(Some(total)), expected, "{total}");
        }
        assert_eq!(share_of(None), LEAST, "a machine that does not tell");
    }

    #[test]
    fn a_set_size_is_kept() {
        let of = |cache_bytes| Storage { inline_bytes: 0, versions_kept: 1, cache_bytes }.cache_bytes();
        assert_eq!(of(5), 5);
        assert!((LEAST..=MOST).contains(&of(0)));
    }
}

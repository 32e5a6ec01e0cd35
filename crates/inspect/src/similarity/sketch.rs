//! The part of a blocklisted page that is stored: the smallest hashes of its shingles, and where in the text they occurred.
//!
//! Another page matches if it contains enough of the hashes from nearly every part of the text. A menu or note that a
//! tool writes on each page is complete but in one part; a text with changed words has lost a little in every part.

use super::shingles::FREE;

/// More hashes would not improve the comparison.
const MOST: usize = 128;
/// With fewer hashes, a page is recognized only by its bytes.
const FEWEST: usize = 52;
/// The fewest hashes that must be comparable: of a very long page only a part is kept.
const FEWEST_COMPARED: usize = 16;
/// How much of the whole, and of each part that counts as found, must be present, in percent.
const ENOUGH: usize = 45;
const ENOUGH_OF_PLACE: usize = 30;
/// The number of parts of a text, stored in the free bits of the hashes.
const PLACES: usize = 12;
const VERSION: u8 = 1;

/// The smallest hashes of a page's text, sorted, and a ceiling. Below the ceiling they are complete, so that the
/// share of the page contained in another one can be computed whatever their sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    hashes: Vec<u64>,
    ceiling: u64,
}

impl Sketch {
    /// Takes hashes in text order.
    pub(super) fn new(mut hashes: Vec<u64>, mut ceiling: u64) -> Self {
        let all = hashes.len().max(1);
        for (at, hash) in hashes.iter_mut().enumerate() {
            *hash |= (at * PLACES / all) as u64;
        }
        // Hashes are evenly distributed, so the smallest can be found without sorting all; a text that repeats itself
        // has fewer than expected.
        if all > 4 * MOST {
            let cut = ceiling / all as u64 * (3 * MOST) as u64;
            let mut few: Vec<u64> = hashes.iter().copied().filter(|hash| *hash < cut).collect();
            few.sort_unstable();
            few.dedup_by_key(|hash| number(*hash));
            if few.len() > MOST {
                hashes = few;
            }
        }
        hashes.sort_unstable();
        hashes.dedup_by_key(|hash| number(*hash));
        if hashes.len() > MOST {
            ceiling = number(hashes[MOST]);
            hashes.truncate(MOST);
        }
        Self { hashes, ceiling }
    }

    /// Whether there are enough hashes to recognize a page by.
    pub fn is_enough(&self) -> bool {
        self.hashes.len() >= FEWEST
    }

    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The percentage of this page that another one contains, of the hashes below the other's ceiling. `found` are
    /// indexes of hashes in this sketch, ascending.
    pub(super) fn share(&self, found: &[usize], ceiling: u64) -> usize {
        let compared = self.hashes.partition_point(|hash| number(*hash) < ceiling);
        if compared < FEWEST_COMPARED { 0 } else { 100 * found.len() / compared }
    }

    /// Whether another page that contains these hashes matches this one.
    pub(super) fn matches(&self, found: &[usize], ceiling: u64) -> bool {
        let share = self.share(found, ceiling);
        if share < ENOUGH {
            return false;
        }
        let compared = self.hashes.partition_point(|hash| number(*hash) < ceiling);
        // Parts of short texts are merged, since each would contain too few hashes.
        let width = match compared {
            ..48 => 3,
            48..96 => 2,
            _ => 1,
        };
        let place = |at: usize| (self.hashes[at] & FREE) as usize / width;
        let mut there = [(0, 0); PLACES];
        for at in 0..compared {
            there[place(at).min(PLACES - 1)].1 += 1;
        }
        for at in found.iter().filter(|at| **at < compared) {
            there[place(*at).min(PLACES - 1)].0 += 1;
        }
        let missing = there.iter().filter(|(found, all)| 100 * found < ENOUGH_OF_PLACE * all).count();
        missing <= (PLACES / width).div_ceil(6)
    }

    /// For storage: a version byte, the ceiling, the hashes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + 8 + 8 * self.hashes.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.ceiling.to_le_bytes());
        for hash in &self.hashes {
            bytes.extend_from_slice(&hash.to_le_bytes());
        }
        bytes
    }

    /// `None` if this was not written by [`Self::to_bytes`] of this version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (numbers, odd) = rest.as_chunks::<8>();
        if *version != VERSION || !odd.is_empty() {
            return None;
        }
        let mut numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
        let ceiling = numbers.next()?;
        let hashes: Vec<u64> = numbers.collect();
        let sound = hashes.len() <= MOST
            && hashes.is_sorted_by(|a, b| number(*a) < number(*b))
            && hashes.last().is_none_or(|last| number(*last) < ceiling);
        sound.then_some(Self { hashes, ceiling })
    }
}

/// A hash without the part of the text it occurred in.
pub(super) fn number(hash: u64) -> u64 {
    hash & !FREE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_is_complete_below_its_ceiling() {
        let numbers: Vec<u64> =
            (0..10_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !FREE).collect();
        let sketch = Sketch::new([numbers.clone(), numbers.clone()].concat(), u64::MAX);
        let mut below: Vec<u64> = numbers.into_iter().filter(|hash| *hash < sketch.ceiling).collect();
        below.sort_unstable();
        assert_eq!(sketch.hashes.iter().map(|hash| number(*hash)).collect::<Vec<_>>(), below);
        assert_eq!(below.len(), MOST);
    }

    #[test]
    fn what_is_stored_is_read_back_and_nothing_else() {
        let sketch = Sketch::new((1..50).rev().map(|n| n * 16).collect(), 1600);
        let bytes = sketch.to_bytes();
        assert_eq!(Sketch::from_bytes(&bytes), Some(sketch));
        let mut disordered = bytes.clone();
        disordered[9] = 255;
        for wrong in [&bytes[..bytes.len() - 1], &[2], &[], &disordered] {
            assert_eq!(Sketch::from_bytes(wrong), None);
        }
    }

    #[test]
    fn changes_everywhere_are_forgiven_and_a_missing_part_is_not() {
        let sketch = Sketch::new((1..=120).map(|n| n * 16).collect(), u64::MAX);
        let every = |keep: &dyn Fn(usize) -> bool| (0..120).filter(|at| keep(*at)).collect::<Vec<_>>();
        assert!(sketch.matches(&every(&|at| at % 2 == 0), u64::MAX));
        assert!(sketch.matches(&every(&|at| at >= 20), u64::MAX));
        assert!(!sketch.matches(&every(&|at| at >= 36), u64::MAX));
        assert!(!sketch.matches(&every(&|at| at % 3 == 0), u64::MAX));
    }
}

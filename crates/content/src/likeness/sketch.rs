//! What is kept of a page that is not wanted again: the smallest numbers of its text, and where in it they stood.
//!
//! Another page is the same if it contains enough of the numbers from nearly everywhere. A menu or note that a tool writes
//! on each page is all there and stands in one place; a text in which words were changed has lost a little everywhere.

use super::shingles::FREE;

/// More say no more.
const MOST: usize = 128;
/// Fewer say too little: such a page is recognised by its bytes only.
const FEWEST: usize = 52;
/// So many must have been compared: of a very long page only a part is kept.
const FEWEST_COMPARED: usize = 16;
/// How much of the whole, and of each place that counts as found, must be there, in percent.
const ENOUGH: usize = 45;
const ENOUGH_OF_PLACE: usize = 30;
/// Places in a text, told by the free bits of its numbers.
const PLACES: usize = 12;
const VERSION: u8 = 1;

/// A part of a page's text as numbers in order, and how far they reach: below the ceiling it is complete, so that how much
/// of the page another one contains can be told whatever their sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    hashes: Vec<u64>,
    ceiling: u64,
}

impl Sketch {
    /// Of numbers in the order of the text.
    pub(super) fn new(mut hashes: Vec<u64>, mut ceiling: u64) -> Self {
        let all = hashes.len().max(1);
        for (at, hash) in hashes.iter_mut().enumerate() {
            *hash |= (at * PLACES / all) as u64;
        }
        // Numbers are spread evenly, so that the smallest are known without sorting all; a text that is repeated again and
        // again has fewer than there should be.
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

    /// Whether there is enough to recognise a page by.
    pub fn is_enough(&self) -> bool {
        self.hashes.len() >= FEWEST
    }

    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// How much of this page another contains, in percent, of what can be compared when the other was kept up to a
    /// ceiling. `found` are places of numbers in this sketch, in order.
    pub(super) fn share(&self, found: &[usize], ceiling: u64) -> usize {
        let compared = self.hashes.partition_point(|hash| number(*hash) < ceiling);
        if compared < FEWEST_COMPARED { 0 } else { 100 * found.len() / compared }
    }

    /// Whether another page that contains these is this page.
    pub(super) fn is_it(&self, found: &[usize], ceiling: u64) -> bool {
        let share = self.share(found, ceiling);
        if share < ENOUGH {
            return false;
        }
        let compared = self.hashes.partition_point(|hash| number(*hash) < ceiling);
        // Short texts have fewer places, or there would be nothing in them.
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

    /// For storage: a version, the ceiling, the numbers.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + 8 + 8 * self.hashes.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.ceiling.to_le_bytes());
        for hash in &self.hashes {
            bytes.extend_from_slice(&hash.to_le_bytes());
        }
        bytes
    }

    /// Nothing if this is not what [`Self::to_bytes`] of this version writes.
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

/// A number without the place where it stood.
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
        assert!(sketch.is_it(&every(&|at| at % 2 == 0), u64::MAX));
        assert!(sketch.is_it(&every(&|at| at >= 20), u64::MAX));
        assert!(!sketch.is_it(&every(&|at| at >= 36), u64::MAX));
        assert!(!sketch.is_it(&every(&|at| at % 3 == 0), u64::MAX));
    }
}

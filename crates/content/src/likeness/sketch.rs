//! What is kept of a page that is not wanted again: the smallest numbers of its text.

/// More say no more.
const MOST: usize = 128;
/// Fewer say too little: such a page is recognised by its bytes only.
pub(super) const FEWEST: usize = 24;
const VERSION: u8 = 1;

/// A part of a page's text as numbers in order, and how far they reach: below the ceiling it is complete, so that how much
/// of the page another one contains can be told whatever their sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    hashes: Vec<u64>,
    ceiling: u64,
}

impl Sketch {
    pub(super) fn new(mut hashes: Vec<u64>, mut ceiling: u64) -> Self {
        // The selection is linear; what is sorted is small. Twice the number, because some are there twice.
        while hashes.len() > 4 * MOST {
            let (_, middle, _) = hashes.select_nth_unstable(4 * MOST);
            ceiling = ceiling.min(*middle);
            let before = hashes.len();
            hashes.retain(|hash| *hash < ceiling);
            hashes.sort_unstable();
            hashes.dedup();
            if hashes.len() == before {
                break;
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        if hashes.len() > MOST {
            ceiling = hashes[MOST];
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

    /// How many numbers of this sketch a page could have shown that was kept up to a ceiling.
    pub(super) fn below(&self, ceiling: u64) -> usize {
        self.hashes.partition_point(|hash| *hash < ceiling)
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
            && hashes.is_sorted_by(|a, b| a < b)
            && hashes.last().is_none_or(|last| *last < ceiling);
        sound.then_some(Self { hashes, ceiling })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_is_complete_below_its_ceiling() {
        let numbers: Vec<u64> = (0..10_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let sketch = Sketch::new([numbers.clone(), numbers.clone()].concat(), u64::MAX);
        let mut below: Vec<u64> = numbers.into_iter().filter(|hash| *hash < sketch.ceiling).collect();
        below.sort_unstable();
        assert_eq!(sketch.hashes, below);
        assert_eq!(below.len(), MOST);
    }

    #[test]
    fn what_is_stored_is_read_back_and_nothing_else() {
        let sketch = Sketch::new((1..50).rev().collect(), 1000);
        let bytes = sketch.to_bytes();
        assert_eq!(Sketch::from_bytes(&bytes), Some(sketch));
        let mut disordered = bytes.clone();
        disordered[9] = 40;
        for wrong in [&bytes[..bytes.len() - 1], &[2], &[], &disordered] {
            assert_eq!(Sketch::from_bytes(wrong), None);
        }
    }
}

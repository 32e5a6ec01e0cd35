//! The blocklist in memory: thousands of entries, all compared with an upload at once.

use std::collections::HashMap;

use super::sketch::{Sketch, number};
use super::{Fingerprints, Match, PageFingerprint};

#[derive(Debug, Default)]
pub struct Blocklist {
    ids: Vec<String>,
    exact: HashMap<[u8; 32], u32>,
    /// Each sketch with the index of its id.
    sketches: Vec<(Sketch, u32)>,
    /// The hashes of all sketches, sorted, each with its sketch and its index in it.
    numbers: Vec<(u64, u32, u32)>,
    /// Bucket index: where hashes begin, by their upper bits.
    starts: Vec<u32>,
    shift: u32,
}

impl Blocklist {
    /// Each entry has an id, digests of content, and sketches of pages.
    pub fn new(entries: impl IntoIterator<Item = (String, Vec<[u8; 32]>, Vec<Sketch>)>) -> Self {
        let mut all = Self::default();
        for (id, hashes, sketches) in entries {
            let Ok(place) = u32::try_from(all.ids.len()) else { break };
            all.ids.push(id);
            all.exact.extend(hashes.into_iter().map(|hash| (hash, place)));
            for sketch in sketches.into_iter().filter(Sketch::is_enough) {
                let Ok(which) = u32::try_from(all.sketches.len()) else { break };
                let numbers = sketch.hashes().iter().map(|hash| number(*hash));
                all.numbers.extend(numbers.zip(0..).map(|(number, at)| (number, which, at)));
                all.sketches.push((sketch, place));
            }
        }
        all.numbers.sort_unstable();
        all.arrange();
        all
    }

    /// Hashes are evenly distributed, so their upper bits lead close to their position.
    fn arrange(&mut self) {
        let bits = (self.numbers.len().max(1).ilog2() + 2).min(28);
        self.shift = u64::BITS - bits;
        self.starts = Vec::with_capacity((1 << bits) + 1);
        let mut at = 0;
        for bucket in 0..1_u64 << bits {
            self.starts.push(at);
            while self.numbers.get(at as usize).is_some_and(|(hash, ..)| hash >> self.shift == bucket) {
                at += 1;
            }
        }
        self.starts.push(at);
    }

    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.sketches.is_empty()
    }

    /// The entry that an upload equals or resembles most.
    pub fn find(&self, fingerprints: &Fingerprints) -> Option<Match> {
        if self.is_empty() {
            return None;
        }
        let found = |place: u32, file: Option<String>, exact| {
            let id = self.ids.get(place as usize)?.clone();
            Some(Match { id, file, exact })
        };
        if let Some(place) = self.exact.get(&fingerprints.exact) {
            return found(*place, None, true);
        }
        let part = fingerprints.parts.iter().find_map(|(path, hash)| Some((path, self.exact.get(hash)?)));
        if let Some((path, place)) = part {
            return found(*place, Some(path.clone()), true);
        }
        let short_text =
            fingerprints.short_texts.iter().find_map(|(path, hash)| Some((path, self.exact.get(hash)?)));
        if let Some((path, place)) = short_text {
            return found(*place, Some(path.clone()), false);
        }
        let (place, path, _) = fingerprints
            .pages
            .iter()
            .filter_map(|page| self.like(page).map(|(place, percent)| (place, &page.path, percent)))
            .max_by_key(|(_, _, percent)| *percent)?;
        found(place, Some(path.clone()), false)
    }

    /// The sketch that a page contains most of, if it matches: the index of its id, and the percentage.
    fn like(&self, page: &PageFingerprint) -> Option<(u32, usize)> {
        let ceiling = page.shingles.ceiling;
        let common =
            self.common(page).into_iter().map(|(which, found)| (&self.sketches[which as usize], found));
        common
            .filter(|((sketch, _), found)| sketch.matches(found, ceiling))
            .map(|((sketch, place), found)| (*place, sketch.share(&found, ceiling)))
            .max_by_key(|(place, share)| (*share, std::cmp::Reverse(*place)))
    }

    /// For measurements: the percentage of each sketch that a page contains, and whether it matches.
    pub fn shares(&self, page: &PageFingerprint) -> Vec<(&str, usize, bool)> {
        let ceiling = page.shingles.ceiling;
        let share = |(which, found): (u32, Vec<usize>)| {
            let (sketch, place) = &self.sketches[which as usize];
            (
                self.ids[*place as usize].as_str(),
                sketch.share(&found, ceiling),
                sketch.matches(&found, ceiling),
            )
        };
        self.common(page).into_iter().map(share).collect()
    }

    /// The hashes that a page has in common with each sketch, as ascending indexes.
    fn common(&self, page: &PageFingerprint) -> HashMap<u32, Vec<usize>> {
        let mut seen: Vec<u32> = page.shingles.hashes.iter().filter_map(|hash| self.first(*hash)).collect();
        // Repeated text adds nothing.
        seen.sort_unstable();
        seen.dedup();
        let mut common: HashMap<u32, Vec<usize>> = HashMap::new();
        for first in seen {
            let from = first as usize;
            let hash = self.numbers[from].0;
            for (_, which, at) in self.numbers[from..].iter().take_while(|(other, ..)| *other == hash) {
                common.entry(*which).or_default().push(*at as usize);
            }
        }
        common
    }

    /// The position of the first occurrence of a hash.
    fn first(&self, hash: u64) -> Option<u32> {
        let bucket = usize::try_from(hash >> self.shift).ok()?;
        let (from, to) = (*self.starts.get(bucket)?, *self.starts.get(bucket + 1)?);
        (from..to)
            .find(|at| self.numbers[*at as usize].0 >= hash)
            .filter(|at| self.numbers[*at as usize].0 == hash)
    }
}

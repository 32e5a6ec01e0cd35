//! Represents the text of a page as a set of hashes, one per run of letters (shingles). Only letters count: no
//! spaces, signs or digits, so that splitting, spacing and punctuation make no difference, and amounts and dates are
//! ignored. Only small hashes are kept, by the same rule for every page, so that sets of any size can be compared.

use crate::phishing::facts::{PageFacts, zone};

/// Letters in a run: about three words.
const RUN: usize = 14;
/// The lowest bits of a hash are left free for sketches, which store the position in them.
pub(super) const FREE: u64 = 15;
/// At first every second hash is kept.
const FIRST_CEILING: u64 = (u64::MAX / 2) & !FREE;
/// Bytes read before checking whether there are too many hashes.
const AT_ONCE: usize = 64 << 10;
/// The multiplier of the rolling hash. Stored sketches depend on it.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone, Default)]
pub(crate) struct Shingles {
    /// In text order, with duplicates; those of the page's own text first.
    pub(crate) hashes: Vec<u64>,
    /// How many are of the page's own text rather than of its menus, links and footers.
    pub(crate) own: usize,
    /// Larger hashes were not kept.
    pub(crate) ceiling: u64,
    /// The number of letters on the page.
    pub(crate) letters: usize,
}

/// `FACTOR` to the power of `RUN`: the weight of the letter that leaves the run.
const LEAVING: u64 = {
    let (mut power, mut at) = (1_u64, 0);
    while at < RUN {
        power = power.wrapping_mul(FACTOR);
        at += 1;
    }
    power
};

/// The letter that a byte of folded text stands for; 0 if it is not one.
pub(super) const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        if byte.is_ascii_lowercase() || byte >= 0x80 {
            letters[byte as usize] = byte;
        }
        byte -= 1;
    }
    letters
};

struct Run {
    hash: u64,
    last: [u8; RUN],
    at: usize,
    len: usize,
}

impl Run {
    const fn new() -> Self {
        Self { hash: 0, last: [0; RUN], at: 0, len: 0 }
    }

    fn push(&mut self, letter: u8) -> Option<u64> {
        let leaving = std::mem::replace(&mut self.last[self.at], letter);
        self.at = if self.at + 1 == RUN { 0 } else { self.at + 1 };
        self.hash = self
            .hash
            .wrapping_mul(FACTOR)
            .wrapping_add(u64::from(letter))
            .wrapping_sub(LEAVING.wrapping_mul(u64::from(leaving)));
        self.len += 1;
        (self.len >= RUN).then(|| mixed(self.hash) & !FREE)
    }
}

/// Every bit of the result depends on every bit of the input.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    number ^ number >> 32
}

impl Shingles {
    /// The shingles of a page, at most `most`.
    pub(crate) fn of(facts: &PageFacts, most: usize) -> Self {
        let mut own = Vec::new();
        let mut other = Vec::new();
        let mut ceiling = FIRST_CEILING;
        let mut run = Run::new();
        let mut letters = 0;
        let text = &facts.text.bytes;
        let mut zones = facts.zones.iter().copied().peekable();
        let (mut from, mut open) = (0, 0);
        while from < text.len() {
            while let Some((_, next)) = zones.next_if(|(since, _)| *since <= from) {
                open = next;
            }
            let end = zones.peek().map_or(text.len(), |(since, _)| (*since).min(text.len()));
            let end = end.min(from + AT_ONCE);
            if open & zone::LIBRARY != 0 {
                run = Run::new();
            } else {
                let into = if open & (zone::NAVIGATION | zone::LINK) == 0 { &mut own } else { &mut other };
                for byte in &text[from..end] {
                    let letter = LETTERS[usize::from(*byte)];
                    if letter == 0 {
                        continue;
                    }
                    letters += 1;
                    if let Some(hash) = run.push(letter)
                        && hash < ceiling
                    {
                        into.push(hash);
                    }
                }
            }
            while own.len() + other.len() > most {
                ceiling = (ceiling / 2) & !FREE;
                own.retain(|hash| *hash < ceiling);
                other.retain(|hash| *hash < ceiling);
            }
            from = end;
        }
        let own_len = own.len();
        own.append(&mut other);
        Self { hashes: own, own: own_len, ceiling, letters }
    }
}

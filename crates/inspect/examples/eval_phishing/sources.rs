//! Groups labelled facts by their likely source: pages that load files from the same uncommon host, or whose text is
//! nearly the same, were probably made by the same people, and a check that saw one of them knows the others.

use std::collections::HashMap;

use serde_json::Value;

/// A host that more pages than this use says nothing about where they come from.
const COMMON: usize = 8;
/// Words in a row that are compared.
const SHINGLE: usize = 6;
/// The share of the shorter text's shingles that two texts of one source have in common.
const SHARED: f64 = 0.5;

/// A name for the source of each fact.
pub(crate) fn of(facts: &[Value]) -> Vec<String> {
    let mut groups = Groups { parents: (0..facts.len()).collect() };
    let mut by_host: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, fact) in facts.iter().enumerate() {
        for list in ["image_hosts", "style_hosts", "script_hosts", "iframes"] {
            for host in fact[list].as_object().into_iter().flat_map(|hosts| hosts.keys()) {
                if host.contains('.') {
                    by_host.entry(host).or_default().push(number);
                }
            }
        }
    }
    for members in by_host.values().filter(|members| members.len() <= COMMON) {
        members.windows(2).for_each(|pair| groups.join(pair[0], pair[1]));
    }
    let mut by_shingle: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
    let mut sizes = vec![0_usize; facts.len()];
    for (number, fact) in facts.iter().enumerate() {
        let words: Vec<&str> = fact["text"].as_str().unwrap_or_default().split_whitespace().collect();
        for shingle in words.windows(SHINGLE.min(words.len().max(1))) {
            let members = by_shingle.entry(shingle.to_vec()).or_default();
            if members.last() != Some(&number) {
                members.push(number);
                sizes[number] += 1;
            }
        }
    }
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for members in by_shingle.values() {
        for (place, first) in members.iter().enumerate() {
            for second in members[place + 1..].iter().take(40) {
                *shared.entry((*first, *second)).or_default() += 1;
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    for ((first, second), count) in shared {
        if count as f64 >= SHARED * sizes[first].min(sizes[second]) as f64 {
            groups.join(first, second);
        }
    }
    (0..facts.len()).map(|number| format!("s{}", groups.root(number))).collect()
}

struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn root(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }

    fn join(&mut self, first: usize, second: usize) {
        let (first, second) = (self.root(first), self.root(second));
        self.parents[first.max(second)] = first.min(second);
    }
}

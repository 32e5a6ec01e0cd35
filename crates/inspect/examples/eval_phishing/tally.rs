//! Counts correct and wrong results per kind of page, per language and over all, with the intervals they prove.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Sample, interval};

/// Groups of sources; a figure that depends on few of them differs between the groups.
const FOLDS: usize = 5;

/// Pages and refused pages.
type Count = (u32, u32);

#[derive(Default)]
pub(crate) struct Tally {
    harvest: Side,
    honest: Side,
}

#[derive(Default)]
struct Side {
    all: Count,
    kinds: BTreeMap<String, Count>,
    languages: BTreeMap<String, Count>,
    sources: BTreeSet<String>,
    folds: [Count; FOLDS],
}

impl Tally {
    pub(crate) fn add(&mut self, sample: &Sample, refused: bool) {
        let side = if sample.harvest { &mut self.harvest } else { &mut self.honest };
        let language = if sample.language.is_empty() { "not stated" } else { &sample.language };
        let kind = side.kinds.entry(sample.category.clone()).or_default();
        let language = side.languages.entry(language.to_owned()).or_default();
        let mut hasher = DefaultHasher::new();
        sample.source.hash(&mut hasher);
        let fold = &mut side.folds[usize::try_from(hasher.finish() % FOLDS as u64).unwrap_or_default()];
        for (pages, hits) in [&mut side.all, kind, language, fold] {
            *pages += 1;
            *hits += u32::from(refused);
        }
        side.sources.insert(sample.source.clone());
    }

    /// Refused pages of both sides, as `refused/pages`.
    pub(crate) fn summary(&self) -> String {
        let [harvest, honest] =
            [self.harvest.all, self.honest.all].map(|(pages, hits)| format!("{hits}/{pages}"));
        format!("{harvest}\t{honest}")
    }

    pub(crate) fn print(&self) {
        self.harvest.print("recall", true);
        self.honest.print("false alarms", false);
        let demos = ["login_demo", "payment_demo", "crypto", "login", "payment"];
        let (pages, hits) = self
            .honest
            .kinds
            .iter()
            .filter(|(name, _)| demos.contains(&name.as_str()))
            .fold((0, 0), |(pages, hits), (_, (more, refused))| (pages + more, hits + refused));
        if pages > 0 {
            println!("  {:<28} {}", "of these demos", interval::line(hits, pages));
        }
    }
}

impl Side {
    /// Of legitimate pages only the groups with refusals are listed.
    fn print(&self, title: &str, every: bool) {
        let (pages, hits) = self.all;
        if pages == 0 {
            return;
        }
        println!("  {title:<28} {}, {} sources", interval::line(hits, pages), self.sources.len());
        let share = |(pages, hits): &Count| 100.0 * f64::from(*hits) / f64::from((*pages).max(1));
        let shares: Vec<String> = self.folds.iter().map(|fold| format!("{:.1}", share(fold))).collect();
        println!("    {:<26} {} %", "five groups of sources", shares.join(" "));
        for (what, groups) in [("kind", &self.kinds), ("language", &self.languages)] {
            for (name, (pages, hits)) in groups.iter().filter(|(_, (_, hits))| every || *hits > 0) {
                println!("    {:<26} {}", format!("{what} {name}"), interval::line(*hits, *pages));
            }
        }
    }
}

//! Counts correct and wrong results per category.

use std::collections::BTreeMap;

use crate::Sample;

#[derive(Default)]
pub(crate) struct Tally {
    /// By category: pages, refused pages.
    harvest: BTreeMap<String, (u32, u32)>,
    honest: BTreeMap<String, (u32, u32)>,
}

impl Tally {
    pub(crate) fn add(&mut self, sample: &Sample, refused: bool) {
        let side = if sample.harvest { &mut self.harvest } else { &mut self.honest };
        let (pages, hits) = side.entry(sample.category.clone()).or_default();
        *pages += 1;
        *hits += u32::from(refused);
    }

    pub(crate) fn print(&self) {
        print_side("recall", &self.harvest);
        print_side("false alarms", &self.honest);
        let demos = ["login_demo", "payment_demo", "crypto", "login", "payment"];
        let (pages, hits) = self
            .honest
            .iter()
            .filter(|(name, _)| demos.contains(&name.as_str()))
            .fold((0, 0), |(pages, hits), (_, (more, refused))| (pages + more, hits + refused));
        if pages > 0 {
            println!("  {:<28} {hits:>4} of {pages:<4} {:.2} %", "of these demos", percent(hits, pages));
        }
    }
}

fn percent(part: u32, whole: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(whole.max(1))
}

fn print_side(what: &str, side: &BTreeMap<String, (u32, u32)>) {
    let (mut pages, mut hits) = (0, 0);
    for (category, (of, refused)) in side {
        println!("    {category:<26} {refused:>4} of {of:<4} {:.1} %", percent(*refused, *of));
        pages += of;
        hits += refused;
    }
    println!("  {what:<28} {hits:>4} of {pages:<4} {:.2} %", percent(hits, pages));
}

//! The pages of one upload together: each is judged with the scripts it loads, and the worst of them counts.

use std::collections::HashMap;

use super::facts::Facts;
use super::reader::{self, FILE};
use super::rule::Rule;
use super::rules::Rules;
use super::score::{self, Hit, Judged};
use super::weighing::total;
use super::{Reason, Verdict, script};

/// A file of the upload: its path and its text.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Page,
    Script,
    Other,
}

/// Rounding must not decide.
const EPSILON: f64 = 1e-6;

/// Judges an upload of pages (HTML, SVG, rendered Markdown) and scripts. Other files are only known to be there.
pub fn check(files: &[File<'_>], rules: &Rules) -> Verdict {
    let by_path: HashMap<&str, &str> = files.iter().map(|file| (file.path, file.text)).collect();
    let mut pages = Vec::new();
    for file in files {
        let facts = match kind(file.path) {
            Kind::Page => page_facts(file, &by_path, rules),
            Kind::Script => {
                let mut facts = Facts::default();
                facts.has_script = true;
                script::read(file.text, 0, 0, &mut facts, rules);
                facts
            }
            Kind::Other => continue,
        };
        let there = |path: &str| by_path.contains_key(resolve(file.path, path).as_str());
        pages.push((file, score::judge(&facts, &there, rules)));
    }
    share_names(&mut pages);
    let mut worst: Option<(&File<'_>, Vec<Hit>, f64)> = None;
    for (file, judged) in pages {
        let score = total(&judged.hits, rules);
        if worst.as_ref().is_none_or(|(.., most)| score > *most) {
            worst = Some((file, judged.hits, score));
        }
    }
    let Some((file, hits, score)) = worst else {
        return Verdict { refused: false, reasons: Vec::new(), score: 0.0 };
    };
    Verdict { refused: score + EPSILON >= rules.refuse_at, reasons: reasons(file, &hits, rules), score }
}

fn kind(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html" | "htm" | "xhtml" | "xht" | "svg" | "xml") => Kind::Page,
        Some("js" | "mjs" | "cjs") => Kind::Script,
        _ => Kind::Other,
    }
}

fn page_facts(file: &File<'_>, by_path: &HashMap<&str, &str>, rules: &Rules) -> Facts {
    let mut facts = Facts::default();
    reader::read(file.text, FILE, &mut facts, rules);
    let scripts = std::mem::take(&mut facts.local_scripts);
    for source in scripts.iter().take(64) {
        if let Some(text) = by_path.get(resolve(file.path, source).as_str()) {
            // What a script does, the page does; the place is the page's, which loads it.
            script::read(text, 0, 0, &mut facts, rules);
        }
    }
    facts
}

/// A second step of signing in often bears no name; the first one does.
fn share_names(pages: &mut [(&File<'_>, Judged)]) {
    let named = pages.iter().filter(|(_, judged)| judged.asks).find_map(|(_, judged)| {
        let strong = |rule| {
            matches!(
                rule,
                Rule::BrandInTitle | Rule::BrandAccount | Rule::BrandDisguised | Rule::BrandSignature
            )
        };
        judged.hits.iter().find(|hit| strong(hit.rule)).map(|hit| hit.detail.clone())
    });
    let Some(name) = named else { return };
    for (_, judged) in pages.iter_mut().filter(|(_, judged)| judged.asks) {
        if !judged.hits.iter().any(|hit| hit.rule.is_identity()) {
            judged.hits.push(Hit { rule: Rule::BrandElsewhere, at: 0, detail: name.clone() });
        }
    }
}

fn reasons(file: &File<'_>, hits: &[Hit], rules: &Rules) -> Vec<Reason> {
    let mut weighed: Vec<(f64, &Hit)> = hits
        .iter()
        .filter_map(|hit| rules.weight(hit.rule).map(|weight| (weight.points, hit)))
        .filter(|(weight, _)| *weight > 0.0)
        .collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut reasons: Vec<Reason> = Vec::new();
    for (_, hit) in weighed {
        let Some(weight) = rules.weight(hit.rule) else { continue };
        if reasons.iter().any(|reason| reason.rule == hit.rule.name()) {
            continue;
        }
        reasons.push(Reason {
            rule: hit.rule.name(),
            file: file.path.to_owned(),
            line: line_of(file.text, hit.at),
            why: weight.why.replace("{}", &hit.detail),
            fix: weight.fix.clone(),
        });
    }
    reasons
}

fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count()
}

/// The path in the upload that a relative address of a page leads to.
fn resolve(page: &str, address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let mut segments: Vec<&str> =
        if address.starts_with('/') { Vec::new() } else { page.split('/').collect() };
    segments.pop();
    for segment in address.split('/') {
        match segment {
            "." | "" => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    segments.join("/")
}

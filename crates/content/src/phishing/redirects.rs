//! Pages that do nothing but lead their reader to another site: a good name lent to an address that nobody can see.

use super::facts::{Facts, UseKind};
use super::hosts::Target;
use super::rule::Rule;
use super::score::Hit;
use super::script_words::Mark;

/// A page that says more than this has something to show.
const FEW_LETTERS: usize = 400;
/// A page whose script leads elsewhere at once says no more than this.
const FEWEST_LETTERS: usize = 100;
/// A notice that a page has moved says at least this.
const NOTICE_LETTERS: usize = 20;
const MOST: usize = 20;

impl Facts {
    /// Remembers where the page leads its reader by itself, if that is another site.
    pub(crate) fn add_redirect(&mut self, target: Target, at: usize) {
        if host(&target).is_some() && self.redirects.len() < MOST {
            self.redirects.push((target, at));
        }
    }

    /// The same for a script.
    pub(crate) fn add_scripted_redirect(&mut self, target: Target, at: usize) {
        if host(&target).is_some() && self.scripted_redirects.len() < MOST {
            self.scripted_redirects.push((target, at));
        }
    }
}

pub(crate) fn redirects(facts: &Facts, hits: &mut Vec<Hit>) {
    if !facts.says_at_most(FEW_LETTERS) || !facts.fields.is_empty() {
        return;
    }
    let shown = facts.redirects.iter().find(|(target, _)| !tells_where(facts, target));
    // What a script leads to may be what a person asked for by pressing something.
    let by_script = facts.marks.get(&Mark::Redirect);
    let nothing_to_press = facts.links == 0 && facts.buttons == 0 && facts.says_at_most(FEWEST_LETTERS);
    let scripted = by_script.filter(|_| nothing_to_press).and_then(|at| {
        let sent = facts.scripted_redirects.iter().chain(&facts.sends);
        let host = sent.map(|(target, _)| target).find_map(host)?;
        Some((host, *at))
    });
    let found = shown.and_then(|(target, at)| Some((host(target)?, *at))).or(scripted);
    if let Some((host, at)) = found {
        hits.push(Hit { rule: Rule::OnlyRedirect, at, detail: host.to_owned() });
    }
}

/// Whether the page says that it has moved, with a link to the place it leads to.
fn tells_where(facts: &Facts, target: &Target) -> bool {
    let same = |used: &Target| host(used).is_some() && host(used) == host(target);
    !facts.says_at_most(NOTICE_LETTERS)
        && facts.uses.iter().any(|used| used.kind == UseKind::Link && same(&used.target))
}

fn host(target: &Target) -> Option<&str> {
    match target {
        Target::Host(host, _) | Target::Address(host) => Some(host),
        Target::Nowhere | Target::Local(_) | Target::ServerScript(_) | Target::Mail => None,
    }
}

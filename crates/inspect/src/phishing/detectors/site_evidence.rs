//! Determines whose page it is by the sites whose files it uses and whose accounts it links to, listed brands or not.

use std::collections::BTreeMap;

use super::mentions::{Mentions, add_claim};
use super::site_names::{
    is_in_title, is_initials, is_institution, is_word_of_names, letters_and_digits, registrable_domain,
};
use crate::phishing::facts::{PageFacts, ReferenceKind, zone};
use crate::phishing::rules::Rules;
use crate::phishing::rules::hosts::{HostKind, Target};
use crate::phishing::rules::rule::Rule;

/// A page named after a site belongs to it if it uses at least this many of its files.
const OWN_FILES: u32 = 4;
/// A page has at least this many links to the site it is about.
const OWN_LINKS: u32 = 3;
/// Pages that refer to more sites than this belong to none of them.
const MOST_SITES: usize = 64;
/// How many bytes of titles, headings and image names are searched for the name of a site.
const MOST_NAMES: usize = 4000;

/// What connects a page to one site.
#[derive(Default)]
struct SiteUsage {
    files: u32,
    links: u32,
    accounts: u32,
    recovery_links: u32,
    at: usize,
    in_title: bool,
    in_names: bool,
}

impl SiteUsage {
    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.links += other.links;
        self.accounts += other.accounts;
        self.recovery_links += other.recovery_links;
        self.at = self.at.min(other.at);
    }
}

/// Records files and account pages of a brand, or of a site whose name the page carries.
pub(crate) fn add_site_evidence(mentions: &mut Mentions, facts: &PageFacts, rules: &Rules) {
    let mut usages: BTreeMap<&str, SiteUsage> = BTreeMap::new();
    for used in &facts.external_references {
        let Target::Host(host, kind) = &used.target else { continue };
        let counts = match used.kind {
            ReferenceKind::Asset => true,
            ReferenceKind::Link => used.account,
            ReferenceKind::Frame => false,
        };
        match kind {
            Some(HostKind::Brand(brand)) if counts => {
                add_claim(mentions, Rule::BrandAssets, &rules.brands[usize::from(*brand)].name, used.at);
            }
            None if used.kind != ReferenceKind::Frame
                && (usages.len() < MOST_SITES || usages.contains_key(&**host)) =>
            {
                let usage = usages.entry(host).or_insert(SiteUsage { at: used.at, ..SiteUsage::default() });
                usage.files += u32::from(used.kind == ReferenceKind::Asset);
                usage.links += u32::from(used.kind == ReferenceKind::Link);
                usage.accounts += u32::from(used.account);
                usage.recovery_links += u32::from(used.recovers);
            }
            _ => {}
        }
    }
    if !usages.is_empty() {
        add_named_sites(mentions, &usages, facts);
    }
    if let Some((at, address)) = &facts.saved_from
        && let Target::Host(host, kind) = rules.hosts.target(address)
    {
        let name = match kind {
            Some(HostKind::Brand(brand)) => Some(rules.brands[usize::from(brand)].name.clone()),
            Some(HostKind::Template | HostKind::Neutral) => None,
            _ => Some(host),
        };
        if let Some(name) = name {
            add_claim(mentions, Rule::BrandAssets, &name, *at);
        }
    }
}

fn add_named_sites(mentions: &mut Mentions, usages: &BTreeMap<&str, SiteUsage>, facts: &PageFacts) {
    let title =
        letters_and_digits(facts.first_in(zone::TITLE)) + &letters_and_digits(facts.first_in(zone::HEADING));
    let words = page_names(facts);
    // The hosts of one site count as one name.
    let mut whole: BTreeMap<&str, SiteUsage> = BTreeMap::new();
    for (host, usage) in usages {
        let site = whole
            .entry(registrable_domain(host))
            .or_insert(SiteUsage { at: usage.at, ..SiteUsage::default() });
        site.add(usage);
        site.in_title |= is_in_title(host, &title) || is_initials(host, facts.first_in(zone::TITLE));
        site.in_names |= is_word_of_names(host, &words);
    }
    for (site, usage) in &whole {
        let named = usage.in_title || usage.in_names;
        let used = usage.files > 0 || usage.accounts > 0;
        if is_institution(site) && (usage.files > 0 || (named && (used || usage.links >= OWN_LINKS))) {
            // Schools and public offices publish no templates for others.
            add_claim(mentions, Rule::BrandAssets, site, usage.at);
        } else if named && usage.recovery_links > 0 {
            add_claim(mentions, Rule::SiteAccount, site, usage.at);
        } else if usage.in_title && (used || usage.links >= OWN_LINKS) {
            add_claim(mentions, Rule::SiteInTitle, site, usage.at);
        }
        // A page named after the site it loads its files from is that site's page.
        if usage.in_title && usage.files >= OWN_FILES {
            add_claim(mentions, Rule::BrandAssets, site, usage.at);
        }
    }
}

/// Titles, headings and image names, lowercase, separated by spaces.
fn page_names(facts: &PageFacts) -> String {
    let mut names = String::from(" ");
    for (place, (start, zones)) in facts.zones.iter().enumerate() {
        if zones & (zone::TITLE | zone::HEADING | zone::PICTURE) == 0 || names.len() > MOST_NAMES {
            continue;
        }
        let end = facts.zones.get(place + 1).map_or(facts.text.len(), |(end, _)| *end);
        let end = end.min(start + MOST_NAMES);
        let text = String::from_utf8_lossy(&facts.text.bytes[*start..end]);
        names.extend(text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }));
        names.push(' ');
    }
    names
}

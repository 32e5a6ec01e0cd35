//! Determines whose page it is by the sites whose files it uses and whose accounts it links to, listed brands or not.

use std::collections::BTreeMap;

use super::mentions::{Mentions, add_claim};
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
        site.in_title |= is_in_title(host, &title);
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

fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The registered label of a host name: `site` of `www.site.co.uk`.
fn registered_label(host: &str) -> Option<&str> {
    host.contains('.').then(|| registrable_domain(host).split('.').next()).flatten()
}

/// The registrable domain of a host name: `site.co.uk` of `www.site.co.uk`.
fn registrable_domain(host: &str) -> &str {
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let (Some(last), second, third) = (dots.next(), dots.next(), dots.next()) else { return host };
    let Some(second) = second else { return host };
    let (ending, before) = (&host[last + 1..], &host[second + 1..last]);
    if ending.len() != 2 || !(is_public(before) || is_common(before)) {
        return &host[second + 1..];
    }
    third.map_or(host, |third| &host[third + 1..])
}

/// Whether the registered label of a host occurs in a title.
fn is_in_title(host: &str, title: &str) -> bool {
    let main = registered_label(host).map(letters_and_digits).unwrap_or_default();
    main.len() >= 4 && title.contains(&main)
}

/// Whether the registered label of a host, or for a school any label, is a word of a title, a heading or an image name.
fn is_word_of_names(host: &str, names: &str) -> bool {
    let is_word = |part: &str| part.len() >= 3 && names.contains(&format!(" {part} "));
    registered_label(host).is_some_and(is_word)
        || (is_institution(host)
            && host.split('.').any(|part| part.len() >= 4 && !is_general(part) && is_word(part)))
}

/// Labels that say what a host is for, not whose it is.
fn is_general(part: &str) -> bool {
    matches!(
        part,
        "login" | "portal" | "mail" | "webmail" | "account" | "secure" | "student" | "students" | "auth"
    )
}

/// Second-level domains open to everybody, such as `co` in `co.uk`.
fn is_common(second: &str) -> bool {
    matches!(second, "co" | "com" | "net" | "org" | "or" | "ne" | "nom" | "web" | "in")
}

fn is_public(second: &str) -> bool {
    matches!(
        second,
        "edu"
            | "ac"
            | "gov"
            | "gob"
            | "gouv"
            | "gv"
            | "go"
            | "govt"
            | "mil"
            | "k12"
            | "sch"
            | "gub"
            | "schule"
    )
}

/// Schools, universities and public offices, by domains reserved for them.
fn is_institution(host: &str) -> bool {
    let mut labels = host.rsplit('.');
    let (last, second) = (labels.next().unwrap_or_default(), labels.next().unwrap_or_default());
    matches!(last, "edu" | "gov" | "mil") || (last.len() == 2 && is_public(second) && labels.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schools_and_offices_are_known_by_their_names() {
        assert!(is_institution("www.college.edu") && is_institution("login.univ.ac.uk"));
        assert!(is_institution("simak.kampus.ac.id") && is_institution("impots.gouv.fr"));
        assert!(!is_institution("edu.com") && !is_institution("ac.uk") && !is_institution("go.dev"));
    }

    #[test]
    fn the_hosts_of_a_site_are_one() {
        assert_eq!(registrable_domain("www.college.edu"), "college.edu");
        assert_eq!(registrable_domain("a.login.univ.ac.uk"), "univ.ac.uk");
        assert_eq!(
            (registrable_domain("univ.ac.uk"), registrable_domain("site.org"), registrable_domain("host")),
            ("univ.ac.uk", "site.org", "host")
        );
    }

    #[test]
    fn a_page_wears_the_name_of_a_site_as_a_word() {
        assert!(is_word_of_names("portal.riu.com", " riu employees "));
        assert!(!is_word_of_names("portal.riu.com", " trium portal "));
        assert!(
            is_word_of_names("sigedin.itp.edu.co", " sigedin login ")
                && !is_word_of_names("portal.itp.edu.co", " portal ")
        );
        assert!(is_in_title("www.fernway.example.com", "exampleshop") && !is_in_title("www.fern.org", "oak"));
    }
}

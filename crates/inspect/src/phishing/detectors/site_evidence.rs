//! Determines whose page it is by the sites whose files it uses and whose accounts it links to, listed brands or not.

use std::collections::BTreeMap;

use super::mentions::{Said, add};
use crate::phishing::facts::{Facts, UseKind, zone};
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
struct Ties {
    files: u32,
    links: u32,
    accounts: u32,
    recovers: u32,
    at: usize,
    titled: bool,
    worn: bool,
}

impl Ties {
    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.links += other.links;
        self.accounts += other.accounts;
        self.recovers += other.recovers;
        self.at = self.at.min(other.at);
    }
}

/// Records files and account pages of a brand, or of a site whose name the page carries.
pub(crate) fn sites(said: &mut Said, facts: &Facts, rules: &Rules) {
    let mut ties: BTreeMap<&str, Ties> = BTreeMap::new();
    for used in &facts.uses {
        let Target::Host(host, kind) = &used.target else { continue };
        let counts = match used.kind {
            UseKind::Asset => true,
            UseKind::Link => used.account,
            UseKind::Frame => false,
        };
        match kind {
            Some(HostKind::Brand(brand)) if counts => {
                add(said, Rule::BrandAssets, &rules.brands[usize::from(*brand)].name, used.at);
            }
            None if used.kind != UseKind::Frame
                && (ties.len() < MOST_SITES || ties.contains_key(&**host)) =>
            {
                let tie = ties.entry(host).or_insert(Ties { at: used.at, ..Ties::default() });
                tie.files += u32::from(used.kind == UseKind::Asset);
                tie.links += u32::from(used.kind == UseKind::Link);
                tie.accounts += u32::from(used.account);
                tie.recovers += u32::from(used.recovers);
            }
            _ => {}
        }
    }
    if !ties.is_empty() {
        named_sites(said, &ties, facts);
    }
    if let Some((at, address)) = &facts.copied
        && let Target::Host(host, kind) = rules.hosts.target(address)
    {
        let name = match kind {
            Some(HostKind::Brand(brand)) => rules.brands[usize::from(brand)].name.clone(),
            _ => host,
        };
        add(said, Rule::BrandAssets, &name, *at);
    }
}

fn named_sites(said: &mut Said, ties: &BTreeMap<&str, Ties>, facts: &Facts) {
    let title = squeezed(facts.first_in(zone::TITLE)) + &squeezed(facts.first_in(zone::HEADING));
    let words = names(facts);
    // The hosts of one site count as one name.
    let mut whole: BTreeMap<&str, Ties> = BTreeMap::new();
    for (host, tie) in ties {
        let site = whole.entry(site_of(host)).or_insert(Ties { at: tie.at, ..Ties::default() });
        site.add(tie);
        site.titled |= is_named(host, &title);
        site.worn |= is_worn(host, &words);
    }
    for (site, tie) in &whole {
        let named = tie.titled || tie.worn;
        let used = tie.files > 0 || tie.accounts > 0;
        if is_institution(site) && (tie.files > 0 || (named && (used || tie.links >= OWN_LINKS))) {
            // Schools and public offices publish no templates for others.
            add(said, Rule::BrandAssets, site, tie.at);
        } else if named && tie.recovers > 0 {
            add(said, Rule::SiteAccount, site, tie.at);
        } else if tie.titled && (used || tie.links >= OWN_LINKS) {
            add(said, Rule::SiteInTitle, site, tie.at);
        }
        // A page named after the site it loads its files from is that site's page.
        if tie.titled && tie.files >= OWN_FILES {
            add(said, Rule::BrandAssets, site, tie.at);
        }
    }
}

/// Titles, headings and image names, lowercase, separated by spaces.
fn names(facts: &Facts) -> String {
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

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The registered label of a host name: `site` of `www.site.co.uk`.
fn main_part(host: &str) -> Option<&str> {
    host.contains('.').then(|| site_of(host).split('.').next()).flatten()
}

/// The registrable domain of a host name: `site.co.uk` of `www.site.co.uk`.
fn site_of(host: &str) -> &str {
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
fn is_named(host: &str, title: &str) -> bool {
    let main = main_part(host).map(squeezed).unwrap_or_default();
    main.len() >= 4 && title.contains(&main)
}

/// Whether the registered label of a host, or for a school any label, is a word of a title, a heading or an image name.
fn is_worn(host: &str, names: &str) -> bool {
    let is_word = |part: &str| part.len() >= 3 && names.contains(&format!(" {part} "));
    main_part(host).is_some_and(is_word)
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
        assert_eq!(site_of("www.college.edu"), "college.edu");
        assert_eq!(site_of("a.login.univ.ac.uk"), "univ.ac.uk");
        assert_eq!(
            (site_of("univ.ac.uk"), site_of("site.org"), site_of("host")),
            ("univ.ac.uk", "site.org", "host")
        );
    }

    #[test]
    fn a_page_wears_the_name_of_a_site_as_a_word() {
        assert!(is_worn("portal.riu.com", " riu employees "));
        assert!(!is_worn("portal.riu.com", " trium portal "));
        assert!(
            is_worn("sigedin.itp.edu.co", " sigedin login ") && !is_worn("portal.itp.edu.co", " portal ")
        );
        assert!(is_named("www.fernway.example.com", "exampleshop") && !is_named("www.fern.org", "oak"));
    }
}

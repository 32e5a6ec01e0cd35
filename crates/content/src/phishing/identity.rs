//! Whose name a page bears: brands in its title, headings, pictures and notices, claimed or merely mentioned.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, UseKind, zone};
use super::hosts::{HostKind, Target};
use super::rule::Rule;
use super::rules::{Phrase, Rules, Topic};
use super::words::{Found, Words};

/// What the words of a page say, besides names.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Topics with the places of their first phrases.
    pub(crate) topics: BTreeMap<&'static str, Vec<(usize, usize)>>,
    /// Evidence of a name: the rule, the name, and its place in the file.
    pub(crate) names: Vec<(Rule, String, usize)>,
    /// Brands of mail that the page mentions.
    pub(crate) mentioned: BTreeSet<u16>,
    /// Names that the page offers as another way to sign in.
    other_ways: BTreeSet<String>,
    /// Names whose account the page speaks of as the reader's.
    led: BTreeSet<String>,
    /// The title speaks about something rather than as something.
    pub(crate) about: bool,
}

/// How far a notice of copyright reaches.
const NOTICE_REACH: usize = 60;
/// The beginning of a page's text, where its name stands.
const BEGINNING: usize = 320;
const MOST_NAMES: usize = 64;

pub(crate) fn said(facts: &Facts, rules: &Rules) -> Said {
    let mut said = Said::default();
    let body = body_start(facts);
    for found in rules.phrases.find(&facts.text.bytes) {
        let zones = facts.zone_at(found.start);
        if zones & zone::QUOTE != 0 && !facts.live_quote {
            continue;
        }
        match found.of {
            Phrase::Topic(topic) => {
                said.about |= topic == Topic::About && zones & zone::TITLE != 0;
                // Links lead elsewhere; what they say is not what the page is.
                if topic == Topic::SignIn && zones & zone::LINK != 0 {
                    continue;
                }
                let places = said.topics.entry(name_of(topic)).or_default();
                if places.len() < 64 {
                    places.push((found.start, found.end));
                }
            }
            Phrase::Signature { brand } => name(&mut said, Rule::BrandSignature, brand, found, facts, rules),
            Phrase::Brand { brand, ordinary } => {
                said.mentioned.insert(brand);
                let place =
                    Place { found, ordinary, zones, at_tills: rules.brands[usize::from(brand)].at_tills };
                match place.evidence(body, facts, rules) {
                    Evidence::Claim(rule) => {
                        let led = ends_with(&rules.leads, line_before(&facts.text.bytes, found.start));
                        if rule == Rule::BrandAccount && led {
                            said.led.insert(rules.brands[usize::from(brand)].name.clone());
                        }
                        name(&mut said, rule, brand, found, facts, rules);
                    }
                    Evidence::OtherWayIn => {
                        said.other_ways.insert(rules.brands[usize::from(brand)].name.clone());
                    }
                    Evidence::Mention => {}
                }
            }
        }
    }
    assets(&mut said, facts, rules);
    said.settle();
    said
}

impl Said {
    /// Takes back what turns out to be a list of names, or the sign of another way in.
    fn settle(&mut self) {
        let weak = |rule: Rule| {
            matches!(rule, Rule::BrandPicture | Rule::BrandText | Rule::BrandHeading | Rule::BrandAssets)
        };
        let other_ways = &self.other_ways;
        self.names.retain(|(rule, name, _)| !(weak(*rule) && other_ways.contains(name)));
        let listed: BTreeSet<&str> = self
            .names
            .iter()
            .filter(|(rule, ..)| weak(*rule) || *rule == Rule::BrandAccount)
            .map(|(_, name, _)| name.as_str())
            .collect();
        let listing = listed.len() >= 4;
        let several = self.mentioned.len() >= 3;
        let led = &self.led;
        self.names.retain(|(rule, name, _)| {
            let listed_account = *rule == Rule::BrandAccount && several && !led.contains(name);
            !(listed_account || (listing && (weak(*rule) || *rule == Rule::BrandAccount)))
        });
    }

    pub(crate) fn has(&self, topic: Topic) -> Option<(usize, usize)> {
        self.topics.get(name_of(topic)).and_then(|places| places.first().copied())
    }

    pub(crate) fn count(&self, topic: Topic) -> usize {
        self.topics.get(name_of(topic)).map_or(0, Vec::len)
    }
}

fn name_of(topic: Topic) -> &'static str {
    match topic {
        Topic::Pressure => "pressure",
        Topic::Document => "document",
        Topic::Router => "router",
        Topic::Portal => "portal",
        Topic::Wrong => "wrong",
        Topic::Bank => "bank",
        Topic::Claim => "claim",
        Topic::Human => "human",
        Topic::Command => "command",
        Topic::Alarm => "alarm",
        Topic::Scan => "scan",
        Topic::Demo => "demo",
        Topic::About => "about",
        Topic::SignIn => "sign-in",
        Topic::Kit => "kit",
    }
}

fn name(said: &mut Said, rule: Rule, brand: u16, found: Found<Phrase>, facts: &Facts, rules: &Rules) {
    let bent = found.ascii && facts.text.is_bent(found.start, found.end);
    let rule = if bent { Rule::BrandDisguised } else { rule };
    add(said, rule, &rules.brands[usize::from(brand)].name, facts.origin(found.start));
}

fn add(said: &mut Said, rule: Rule, name: &str, at: usize) {
    let known = said.names.iter().any(|(known, of, _)| *known == rule && of == name);
    if !known && said.names.len() < MOST_NAMES {
        said.names.push((rule, name.to_owned(), at));
    }
}

/// Where the text after the title begins.
fn body_start(facts: &Facts) -> usize {
    facts.first_in(zone::TITLE).len()
}

/// A name where it stands.
struct Place {
    found: Found<Phrase>,
    ordinary: bool,
    zones: u8,
    at_tills: bool,
}

enum Evidence {
    Claim(Rule),
    OtherWayIn,
    Mention,
}

impl Place {
    fn is_in(&self, zones: u8) -> bool {
        self.zones & zones != 0
    }

    fn evidence(&self, body: usize, facts: &Facts, rules: &Rules) -> Evidence {
        let text = &facts.text.bytes;
        let before = line_before(text, self.found.start);
        let after = line_after(text, self.found.end);
        // "Sign in with X" offers another way in; "sign in with your X account" claims to be it.
        let led = ends_with(&rules.leads, before);
        if !led && ends_with(&rules.withs, before) {
            return Evidence::OtherWayIn;
        }
        if !led && ends_with(&rules.besides, before) && !self.is_in(zone::TITLE) {
            return Evidence::Mention;
        }
        let alone = before.len() + after.len() <= 24;
        let claim = match () {
            () if self.is_in(zone::TITLE) => {
                (!self.ordinary || is_only_signing_in(before, after, rules)).then_some(Rule::BrandInTitle)
            }
            () if self.is_account(before, after, text, rules) => Some(Rule::BrandAccount),
            () if is_notice(before) || is_notice_after(after) => Some(Rule::BrandCopyright),
            () if self.at_tills || self.is_in(zone::LINK | zone::BUTTON) => None,
            () if self.is_in(zone::PICTURE) => (alone || !self.ordinary).then_some(Rule::BrandPicture),
            () if self.is_in(zone::HEADING) => (alone || !self.ordinary).then_some(Rule::BrandHeading),
            () if self.ordinary => None,
            () => (self.found.start < body + BEGINNING).then_some(Rule::BrandText),
        };
        claim.map_or(Evidence::Mention, Evidence::Claim)
    }

    /// Whether the words around the name make it the account that is asked for.
    fn is_account(&self, before: &[u8], after: &[u8], text: &[u8], rules: &Rules) -> bool {
        let signs_in = ends_with(&rules.sign_leads, before);
        if self.is_in(zone::LINK | zone::BUTTON | zone::SCRIPT) {
            // The name of a field, such as "X username", asks about X, not for its secrets.
            return signs_in || after.starts_with(b"password");
        }
        if self.ordinary || self.at_tills {
            let tailed = begins_with(&rules.account_tails, after);
            return signs_in && (tailed || (self.at_tills && self.is_in(zone::HEADING)));
        }
        // Some spellings end in "account" themselves.
        let whole = ends_with(&rules.account_tails, &text[self.found.start..self.found.end]);
        signs_in || whole || begins_with(&rules.tails, after) || ends_with(&rules.leads, before)
    }
}

/// A title that says nothing but a name and that one can sign in there.
fn is_only_signing_in(before: &[u8], after: &[u8], rules: &Rules) -> bool {
    [before, after].iter().all(|part| {
        let letters = part.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count();
        let signs: usize = rules
            .phrases
            .find(part)
            .filter(|found| found.of == Phrase::Topic(Topic::SignIn))
            .map(|found| part[found.start..found.end].iter().filter(|byte| **byte != b' ').count())
            .sum();
        letters <= signs + 2
    })
}

/// The text of the same line before a place, at most as long as we look.
fn line_before(text: &[u8], at: usize) -> &[u8] {
    let from = at.saturating_sub(NOTICE_REACH);
    let line = &text[from..at];
    let start = memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1);
    line[start..].trim_ascii_end()
}

fn line_after(text: &[u8], at: usize) -> &[u8] {
    let line = &text[at..(at + NOTICE_REACH).min(text.len())];
    let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
    line[..end].trim_ascii_start()
}

fn ends_with(words: &Words<()>, line: &[u8]) -> bool {
    let from = line.len().saturating_sub(32);
    words.find(&line[from..]).any(|found| from + found.end == line.len())
}

fn begins_with(words: &Words<()>, line: &[u8]) -> bool {
    let line = line.strip_prefix(b"'s ").unwrap_or(line);
    words.find(&line[..line.len().min(32)]).next().is_some_and(|found| found.start == 0)
}

fn is_notice(before: &[u8]) -> bool {
    let tail = &before[before.len().saturating_sub(40)..];
    memchr::memmem::find(tail, "©".as_bytes()).is_some()
        || memchr::memmem::find(tail, b"copyright").is_some()
        || memchr::memmem::find(tail, b"(c) ").is_some()
}

fn is_notice_after(after: &[u8]) -> bool {
    let head = &after[..after.len().min(24)];
    memchr::memmem::find(head, "©".as_bytes()).is_some()
        || memchr::memmem::find(head, b"all rights").is_some()
        || memchr::memmem::find(head, b"inc.").is_some()
}

/// Files and account pages of a brand, or of a site whose name stands in the title.
fn assets(said: &mut Said, facts: &Facts, rules: &Rules) {
    let title = squeezed(facts.first_in(zone::TITLE)) + &squeezed(facts.first_in(zone::HEADING));
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
            None if counts && is_named(host, &title) => add(said, Rule::BrandAssets, host, used.at),
            _ => {}
        }
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

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether the main part of a host's name stands in a title.
fn is_named(host: &str, title: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let main = match labels.as_slice() {
        [.., main, second, _] if second.len() <= 3 && labels.len() > 2 && main.len() > 3 => main,
        [.., main, _] => main,
        _ => return false,
    };
    let main = squeezed(main);
    main.len() >= 4 && title.contains(&main)
}

//! Finds the brands a page claims in its title, headings, images and notices, as opposed to brands it merely mentions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::brand_evidence::{Evidence, Place, ends_with, line_before};
use super::site_evidence::sites;
use crate::phishing::facts::{Facts, zone};
use crate::phishing::rules::Rules;
use crate::phishing::rules::meanings::{Phrase, Topic};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::word_matcher::Found;

/// What the words of a page say: brand names and topics.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Topics with the ranges of their first phrases in the text.
    pub(crate) topics: BTreeMap<Topic, Vec<(usize, usize)>>,
    /// Evidence of a name: the rule, the name, and its offset in the file.
    pub(crate) names: Vec<(Rule, String, usize)>,
    /// Brands that the page mentions.
    pub(crate) mentioned: BTreeSet<u16>,
    /// Names that the page offers as another way to sign in.
    other_ways: BTreeSet<String>,
    /// Names whose account the page calls the reader's own.
    led: BTreeSet<String>,
    /// The title is about something rather than the name of something.
    pub(crate) about: bool,
}

const MOST_NAMES: usize = 64;
const MOST_TIMES: u32 = 64;

pub(crate) fn said(facts: &Facts, rules: &Rules) -> Said {
    let mut said = Said::default();
    let body = body_start(facts);
    let mut seen = HashMap::new();
    for found in rules.phrases.find(&facts.text.bytes) {
        let zones = facts.zone_at(found.start);
        if zones & zone::QUOTE != 0 && !facts.live_quote {
            continue;
        }
        match found.of {
            Phrase::Topic(topic) => {
                said.about |= topic == Topic::About && zones & zone::TITLE != 0;
                // Links lead elsewhere; their text does not describe this page.
                if topic == Topic::SignIn && zones & zone::LINK != 0 {
                    continue;
                }
                let places = said.topics.entry(topic).or_default();
                if places.len() < 64 {
                    places.push((found.start, found.end));
                }
            }
            Phrase::Signature { brand } => name(&mut said, Rule::BrandSignature, brand, found, facts, rules),
            Phrase::Brand { brand, ordinary } => {
                said.mentioned.insert(brand);
                // Endless repetition of a name adds no evidence.
                let times = seen.entry((brand, zones)).or_insert(0_u32);
                *times += 1;
                if *times > MOST_TIMES {
                    continue;
                }
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
    sites(&mut said, facts, rules);
    pictures(&mut said, facts, rules);
    fields(&mut said, facts, rules);
    said.settle();
    said
}

impl Said {
    /// Withdraws evidence that turns out to be a list of names or another way to sign in.
    fn settle(&mut self) {
        let weak = |rule: Rule| {
            matches!(
                rule,
                Rule::BrandPicture
                    | Rule::BrandText
                    | Rule::SiteInTitle
                    | Rule::BrandHeading
                    | Rule::BrandAsHeading
                    | Rule::BrandAssets
            )
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
        let owner = self.owner();
        let several = self.mentioned.len() >= 3;
        let led = &self.led;
        self.names.retain(|(rule, name, _)| {
            let listed_account = *rule == Rule::BrandAccount && several && !led.contains(name);
            let in_list = listing && owner.as_deref() != Some(name.as_str());
            !(listed_account || (in_list && (weak(*rule) || *rule == Rule::BrandAccount)))
        });
    }

    /// The only name among several with both images and files on the page; the others are in its footer.
    fn owner(&self) -> Option<String> {
        let has =
            |rule: Rule, of: &str| self.names.iter().any(|(known, name, _)| *known == rule && name == of);
        let drawn = self.names.iter().filter(|(rule, ..)| *rule == Rule::BrandPicture);
        let mut owners = drawn.map(|(_, name, _)| name).filter(|name| has(Rule::BrandAssets, name));
        owners.next().filter(|_| owners.next().is_none()).cloned()
    }

    pub(crate) fn has(&self, topic: Topic) -> Option<(usize, usize)> {
        self.topics.get(&topic).and_then(|places| places.first().copied())
    }

    pub(crate) fn count(&self, topic: Topic) -> usize {
        self.topics.get(&topic).map_or(0, Vec::len)
    }

    /// The number of different phrases on a topic: a slideshow repeats itself, a real alarm varies.
    pub(crate) fn variety(&self, topic: Topic, facts: &Facts) -> usize {
        let places = self.topics.get(&topic).map(Vec::as_slice).unwrap_or_default();
        places.iter().map(|(start, end)| &facts.text.bytes[*start..*end]).collect::<BTreeSet<_>>().len()
    }
}

fn name(said: &mut Said, rule: Rule, brand: u16, found: Found<Phrase>, facts: &Facts, rules: &Rules) {
    let bent = found.ascii && facts.text.is_bent(found.start, found.end);
    let rule = if bent { Rule::BrandDisguised } else { rule };
    add(said, rule, &rules.brands[usize::from(brand)].name, facts.origin(found.start));
}

pub(crate) fn add(said: &mut Said, rule: Rule, name: &str, at: usize) {
    let known = said.names.iter().any(|(known, of, _)| *known == rule && of == name);
    if !known && said.names.len() < MOST_NAMES {
        said.names.push((rule, name.to_owned(), at));
    }
}

/// The offset at which the text after the title begins.
fn body_start(facts: &Facts) -> usize {
    facts.first_in(zone::TITLE).len()
}

/// Adds the brand that a logo file is named after. Several such files are a row of ways to sign in or pay.
fn pictures(said: &mut Said, facts: &Facts, rules: &Rules) {
    let mut found: BTreeMap<u16, usize> = BTreeMap::new();
    for (name, at) in &facts.files {
        for word in rules.phrases.find(name.as_bytes()) {
            if let Phrase::Brand { brand, ordinary: false } = word.of
                && (word.start, word.end) == (0, name.len())
            {
                found.entry(brand).or_insert(*at);
            }
        }
    }
    if let [(brand, at)] = found.into_iter().collect::<Vec<_>>()[..]
        && !rules.brands[usize::from(brand)].at_tills
    {
        add(said, Rule::BrandPicture, &rules.brands[usize::from(brand)].name, at);
    }
}

/// Adds brands whose own sign-in page has a field of this name.
fn fields(said: &mut Said, facts: &Facts, rules: &Rules) {
    for field in &facts.fields {
        // The first line is the name, or the field's first other hint.
        for name in [field.id.to_lowercase().as_str(), field.hint.lines().next().unwrap_or_default()] {
            if let Some(brand) = rules.field_names.get(name) {
                add(said, Rule::BrandSignature, &rules.brands[usize::from(*brand)].name, field.at);
            }
        }
    }
}

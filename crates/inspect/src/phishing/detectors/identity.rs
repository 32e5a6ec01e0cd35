//! Finds the brands a page claims in its title, headings, images and notices, as opposed to brands it merely mentions.

use std::collections::{BTreeMap, HashMap};

use super::brand_evidence::{Evidence, Place, ends_with, line_before};
use super::mentions::{Said, add};
use super::site_evidence::sites;
use crate::phishing::facts::{Facts, zone};
use crate::phishing::rules::Rules;
use crate::phishing::rules::meanings::{Phrase, Topic};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::word_matcher::Found;

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

fn name(said: &mut Said, rule: Rule, brand: u16, found: Found<Phrase>, facts: &Facts, rules: &Rules) {
    let bent = found.ascii && facts.text.is_bent(found.start, found.end);
    let rule = if bent { Rule::BrandDisguised } else { rule };
    add(said, rule, &rules.brands[usize::from(brand)].name, facts.origin(found.start));
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

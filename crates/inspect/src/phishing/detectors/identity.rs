//! Finds the brands a page claims in its title, headings, images and notices, as opposed to brands it merely mentions.

use std::collections::{BTreeMap, HashMap};

use super::brand_evidence::{Beginning, BrandEvidence, BrandOccurrence, ends_with, line_before};
use super::mentions::{Mentions, add_claim};
use super::site_evidence::add_site_evidence;
use crate::phishing::facts::{PageFacts, zone};
use crate::phishing::rules::Rules;
use crate::phishing::rules::meanings::{Phrase, Topic};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::word_matcher::WordMatch;

const MOST_TIMES: u32 = 64;

pub(crate) fn find_mentions(facts: &PageFacts, rules: &Rules) -> Mentions {
    let mut mentions = Mentions::default();
    let beginning = Beginning::of(facts);
    let mut seen = HashMap::new();
    for found in rules.phrases.find(&facts.text.bytes) {
        let zones = facts.zone_at(found.start);
        if zones & zone::QUOTE != 0 && !facts.has_field_in_quote {
            continue;
        }
        match found.meaning {
            Phrase::Topic(topic) => {
                mentions.has_descriptive_title |= topic == Topic::About && zones & zone::TITLE != 0;
                mentions.has_practice_title |= topic == Topic::Practice && zones & zone::TITLE != 0;
                // What nobody sees earns no credit.
                if matches!(topic, Topic::Demo) && zones & zone::HIDDEN != 0 {
                    continue;
                }
                // Links lead elsewhere; their text does not describe this page.
                if topic == Topic::SignIn && zones & zone::LINK != 0 {
                    continue;
                }
                if topic == Topic::SignIn
                    && zones & (zone::TITLE | zone::HEADING) != 0
                    && is_garbled(&found, facts)
                {
                    mentions.garbled_sign_in.get_or_insert(facts.origin(found.start));
                }
                mentions.add_topic(topic, (found.start, found.end));
                if matches!(topic, Topic::OpensRun | Topic::Pastes) {
                    mentions.add_topic(Topic::Command, (found.start, found.end));
                }
            }
            Phrase::Signature { brand } => {
                add_brand(&mut mentions, Rule::BrandSignature, brand, found, facts, rules);
            }
            Phrase::Brand { brand, ordinary } => {
                mentions.brands.insert(brand);
                // Endless repetition of a name adds no evidence.
                let times = seen.entry((brand, zones)).or_insert(0_u32);
                *times += 1;
                if *times > MOST_TIMES {
                    continue;
                }
                let place = BrandOccurrence {
                    found,
                    ordinary,
                    zones,
                    is_payment: rules.brands[usize::from(brand)].is_payment,
                };
                match place.evidence(&beginning, facts, rules) {
                    BrandEvidence::Claim(rule) => {
                        let led = ends_with(&rules.leads, line_before(&facts.text.bytes, found.start));
                        if rule == Rule::BrandAccount && led {
                            mentions.own_accounts.insert(rules.brands[usize::from(brand)].name.clone());
                        }
                        add_brand(&mut mentions, rule, brand, found, facts, rules);
                    }
                    BrandEvidence::OtherSignIn => {
                        mentions.other_sign_ins.insert(rules.brands[usize::from(brand)].name.clone());
                    }
                    BrandEvidence::Mention => {}
                }
            }
        }
    }
    add_site_evidence(&mut mentions, facts, rules);
    add_logo_files(&mut mentions, facts, rules);
    add_field_names(&mut mentions, facts, rules);
    mentions.discard_listings();
    mentions
}

fn add_brand(
    mentions: &mut Mentions,
    rule: Rule,
    brand: u16,
    found: WordMatch<Phrase>,
    facts: &PageFacts,
    rules: &Rules,
) {
    let imitated = found.ascii && facts.text.is_imitated(found.start, found.end);
    let rule = if imitated { Rule::BrandDisguised } else { rule };
    add_claim(mentions, rule, &rules.brands[usize::from(brand)].name, facts.origin(found.start));
}

/// Whether a word of Latin letters is written with digits or with letters of another alphabet. Words of other alphabets are not:
/// folding replaces their letters too.
fn is_garbled(found: &WordMatch<Phrase>, facts: &PageFacts) -> bool {
    let has_digit = || facts.text.bytes[found.start..found.end].iter().any(u8::is_ascii_digit);
    found.ascii && (has_digit() || facts.text.is_imitated(found.start, found.end))
}

/// Adds the brand that a logo file is named after. Several such files are a row of ways to sign in or pay.
fn add_logo_files(mentions: &mut Mentions, facts: &PageFacts, rules: &Rules) {
    let mut found: BTreeMap<u16, usize> = BTreeMap::new();
    for (name, at) in &facts.files {
        for word in rules.phrases.find(name.as_bytes()) {
            if let Phrase::Brand { brand, ordinary: false } = word.meaning
                && (word.start, word.end) == (0, name.len())
            {
                found.entry(brand).or_insert(*at);
            }
        }
    }
    if let [(brand, at)] = found.into_iter().collect::<Vec<_>>()[..]
        && !rules.brands[usize::from(brand)].is_payment
    {
        add_claim(mentions, Rule::BrandPicture, &rules.brands[usize::from(brand)].name, at);
    }
}

/// Adds brands whose own sign-in page has a field of this name.
fn add_field_names(mentions: &mut Mentions, facts: &PageFacts, rules: &Rules) {
    for field in &facts.fields {
        // The first line is the name, or the field's first other hint.
        for name in [field.id.to_lowercase().as_str(), field.hint.lines().next().unwrap_or_default()] {
            if let Some(brand) = rules.field_names.get(name) {
                add_claim(mentions, Rule::BrandSignature, &rules.brands[usize::from(*brand)].name, field.at);
            }
        }
    }
}

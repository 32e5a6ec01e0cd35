//! The rule data of the check: weights, brands, words and hosts, parsed from lists that an operator can extend.

pub(crate) mod collector_names;
pub(crate) mod hosts;
mod list_format;
pub(crate) mod meanings;
pub(crate) mod own_lists;
pub(crate) mod rule;
pub(crate) mod script_patterns;
pub(crate) mod word_matcher;

use std::collections::HashMap;

use super::fold::fold;
use collector_names::CollectorNames;
use hosts::{HostKind, Hosts};
use list_format::{Section, sections};
use meanings::{Phrase, Secret, secret_of, topic_of};
use rule::Rule;
use script_patterns::ScriptPatterns;
use word_matcher::WordMatcher;

/// The lists as text, in the format of the files in `crates/inspect/phishing/`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lists<'a> {
    pub weights: &'a str,
    pub brands: &'a str,
    pub secrets: &'a str,
    pub phrases: &'a str,
    pub hosts: &'a str,
    pub scripts: &'a str,
}

/// The built-in lists.
pub(crate) const BUILTIN: Lists<'static> = Lists {
    weights: include_str!("../../../phishing/weights.toml"),
    brands: include_str!("../../../phishing/brands.txt"),
    secrets: include_str!("../../../phishing/secrets.txt"),
    phrases: include_str!("../../../phishing/phrases.txt"),
    hosts: include_str!("../../../phishing/hosts.txt"),
    scripts: include_str!("../../../phishing/scripts.txt"),
};

/// A shorter brand name is not searched for inside other words.
const SHORTEST_INSIDE: usize = 6;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weight {
    pub(crate) points: f64,
    pub(crate) group: char,
    pub(crate) why: String,
    pub(crate) fix: String,
}

/// A brand that pages impersonate.
#[derive(Debug, Clone)]
pub(crate) struct Brand {
    pub(crate) name: String,
    /// A payment brand, whose logo shops show at checkout.
    pub(crate) is_payment: bool,
    /// Spellings that are not ordinary words, without spaces.
    spellings: Vec<String>,
}

#[derive(Debug)]
pub struct Rules {
    pub(crate) refuse_at: f64,
    weights: HashMap<Rule, Weight>,
    pub(crate) brands: Vec<Brand>,
    /// Names of the fields on a brand's own sign-in page, in lowercase, with the index of the brand.
    pub(crate) field_names: HashMap<String, u16>,
    pub(crate) secrets: WordMatcher<Secret>,
    pub(crate) phrases: WordMatcher<Phrase>,
    pub(crate) leads: WordMatcher<()>,
    pub(crate) tails: WordMatcher<()>,
    pub(crate) sign_in_with: WordMatcher<()>,
    pub(crate) unrelated_leads: WordMatcher<()>,
    pub(crate) sign_leads: WordMatcher<()>,
    pub(crate) account_tails: WordMatcher<()>,
    pub(crate) hosts: Hosts,
    pub(crate) collectors: CollectorNames,
    pub(crate) script: ScriptPatterns,
}

impl Rules {
    /// The built-in rules.
    pub fn builtin() -> Self {
        Self::read(&[BUILTIN])
    }

    /// The built-in rules plus an operator's: later weights replace earlier ones, other lists are extended.
    pub fn with(extra: Lists<'_>) -> Self {
        Self::read(&[BUILTIN, extra])
    }

    /// The rules of these lists alone.
    pub fn only(lists: Lists<'_>) -> Self {
        Self::read(&[lists])
    }

    fn read(all: &[Lists<'_>]) -> Self {
        let mut refuse_at = 3.0;
        let mut weights = HashMap::new();
        for section in all.iter().flat_map(|lists| sections(lists.weights)) {
            if let Some(number) = section.get("refuse_at").and_then(|text| text.parse().ok()) {
                refuse_at = number;
            }
            let Some(rule) = Rule::parse(section.name) else { continue };
            if let Some(weight) = weight_of(&section, weights.get(&rule)) {
                weights.insert(rule, weight);
            }
        }
        let mut hosts = Hosts::default();
        let mut script_hosts = Vec::new();
        let mut collectors = CollectorNames::default();
        for section in all.iter().flat_map(|lists| sections(lists.hosts)) {
            section.lines.iter().for_each(|line| collectors.add(section.name, line));
            let Some(kind) = HostKind::parse(section.name) else { continue };
            for line in section.lines {
                hosts.add(line, kind);
                if matches!(kind, HostKind::Bot | HostKind::Relay | HostKind::Blocked) {
                    script_hosts.push(line.to_owned());
                }
            }
        }
        let mut brands = Vec::new();
        let mut phrases = Vec::new();
        let mut field_names = HashMap::new();
        for section in all.iter().flat_map(|lists| sections(lists.brands)) {
            for line in section.lines {
                let fields =
                    add_brand(line, section.name == "payments", &mut brands, &mut phrases, &mut hosts);
                field_names.extend(fields);
            }
        }
        let mut around: HashMap<&str, Vec<(String, ())>> = HashMap::new();
        for section in all.iter().flat_map(|lists| sections(lists.phrases)) {
            let words = section.words().map(str::to_owned);
            match topic_of(section.name) {
                Some(topic) => phrases.extend(words.map(|word| (word, Phrase::Topic(topic)))),
                None => around.entry(section.name).or_default().extend(words.map(|word| (word, ()))),
            }
        }
        let mut words_around = |name| WordMatcher::new(around.remove(name).unwrap_or_default().into_iter());
        let secrets = all.iter().flat_map(|lists| sections(lists.secrets)).flat_map(|section| {
            let secret = secret_of(section.name);
            section.words().filter_map(|word| Some((word.to_owned(), secret?))).collect::<Vec<_>>()
        });
        Self {
            refuse_at,
            weights,
            brands,
            field_names,
            secrets: WordMatcher::new(secrets),
            phrases: WordMatcher::new(phrases.into_iter()),
            leads: words_around("lead"),
            tails: words_around("tail"),
            sign_in_with: words_around("with"),
            unrelated_leads: words_around("beside"),
            sign_leads: words_around("sign-lead"),
            account_tails: words_around("account-tail"),
            hosts,
            collectors,
            script: ScriptPatterns::new(all.iter().map(|lists| lists.scripts), &script_hosts),
        }
    }

    /// The brand contained in a name chosen by the publisher, such as a slug.
    pub fn brand_in_name(&self, name: &str) -> Option<&str> {
        let folded = fold(&name.replace(['-', '_', '.'], " "));
        let standing = self.phrases.find(folded.as_bytes()).find_map(|found| match found.meaning {
            Phrase::Brand { brand, ordinary: false } => self.brands.get(usize::from(brand)),
            _ => None,
        });
        let squeezed = folded.replace(' ', "");
        let inside = || {
            let is_in = |spelling: &String| spelling.len() >= SHORTEST_INSIDE && squeezed.contains(spelling);
            self.brands.iter().find(|brand| brand.spellings.iter().any(is_in))
        };
        standing.or_else(inside).map(|brand| brand.name.as_str())
    }

    pub(crate) fn weight(&self, rule: Rule) -> Option<&Weight> {
        self.weights.get(&rule)
    }

    /// The same rules without one group, to measure what the others achieve.
    #[must_use]
    pub fn without(mut self, group: char) -> Self {
        self.weights.retain(|_, weight| weight.group != group);
        self
    }
}

/// A rule's weight; keys missing from this section keep the value of an earlier list.
fn weight_of(section: &Section<'_>, before: Option<&Weight>) -> Option<Weight> {
    let text = |key, old: fn(&Weight) -> &String| {
        let new = section.get(key).map(|text| text.replace("\\\"", "\""));
        new.or_else(|| before.map(old).cloned())
    };
    let group = section.get("group").and_then(|group| group.chars().next());
    let points = section.get("weight").and_then(|points| points.parse().ok());
    Some(Weight {
        points: points.or(before.map(|before| before.points))?,
        group: group.or(before.map(|before| before.group))?,
        why: text("why", |before| &before.why)?,
        fix: text("fix", |before| &before.fix)?,
    })
}

/// Adds a brand: `Name: spelling, ~ordinary word, !wording, ^field @ host host`. Returns its field names.
fn add_brand(
    line: &str,
    is_payment: bool,
    brands: &mut Vec<Brand>,
    phrases: &mut Vec<(String, Phrase)>,
    hosts: &mut Hosts,
) -> Vec<(String, u16)> {
    let mut fields = Vec::new();
    let (names, own_hosts) = line.rsplit_once(" @ ").unwrap_or((line, ""));
    let Some((name, spellings)) = names.split_once(':') else { return fields };
    let Ok(brand) = u16::try_from(brands.len()) else { return fields };
    let is_plain = |spelling: &&str| !spelling.is_empty() && !spelling.starts_with(['~', '!', '^']);
    let squeezed = spellings.split(',').map(str::trim).filter(is_plain);
    let squeezed = squeezed.map(|spelling| fold(spelling).replace([' ', '-', '.'], "")).collect();
    brands.push(Brand { name: name.trim().to_owned(), is_payment, spellings: squeezed });
    for spelling in spellings.split(',').map(str::trim).filter(|spelling| !spelling.is_empty()) {
        let meaning = |rest: &str, phrase| (rest.to_owned(), phrase);
        if let Some(field) = spelling.strip_prefix('^') {
            fields.push((field.to_lowercase(), brand));
            continue;
        }
        phrases.push(if let Some(rest) = spelling.strip_prefix('~') {
            meaning(rest, Phrase::Brand { brand, ordinary: true })
        } else if let Some(rest) = spelling.strip_prefix('!') {
            meaning(rest, Phrase::Signature { brand })
        } else {
            meaning(spelling, Phrase::Brand { brand, ordinary: false })
        });
    }
    for host in own_hosts.split_whitespace() {
        hosts.add(host, HostKind::Brand(brand));
    }
    fields
}

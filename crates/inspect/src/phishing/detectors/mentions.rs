//! What the words of a page say: the topics it mentions and the evidence of whose name it carries.

use std::collections::{BTreeMap, BTreeSet};

use crate::phishing::facts::PageFacts;
use crate::phishing::rules::meanings::Topic;
use crate::phishing::rules::rule::Rule;

const MOST_NAMES: usize = 64;

/// What the words of a page say: brand names and topics.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// Topics with the ranges of their first phrases in the text.
    pub(crate) topics: BTreeMap<Topic, Vec<(usize, usize)>>,
    /// Evidence of a name: the rule, the name, and its offset in the file.
    pub(crate) claims: Vec<(Rule, String, usize)>,
    /// Brands that the page mentions.
    pub(crate) brands: BTreeSet<u16>,
    /// Names that the page offers as another way to sign in.
    pub(super) other_sign_ins: BTreeSet<String>,
    /// Names whose account the page calls the reader's own.
    pub(super) own_accounts: BTreeSet<String>,
    /// The title is about something rather than the name of something.
    pub(crate) has_descriptive_title: bool,
    /// Where a title or heading writes words for signing in with digits or foreign letters, so that nobody finds them: "Sign 1n".
    pub(crate) garbled_sign_in: Option<usize>,
    /// The title says that the page is an exercise.
    pub(crate) has_practice_title: bool,
}

impl Mentions {
    pub(super) fn add_topic(&mut self, topic: Topic, range: (usize, usize)) {
        let places = self.topics.entry(topic).or_default();
        if places.len() < MOST_NAMES {
            places.push(range);
        }
    }

    /// Withdraws evidence that turns out to be a list of names or another way to sign in.
    pub(super) fn discard_listings(&mut self) {
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
        let other_sign_ins = &self.other_sign_ins;
        self.claims.retain(|(rule, name, _)| !(weak(*rule) && other_sign_ins.contains(name)));
        let listed: BTreeSet<&str> = self
            .claims
            .iter()
            .filter(|(rule, ..)| weak(*rule) || *rule == Rule::BrandAccount)
            .map(|(_, name, _)| name.as_str())
            .collect();
        let listing = listed.len() >= 4;
        let owner = self.owner();
        let several = self.brands.len() >= 3;
        let led = &self.own_accounts;
        self.claims.retain(|(rule, name, _)| {
            let listed_account = *rule == Rule::BrandAccount && several && !led.contains(name);
            let in_list = listing && owner.as_deref() != Some(name.as_str());
            !(listed_account || (in_list && (weak(*rule) || *rule == Rule::BrandAccount)))
        });
    }

    /// The only name among several with both images and files on the page; the others are in its footer.
    fn owner(&self) -> Option<String> {
        let has =
            |rule: Rule, of: &str| self.claims.iter().any(|(known, name, _)| *known == rule && name == of);
        let drawn = self.claims.iter().filter(|(rule, ..)| *rule == Rule::BrandPicture);
        let mut owners = drawn.map(|(_, name, _)| name).filter(|name| has(Rule::BrandAssets, name));
        owners.next().filter(|_| owners.next().is_none()).cloned()
    }

    /// The name that the page carries as its own: in its title or in the wording of its sign-in.
    pub(crate) fn claimed_name(&self) -> Option<String> {
        let is_own =
            |rule: Rule| matches!(rule, Rule::BrandInTitle | Rule::BrandDisguised | Rule::BrandSignature);
        let mut own = self.claims.iter().filter(|(rule, ..)| is_own(*rule));
        let about = self.has_descriptive_title || self.has_practice_title;
        own.next().filter(|_| !about).map(|(_, name, _)| name.clone())
    }

    pub(crate) fn first_range(&self, topic: Topic) -> Option<(usize, usize)> {
        self.topics.get(&topic).and_then(|places| places.first().copied())
    }

    pub(crate) fn count(&self, topic: Topic) -> usize {
        self.topics.get(&topic).map_or(0, Vec::len)
    }

    /// The number of different phrases on a topic: a slideshow repeats itself, a real alarm varies.
    pub(crate) fn distinct_phrases(&self, topic: Topic, facts: &PageFacts) -> usize {
        let places = self.topics.get(&topic).map(Vec::as_slice).unwrap_or_default();
        places.iter().map(|(start, end)| &facts.text.bytes[*start..*end]).collect::<BTreeSet<_>>().len()
    }
}

pub(crate) fn add_claim(mentions: &mut Mentions, rule: Rule, name: &str, at: usize) {
    let known = mentions.claims.iter().any(|(known, of, _)| *known == rule && of == name);
    if !known && mentions.claims.len() < MOST_NAMES {
        mentions.claims.push((rule, name.to_owned(), at));
    }
}

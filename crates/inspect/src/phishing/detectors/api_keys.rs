//! Rules for pages that ask for an API key or token and for no other secret.

use super::RuleHit;
use super::destinations::destinations;
use super::lures::words;
use super::mentions::Mentions;
use super::requested_secrets::RequestedSecrets;
use crate::phishing::facts::PageFacts;
use crate::phishing::rules::Rules;
use crate::phishing::rules::meanings::Topic;
use crate::phishing::rules::rule::Rule;

/// A page that asks for nothing but an API key names the service of the key, and sends it where its user wants. What it must
/// not do is send it to somebody's chat bot.
pub(super) fn api_key_rules(
    requested: &RequestedSecrets,
    mentions: &Mentions,
    facts: &PageFacts,
    files: &dyn Fn(&str) -> bool,
    rules: &Rules,
    hits: &mut Vec<RuleHit>,
) {
    let mut sent = Vec::new();
    destinations(requested, facts, files, rules, &mut sent);
    let own = |host: &str| {
        let asks_for = |word: &str| requested.key_labels.contains(word);
        (host.contains("telegram") && asks_for("bot")) || asks_for("webhook")
    };
    sent.retain(|hit| match hit.rule {
        Rule::SentToBot => !own(&hit.detail),
        Rule::SentToRelay | Rule::SentByMail => true,
        _ => false,
    });
    hits.append(&mut sent);
    if let Some((start, end)) = mentions.first_range(Topic::Pressure) {
        hits.push(RuleHit {
            rule: Rule::Pressure,
            at: facts.origin(start),
            detail: words(facts, start, end),
        });
    }
}

//! A page with the rules that hit it, and its total score.

use super::detectors::RuleHit;
use super::rules::Rules;
use super::rules::rule::Rule;
use super::upload::File;

/// Evidence of this weight is clear: nothing that the page says about itself offsets it.
const CLEAR: f64 = 1.8;

/// A page and its hits, each with its file: the page itself or a script that it loads.
pub(crate) struct ScoredPage<'f> {
    pub(crate) file: File<'f>,
    pub(crate) hits: Vec<(RuleHit, File<'f>)>,
    /// The page asks for credentials or payment.
    pub(crate) asks: bool,
    /// The name that it clearly claims although it asks for nothing.
    pub(crate) claimed: Option<String>,
    pub(crate) score: f64,
}

/// The total score. Most rules of a group are evidence of the same thing, so only the strongest counts in full.
pub(crate) fn total_score(hits: &[(RuleHit, File<'_>)], rules: &Rules) -> f64 {
    let weight = |hit: &RuleHit| rules.weight(hit.rule).map_or(0.0, |weight| weight.points);
    let group = |letter: char| -> Vec<(Rule, f64)> {
        let mut found: Vec<(Rule, f64)> = Vec::new();
        for hit in hits
            .iter()
            .map(|(hit, _)| hit)
            .filter(|hit| rules.weight(hit.rule).is_some_and(|weight| weight.group == letter))
        {
            let kind = hit.rule.kind();
            match found.iter_mut().find(|(rule, _)| *rule == kind) {
                Some((_, most)) => *most = most.max(weight(hit)),
                None => found.push((kind, weight(hit))),
            }
        }
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    };
    let strongest = |list: &[(Rule, f64)], echo: f64| {
        list.first().map_or(0.0, |(_, first)| first + echo * list.get(1).map_or(0.0, |(_, second)| *second))
    };
    let mut secrets = group('A');
    let many: f64 =
        secrets.iter().filter(|(rule, _)| *rule == Rule::ManySecrets).map(|(_, weight)| weight).sum();
    secrets.retain(|(rule, _)| *rule != Rule::ManySecrets);
    let mut identity = group('C');
    // A user name alone may be sent anywhere: newsletters and contact forms ask for it too.
    let only_name = secrets
        .iter()
        .all(|(rule, _)| matches!(rule, Rule::SignInStep | Rule::PersonalDetails | Rule::UnlabelledFields));
    // Names of other companies in headings and pictures are common on pages with a contact form.
    let details = !secrets.is_empty() && secrets.iter().all(|(rule, _)| *rule == Rule::PersonalDetails);
    if details {
        for (_, weight) in
            identity.iter_mut().filter(|(rule, _)| matches!(rule, Rule::BrandHeading | Rule::BrandPicture))
        {
            *weight *= 0.4;
        }
        identity.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    let destination = strongest(&group('B'), 0.0) * if only_name { 0.3 } else { 1.0 };
    let sum = |list: Vec<(Rule, f64)>| list.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut score = strongest(&secrets, 0.0) + many + destination + strongest(&identity, 0.25);
    score += sum(group('D')) + strongest(&group('E'), 0.5) + sum(group('G'));
    // Mitigating rules (group H) offset weak evidence, never a clear claim of a name or a clear destination.
    let plain = identity.first().is_some_and(|(_, weight)| *weight >= CLEAR);
    if !plain && destination < CLEAR {
        score += sum(group('H')).max(-1.5);
    }
    score.max(strongest(&group('F'), 0.0))
}

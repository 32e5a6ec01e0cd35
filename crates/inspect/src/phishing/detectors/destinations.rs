//! Finds where data typed into a page would be sent, by form or by script.

use super::RuleHit;
use super::requested_secrets::RequestedSecrets;
use crate::phishing::facts::PageFacts;
use crate::phishing::rules::Rules;
use crate::phishing::rules::hosts::{HostKind, Target};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::ScriptMark;

pub(crate) fn destinations(
    requested: &RequestedSecrets,
    facts: &PageFacts,
    files: &dyn Fn(&str) -> bool,
    rules: &Rules,
    hits: &mut Vec<RuleHit>,
) {
    let mut hit = |rule, at, detail: &str| hits.push(RuleHit { rule, at, detail: detail.to_owned() });
    for form in requested.forms.iter().filter_map(|form| facts.forms.get(*form)) {
        match &form.target {
            Target::Host(host, None) => hit(Rule::SentToOtherSite, form.at, host),
            Target::Local(path) if !files(path) && rules.collectors.has_path(path) => {
                hit(Rule::PostedToTrap, form.at, path);
            }
            Target::Local(path) if !files(path) && !is_page(path) => {
                hit(Rule::PostedToMissing, form.at, path);
            }
            Target::ServerScript(path) if rules.collectors.has_program(path) => {
                hit(Rule::PostedToTrap, form.at, path);
            }
            Target::ServerScript(path) if rules.collectors.has_common_program(path) => {
                hit(Rule::PostedToCommonName, form.at, path);
            }
            target => elsewhere(target, form.at, &mut hit),
        }
    }
    for (target, at) in &facts.destinations {
        match target {
            Target::Host(host, None) => hit(Rule::SentByScript, *at, host),
            target => elsewhere(target, *at, &mut hit),
        }
    }
    for (mark, at) in &facts.marks {
        if let ScriptMark::Host(number) = mark {
            let host = rules.script.host(*number);
            let kind = rules.hosts.kind(
                host.split('/').next().unwrap_or(host),
                host.split_once('/').map_or("", |(_, path)| path),
            );
            elsewhere(&Target::Host(host.to_owned(), kind), *at, &mut hit);
        }
    }
}

/// The rules that apply to a destination wherever it was found.
fn elsewhere(target: &Target, at: usize, hit: &mut impl FnMut(Rule, usize, &str)) {
    match target {
        Target::ServerScript(path) => hit(Rule::SentToServerScript, at, path),
        Target::Mail => hit(Rule::SentByMail, at, ""),
        Target::Address(host) => hit(Rule::SentToAddress, at, host),
        Target::Host(host, Some(HostKind::Bot)) => hit(Rule::SentToBot, at, host),
        Target::Host(host, Some(HostKind::Relay)) => hit(Rule::SentToRelay, at, host),
        _ => {}
    }
}

/// A reference to a host that the operator blocked, whatever the page asks for.
pub(crate) fn blocked(facts: &PageFacts, rules: &Rules) -> Option<RuleHit> {
    let forms = facts.forms.iter().map(|form| (&form.target, form.at));
    let sends = facts.destinations.iter().map(|(target, at)| (target, *at));
    let by_target = forms.chain(sends).find_map(|(target, at)| match target {
        Target::Host(host, Some(HostKind::Blocked)) => Some((at, host.clone())),
        _ => None,
    });
    let in_script = || {
        facts.marks.iter().find_map(|(mark, at)| {
            let ScriptMark::Host(number) = mark else { return None };
            let entry = rules.script.host(*number);
            let (host, path) = entry.split_once('/').unwrap_or((entry, ""));
            (rules.hosts.kind(host, path) == Some(HostKind::Blocked)).then(|| (*at, entry.to_owned()))
        })
    };
    let (at, detail) = facts.blocked.clone().or(by_target).or_else(in_script)?;
    Some(RuleHit { rule: Rule::BlockedAddress, at, detail })
}

fn is_page(path: &str) -> bool {
    path.ends_with('/')
        || path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "html" | "htm"))
}
